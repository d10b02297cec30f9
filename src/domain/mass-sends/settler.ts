import { setTimeout as delay } from 'node:timers/promises';
import type { App } from '../../core/app.ts';
import { SECOND_MS } from '../../core/clock.ts';
import { isDatabaseUnavailable, isRetryable } from '../../core/db/db-errors.ts';
import { type SettledRecipient, settleRecipients } from './recipient-repo.ts';
import type { MassSend } from './types.ts';

/** Storing is repeated while the database is away: a lost result would become a second message. */
const TRIES = 10;

/**
 * Stores results as they come, all that came during one statement with the next. So a process that is killed has lost the results of one
 * statement at most.
 */
export class Settler {
  readonly #app: App;
  readonly #send: MassSend;
  readonly #leaseMs: number;
  #waiting: SettledRecipient[] = [];
  #running: Promise<void> | null = null;

  constructor(app: App, send: MassSend, leaseMs: number) {
    this.#app = app;
    this.#send = send;
    this.#leaseMs = leaseMs;
  }

  /** Resolves when the result is stored. @throws when the database stays away */
  async add(result: SettledRecipient): Promise<void> {
    this.#waiting.push(result);
    // One statement runs; the next takes everything that waits by then.
    while (this.#waiting.includes(result)) {
      if (this.#running) {
        await this.#running;
        continue;
      }
      const batch = this.#waiting;
      this.#waiting = [];
      this.#running = this.#store(batch).finally(() => {
        this.#running = null;
      });
      await this.#running;
      return;
    }
    await this.#running;
  }

  async #store(batch: readonly SettledRecipient[]): Promise<void> {
    const isMessenger = this.#send.channel === 'messenger';
    for (let tries = 1; ; tries++) {
      try {
        const step = { leaseMs: this.#leaseMs, isMessenger, now: this.#app.clock.now() };
        await settleRecipients(this.#app.db, this.#send, batch, step);
        return;
      } catch (error) {
        if (tries >= TRIES || !(isRetryable(error) || isDatabaseUnavailable(error))) throw error;
        await delay(Math.min(tries, 5) * SECOND_MS);
      }
    }
  }
}
