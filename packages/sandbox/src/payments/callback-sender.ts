import { setTimeout as delay } from 'node:timers/promises';
import type { HttpClient } from '../host-ports.ts';

/** A callback to post. */
export interface OutgoingCallback {
  url: string;
  body: string;
  headers: Readonly<Record<string, string>>;
  /** Whether an answer of the service ends the retries. */
  isAcknowledged: (reply: { status: number; text: string }) => boolean;
  /** Acknowledged or given up; not called for what a stop cuts off. */
  ended?: () => Promise<void>;
}

/** Faults of delivery, for trying the service. */
export interface CallbackKnobs {
  /** Further copies of each callback. */
  duplicates: number;
  /** Wait before each callback, real milliseconds. */
  delayMs: number;
  /** Queue callbacks until `flush` delivers them, newest first. */
  isPaused: boolean;
}

/** Waits between attempts while the service does not acknowledge. */
const RETRY_WAITS_MS = [200, 1_000, 3_000, 10_000];

/** Delivers callbacks as providers do: at least once, in any order, retried until acknowledged. */
export class CallbackSender {
  readonly knobs: CallbackKnobs = { duplicates: 0, delayMs: 0, isPaused: false };
  readonly #http: HttpClient;
  readonly #queued: OutgoingCallback[] = [];
  readonly #running = new Set<Promise<void>>();
  readonly #stop = new AbortController();

  constructor(http: HttpClient) {
    this.#http = http;
  }

  send(callback: OutgoingCallback): void {
    if (this.knobs.isPaused) this.#queued.push(callback);
    else this.#start(callback);
  }

  /** Delivers the queued callbacks, newest first and one by one. */
  async flush(): Promise<void> {
    for (let callback = this.#queued.pop(); callback; callback = this.#queued.pop()) await this.#deliver(callback);
  }

  /** Resolves when no delivery is in progress. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /** Cancels waits and retries. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.idle();
  }

  #start(callback: OutgoingCallback): void {
    const run = this.#deliver(callback).finally(() => this.#running.delete(run));
    this.#running.add(run);
  }

  async #deliver(callback: OutgoingCallback): Promise<void> {
    const { duplicates, delayMs } = this.knobs;
    for (let copy = 0; copy <= duplicates; copy++) {
      if (!(await this.#wait(delayMs))) return;
      await this.#deliverOnce(callback);
    }
    if (!this.#stop.signal.aborted) await callback.ended?.();
  }

  async #deliverOnce(callback: OutgoingCallback): Promise<void> {
    for (let tries = 0; !(await this.#post(callback)); tries++) {
      const wait = RETRY_WAITS_MS[tries];
      if (wait === undefined || !(await this.#wait(wait))) return;
    }
  }

  async #post(callback: OutgoingCallback): Promise<boolean> {
    try {
      const response = await this.#http.request({
        method: 'POST',
        url: callback.url,
        headers: { ...callback.headers },
        body: callback.body,
        idempotent: false,
      });
      return callback.isAcknowledged(response);
    } catch {
      return false;
    }
  }

  /** @returns false when stopped */
  async #wait(ms: number): Promise<boolean> {
    if (this.#stop.signal.aborted) return false;
    if (ms === 0) return true;
    return delay(ms, true, { signal: this.#stop.signal, ref: false }).catch(() => false);
  }
}
