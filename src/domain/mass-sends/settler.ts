import type { App } from '../../core/app.ts';
import { type SettledRecipient, settleRecipients } from './recipient-repo.ts';
import { storeResult } from './store-result.ts';
import type { MassSend } from './types.ts';

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
  #hasDelivered = false;

  constructor(app: App, send: MassSend, leaseMs: number) {
    this.#app = app;
    this.#send = send;
    this.#leaseMs = leaseMs;
  }

  /** Resolves when the result is stored. @throws when the database stays away */
  async add(result: SettledRecipient): Promise<void> {
    this.#waiting.push(result);
    if (result.state === 'sent') this.#hasDelivered = true;
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

  #store(batch: readonly SettledRecipient[]): Promise<void> {
    const isMessenger = this.#send.channel === 'messenger';
    return storeResult(() => {
      const step = { leaseMs: this.#leaseMs, isMessenger, isOutage: !this.#hasDelivered, now: this.#app.clock.now() };
      return settleRecipients(this.#app.db, this.#send, batch, step);
    });
  }
}
