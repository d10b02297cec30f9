import { createHmac } from 'node:crypto';
import type { Clock } from '../host-ports.ts';

/** Where the panel reports its events; the secret signs them. */
export interface PanelWebhook {
  url: string;
  secret: string;
  /** Between two tries of one event. Default 5 s, as of the real panel. */
  retryPauseMs?: number;
}

/** Names of the panel's events begin with their scope, e.g. `user.created`. */
export interface PanelEvent {
  event: string;
  data: unknown;
  meta?: Record<string, unknown> | null;
}

/** An event as it is sent. */
export interface WaitingEvent {
  body: string;
  headers: Record<string, string>;
}

/** Stores the events until they are accepted or given up, so that the next host sends what this one does not (spec 10 F9). */
export interface WaitingEvents {
  list: WaitingEvent[];
  save(): void;
}

export interface WebhookSender {
  /** Sends as soon as the events before it have been sent once; a failed one is repeated beside the later ones. */
  send(event: PanelEvent): void;
  /** Waits until each event was accepted or given up. */
  settled(): Promise<void>;
  /** Drops what is not yet sent. */
  close(): void;
}

const RETRIES = 3;
/** Older ones are dropped. */
const MAX_WAITING = 1_000;
const RETRY_PAUSE_MS = 5_000;
const TOTAL_TIMEOUT_MS = 10_000;

/**
 * Sends events as the real panel does (08 section 1): one object a request, signed with a lower-case hex HMAC-SHA-256 of the raw
 * body, without a delivery id; up to three repetitions with the same body and timestamp after anything but a 2xx.
 * @param target read for each event; while it is null events are dropped
 */
export function createWebhookSender(
  target: PanelWebhook | (() => PanelWebhook | null),
  clock: Clock,
  waiting: WaitingEvents,
): WebhookSender {
  const open = new Set<Promise<void>>();
  const stop = new AbortController();
  let tail: Promise<unknown> = Promise.resolve();

  async function repeat(webhook: PanelWebhook, body: string, headers: Record<string, string>): Promise<void> {
    for (let left = RETRIES; left > 0; left -= 1) {
      await pause(webhook.retryPauseMs ?? RETRY_PAUSE_MS, stop.signal);
      if (stop.signal.aborted || (await isAccepted(webhook.url, headers, body, stop.signal))) return;
    }
  }

  function deliver(webhook: PanelWebhook, waits: WaitingEvent): void {
    const { body, headers } = waits;
    const first = tail.then(() => stop.signal.aborted || isAccepted(webhook.url, headers, body, stop.signal));
    tail = first;
    const whole = first
      .then((accepted) => (accepted ? undefined : repeat(webhook, body, headers)))
      .finally(() => {
        open.delete(whole);
        if (stop.signal.aborted) return;
        const at = waiting.list.indexOf(waits);
        if (at >= 0) waiting.list.splice(at, 1);
        waiting.save();
      });
    open.add(whole);
  }

  const known = typeof target === 'function' ? target() : target;
  if (known) for (const waits of [...waiting.list]) deliver(known, waits);

  return {
    send({ event, data, meta = null }) {
      const webhook = typeof target === 'function' ? target() : target;
      if (!webhook) return;
      const timestamp = clock.now().toISOString();
      const body = JSON.stringify({ scope: event.split('.')[0], event, timestamp, data, meta });
      const headers = {
        'content-type': 'application/json',
        'user-agent': 'Remnawave',
        'x-remnawave-signature': createHmac('sha256', webhook.secret).update(body).digest('hex'),
        'x-remnawave-timestamp': timestamp,
      };
      const waits = { body, headers };
      waiting.list.push(waits);
      if (waiting.list.length > MAX_WAITING) waiting.list.shift();
      waiting.save();
      deliver(webhook, waits);
    },
    async settled() {
      while (open.size > 0) await Promise.all(open);
    },
    close: () => stop.abort(),
  };
}

/** Never throws: no answer is a refusal. */
async function isAccepted(url: string, headers: Record<string, string>, body: string, signal: AbortSignal): Promise<boolean> {
  try {
    const ends = AbortSignal.any([signal, AbortSignal.timeout(TOTAL_TIMEOUT_MS)]);
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal: ends });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

/** Ends early when the panel stops; does not keep the process running. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(resolve, ms).unref();
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
