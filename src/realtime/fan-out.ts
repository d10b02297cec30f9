import { runOutsideTransaction } from '../core/db/root-guard.ts';
import type { FeedClient } from './feed-client.ts';

/** Clients served before the event loop may do something else. */
const SLICE = 500;
/** Frames of events that arrive together are written together, up to this size. */
const MAX_WRITE_BYTES = 256 * 1024;

/**
 * Writes frames to every client of a live set, in the order of `publish`. Long sets are served in slices, so that a burst of
 * events does not delay requests; frames that arrive meanwhile are sent with one write for each client.
 */
export class FanOut {
  readonly #clients: ReadonlySet<FeedClient>;
  #waiting: Buffer[] = [];
  #isRunning = false;

  constructor(clients: ReadonlySet<FeedClient>) {
    this.#clients = clients;
  }

  publish(frame: Buffer): void {
    if (this.#clients.size === 0) return;
    this.#waiting.push(frame);
    if (this.#isRunning) return;
    this.#isRunning = true;
    runOutsideTransaction(() => setImmediate(() => this.#next()));
  }

  #next(): void {
    const frames = this.#take();
    if (frames === null) this.#isRunning = false;
    else this.#write(frames, this.#clients.values());
  }

  #take(): Buffer | null {
    let size = 0;
    let count = 0;
    while (count < this.#waiting.length && (count === 0 || size + this.#waiting[count]!.length <= MAX_WRITE_BYTES)) {
      size += this.#waiting[count]!.length;
      count += 1;
    }
    const taken = this.#waiting.splice(0, count);
    return taken.length === 0 ? null : taken.length === 1 ? taken[0]! : Buffer.concat(taken, size);
  }

  /** The iterator continues after the pause: a client that has left is skipped, one that has joined is served. */
  #write(frames: Buffer, clients: Iterator<FeedClient>): void {
    for (let served = 0; served < SLICE; served += 1) {
      const step = clients.next();
      if (step.done) {
        setImmediate(() => this.#next());
        return;
      }
      step.value.send(frames);
    }
    setImmediate(() => this.#write(frames, clients));
  }
}
