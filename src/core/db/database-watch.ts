import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import type { Database } from './database.ts';
import { runOutsideTransaction } from './root-guard.ts';

/** The clocks of this machine; tests pass their own. */
export interface MachineClocks {
  /** Milliseconds since 1970, as set on this machine: may be wrong and may jump. */
  systemMs(): number;
  /** Monotonic milliseconds since any point in time. */
  monotonicMs(): number;
}

const MACHINE: MachineClocks = { systemMs: () => Date.now(), monotonicMs: () => performance.now() };

export interface DatabaseWatchOptions {
  database: Pick<Database, 'silence'> & { db: Pick<Database['db'], 'sql'> };
  log: Logger;
  machine?: MachineClocks;
  /** Milliseconds without any answer after which a new connection outside of the pool is tried. Default: two minutes. */
  silentMs?: number;
  /** Milliseconds between two rounds. Default: five seconds. */
  lookMs?: number;
}

const LOOK_MS = 5_000;
const SILENT_MS = 120_000;
/** Smaller differences are the inexactness of the measurement: the clock is moved by larger ones only, so that it does not go back and forth. */
const TOLERANCE_MS = 100;
/** A measurement that took longer says too little. */
const MAX_ROUND_TRIP_MS = 1_000;

/**
 * What one process observes of its database every five seconds (spec 10 F1 and F5).
 *
 * It is the clock of the service: the time of the database, as of the last measurement, plus what has passed on the monotonic clock since.
 * So all instances have one time, and an instance whose machine has another one, or whose time jumps, expires and deletes nothing early.
 *
 * And it finds out whether the connections of this process are lost while the database is there for a new one.
 */
export class DatabaseWatch implements Clock {
  readonly #database: DatabaseWatchOptions['database'];
  readonly #log: Logger;
  readonly #machine: MachineClocks;
  readonly #silentMs: number;
  readonly #lookMs: number;
  /** The measurement that is not answered yet. */
  #measuring: Promise<void> | null = null;
  /** Database time at the zero of the monotonic clock; null before the first measurement. */
  #baseMs: number | null = null;
  #skewMs = 0;
  #isStuck = false;
  #timer: NodeJS.Timeout | null = null;

  constructor({ database, log, machine = MACHINE, silentMs = SILENT_MS, lookMs = LOOK_MS }: DatabaseWatchOptions) {
    this.#database = database;
    this.#log = log;
    this.#machine = machine;
    this.#silentMs = silentMs;
    this.#lookMs = lookMs;
  }

  now(): Date {
    return new Date(this.#baseMs === null ? this.#machine.systemMs() : Math.floor(this.#baseMs + this.#machine.monotonicMs()));
  }

  /** The time of the database, asked now. @throws when it cannot be asked */
  async confirmed(): Promise<Date> {
    await this.#measure();
    return this.now();
  }

  /** How far the machine's time is ahead of the database's, in milliseconds; negative = behind. */
  get skewMs(): number {
    return this.#skewMs;
  }

  /** True when nothing was read for two minutes although a new connection works: only a new process helps. */
  get isStuck(): boolean {
    return this.#isStuck;
  }

  /** Measures now, and from now on every five seconds. @returns a function that ends it */
  async follow(): Promise<() => void> {
    let isStopped = false;
    const next = (): void => {
      if (isStopped) return;
      this.#timer = setTimeout(() => void runOutsideTransaction(() => this.look()).then(next), this.#lookMs);
      this.#timer.unref();
    };
    await this.look();
    next();
    return () => {
      isStopped = true;
      if (this.#timer) clearTimeout(this.#timer);
    };
  }

  /** One round; never rejects. It waits for a measurement no longer than until the next round: one that is never answered is what is looked for. */
  async look(): Promise<void> {
    this.#measuring ??= this.#measure()
      .catch(() => undefined)
      .finally(() => {
        this.#measuring = null;
      });
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.#lookMs);
    });
    await Promise.all([Promise.race([this.#measuring, enough]), this.#findSilence()]);
    clearTimeout(timer);
  }

  async #measure(): Promise<void> {
    const from = this.#machine.monotonicMs();
    const [row] = await this.#database.db.sql<{ ms: number }>(
      'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms',
    );
    const to = this.#machine.monotonicMs();
    if (to - from > MAX_ROUND_TRIP_MS && this.#baseMs !== null) return;
    const baseMs = row!.ms - (from + to) / 2;
    if (this.#baseMs === null || Math.abs(baseMs - this.#baseMs) > TOLERANCE_MS + (to - from) / 2) this.#baseMs = baseMs;
    const skewMs = Math.round(this.#machine.systemMs() - (this.#baseMs + to));
    if (isClockWrong(skewMs) && !isClockWrong(this.#skewMs)) {
      this.#log.error({ skewMs }, 'the clock of this machine differs from the clock of the database; this instance is not ready');
    }
    this.#skewMs = skewMs;
  }

  async #findSilence(): Promise<void> {
    const { silence } = this.#database;
    if (silence === null || silence.answeredMsAgo() < this.#silentMs) {
      this.#isStuck = false;
      return;
    }
    try {
      await silence.tryOutside();
    } catch {
      // The database is away for everybody, and a new process would not help.
      this.#isStuck = false;
      return;
    }
    if (this.#isStuck || silence.answeredMsAgo() < this.#silentMs) return;
    this.#isStuck = true;
    this.#log.error(
      { silentMs: Math.round(silence.answeredMsAgo()) },
      'the connections of this process are lost although the database answers others; the process must be started anew',
    );
  }
}

/** Whether a machine's time differs too much from the database's (spec 10 F5): signatures and tokens of this instance would be wrong. */
export function isClockWrong(skewMs: number): boolean {
  return Math.abs(skewMs) > 30_000;
}
