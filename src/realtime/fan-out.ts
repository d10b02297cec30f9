import { runOutsideTransaction } from '../core/db/root-guard.ts';
import type { FeedClient } from './feed-client.ts';

/** Clients served before the event loop may do something else. */
const SLICE = 500;
/** Frames of events that arrive together are written together, up to this size. */
const MAX_WRITE_BYTES = 256 * 1024;

/** What the fan-out needs of a client. */
export type Listener = Pick<FeedClient, 'firstFrame' | 'sendLive'>;

/** Frames in one write. */
interface Bundle {
  bytes: Buffer;
  /** Number of the first frame; frames are numbered in the order of `publish`. */
  first: number;
  /** Where each frame ends in `bytes`. */
  ends: readonly number[];
}

/**
 * Writes frames to every client of a live set, in the order of `publish`. Long sets are served in slices, so that a burst of
 * events does not delay requests; frames that arrive meanwhile are sent with one write for each client. A client receives the frames that
 * are published after it has joined.
 */
export class FanOut {
  readonly #clients: ReadonlySet<Listener>;
  #waiting: Buffer[] = [];
  #isRunning = false;
  #published = 0;
  #whenIdle: (() => void)[] = [];

  constructor(clients: ReadonlySet<Listener>) {
    this.#clients = clients;
  }

  /** Number that the next frame gets. */
  get next(): number {
    return this.#published;
  }

  publish(frame: Buffer): void {
    this.#published += 1;
    if (this.#clients.size === 0 && !this.#isRunning) return;
    this.#waiting.push(frame);
    if (this.#isRunning) return;
    this.#isRunning = true;
    runOutsideTransaction(() => setImmediate(() => this.#next()));
  }

  /** Resolves when every published frame is written. */
  async idle(): Promise<void> {
    if (this.#isRunning) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }

  #next(): void {
    const bundle = this.#take();
    if (bundle === null) {
      this.#isRunning = false;
      for (const resolve of this.#whenIdle.splice(0)) resolve();
    } else this.#write(bundle, this.#clients.values());
  }

  #take(): Bundle | null {
    const first = this.#published - this.#waiting.length;
    const ends: number[] = [];
    let size = 0;
    while (ends.length < this.#waiting.length && (size === 0 || size + this.#waiting[ends.length]!.length <= MAX_WRITE_BYTES)) {
      size += this.#waiting[ends.length]!.length;
      ends.push(size);
    }
    const taken = this.#waiting.splice(0, ends.length);
    if (taken.length === 0) return null;
    return { bytes: taken.length === 1 ? taken[0]! : Buffer.concat(taken, size), first, ends };
  }

  /** The iterator continues after the pause: a client that has left is skipped, one that has joined is served. */
  #write(bundle: Bundle, clients: Iterator<Listener>): void {
    for (let served = 0; served < SLICE; served += 1) {
      const step = clients.next();
      if (step.done) {
        setImmediate(() => this.#next());
        return;
      }
      sendFrom(step.value, bundle);
    }
    setImmediate(() => this.#write(bundle, clients));
  }
}

/** A client that joined while the frames were waiting has the events of the earlier ones already. */
function sendFrom(client: Listener, { bytes, first, ends }: Bundle): void {
  const skipped = client.firstFrame - first;
  if (skipped <= 0) client.sendLive(bytes);
  else if (skipped < ends.length) client.sendLive(bytes.subarray(ends[skipped - 1]!));
}
