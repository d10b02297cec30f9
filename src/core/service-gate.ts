import type { LongWork } from './db/database.ts';
import { runOutsideTransaction } from './db/root-guard.ts';

/** How often an instance asks the database whether it must stop serving. */
const LOOK_MS = 500;

/**
 * Whether this instance may serve requests and start jobs: it may not while some instance restores a backup (spec 06 section 7). The
 * database knows it (an advisory lock); what is kept here is at most half a second old. Nothing relies on it: a restore locks all
 * tables, and the gate only spares callers the wait.
 */
export class ServiceGate {
  readonly #work: LongWork | null;
  #isClosed = false;
  #timer: NodeJS.Timeout | null = null;
  #waiting: (() => void)[] = [];

  /** @param work null = there is no database, as in `doctor` */
  constructor(work: LongWork | null) {
    this.#work = work;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Asks the database from now on. @returns a function that ends it */
  follow(): () => void {
    let isStopped = false;
    const look = async (): Promise<void> => {
      await this.look();
      if (isStopped) return;
      this.#timer = setTimeout(() => void look(), LOOK_MS);
      this.#timer.unref();
    };
    runOutsideTransaction(() => void look());
    return () => {
      isStopped = true;
      if (this.#timer) clearTimeout(this.#timer);
      this.#set(false);
    };
  }

  /** Asks the database now. While it cannot be asked, the last answer counts. */
  async look(): Promise<void> {
    if (this.#work === null) return;
    try {
      this.#set(await this.#work.isServiceClosed());
    } catch {
      // Every request says by itself that the database is away.
    }
  }

  /** Resolves as soon as the gate is open. */
  opened(): Promise<void> {
    return this.#isClosed ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve();
  }

  #set(isClosed: boolean): void {
    this.#isClosed = isClosed;
    if (!isClosed) for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
