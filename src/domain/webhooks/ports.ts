/** Receivers of webhooks as the domain sees them (spec 06 section 3; spec 00, Outside effects). */

interface WebhookMessage {
  url: string;
  headers: Record<string, string>;
  /** JSON text, sent exactly as signed. */
  body: string;
}

/**
 * The result of one request. `blocked`: the address is not allowed, and nothing was sent. `unreachable`: no answer for another reason;
 * the text does not contain the URL.
 */
export type WebhookAnswer =
  | { kind: 'answered'; status: number; body: string; retryAfter: string | null }
  | { kind: 'timeout' }
  | { kind: 'blocked'; reason: string }
  | { kind: 'unreachable'; reason: string };

export interface WebhookTransport {
  /** Sends once: 5 s to connect, 10 s in all, redirects are answers. Does not throw for errors of the receiver. */
  send(message: WebhookMessage): Promise<WebhookAnswer>;
  /** The payload of an event in the words of clients (spec 09); unchanged while `INTERFACE_WORDS` is empty. */
  inClientWords(payload: Record<string, unknown>): Record<string, unknown>;
}

declare module '../../core/app.ts' {
  interface Ports {
    webhooks: WebhookTransport;
  }
}
