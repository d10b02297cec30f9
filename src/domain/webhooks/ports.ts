/** Receivers of webhooks as the domain sees them (spec 06 section 3; spec 00, Outside effects). */

export interface WebhookMessage {
  url: string;
  headers: Record<string, string>;
  /** JSON text; sent byte for byte as it was signed. */
  body: string;
}

/**
 * What one try brought. `blocked`: the address is not allowed; nothing was sent. `unreachable`: no answer for another reason,
 * said in words without the URL.
 */
export type WebhookAnswer =
  | { kind: 'answered'; status: number; body: string; retryAfter: string | null }
  | { kind: 'timeout' }
  | { kind: 'blocked'; reason: string }
  | { kind: 'unreachable'; reason: string };

export interface WebhookTransport {
  /** Sends once: 5 s to connect, 10 s in all, redirects are answers. Never throws for what the receiver does. */
  send(message: WebhookMessage): Promise<WebhookAnswer>;
}

declare module '../../core/app.ts' {
  interface Ports {
    webhooks: WebhookTransport;
  }
}
