/** The faults of a drill, with the writes that were acknowledged before, during and after each of them, counted apart. */
import { setTimeout as wait } from 'node:timers/promises';
import { longestGapMs } from './gaps.ts';
import type { DrillReport } from './report.ts';
import type { WriteBook } from './write-book.ts';

export interface Fault {
  name: string;
  /** `performance.now()` of its beginning and of its end: the service acknowledges writes again. */
  from: number;
  to: number;
  /** What the drill measured of it. */
  measured: string;
}

const WRITE_LIMIT_MS = 300_000;

export class FaultLog {
  readonly #book: WriteBook;
  readonly #writes: number;
  readonly #faults: Fault[] = [];
  readonly #startedAt = performance.now();
  #isUnderWay = false;

  /** @param writes to be acknowledged before the first fault and after each */
  constructor(book: WriteBook, writes: number) {
    this.#book = book;
    this.#writes = writes;
  }

  /** Those that are over. */
  get faults(): readonly Fault[] {
    return this.#faults;
  }

  get isUnderWay(): boolean {
    return this.#isUnderWay;
  }

  /**
   * Waits for writes without a fault. They are counted by their time: the book of another process is read a little later.
   * @throws Error when they are not acknowledged in time
   */
  async steady(since = performance.now()): Promise<void> {
    await this.#waitUntil(() => this.#book.successes.filter((at) => at > since).length >= this.#writes);
  }

  /** @param disturb ends when the fault is over; the first write that is acknowledged afterwards ends the time of the fault */
  async run(name: string, disturb: () => Promise<string>): Promise<void> {
    const from = performance.now();
    this.#isUnderWay = true;
    const measured = await disturb();
    await this.waitForWrites(this.#book.successes.length + 1);
    this.#isUnderWay = false;
    const to = performance.now();
    this.#faults.push({ name, measured, from, to });
    await this.steady(to);
  }

  /** @throws Error when so many are not acknowledged in time */
  async waitForWrites(count: number): Promise<void> {
    await this.#waitUntil(() => this.#book.successes.length >= count);
  }

  async #waitUntil(areAcknowledged: () => boolean): Promise<void> {
    const until = performance.now() + WRITE_LIMIT_MS;
    while (!areAcknowledged()) {
      if (performance.now() > until) throw new Error(`The writes were not acknowledged within ${WRITE_LIMIT_MS / 1_000} s`);
      await wait(50);
    }
  }

  /** For each fault the writes since the one before it, those during it, and those until the next one or the end of the load. */
  #counts(): { before: number; during: number; after: number }[] {
    const between = (from: number, to: number) => this.#book.successes.filter((at) => at > from && at <= to).length;
    return this.#faults.map(({ from, to }, index) => ({
      before: between(this.#faults[index - 1]?.to ?? this.#startedAt, from),
      during: between(from, to),
      after: between(to, this.#faults[index + 1]?.from ?? Number.POSITIVE_INFINITY),
    }));
  }

  prove(report: DrillReport): void {
    const few = this.#counts().flatMap(({ before, after }, index) =>
      before < this.#writes || after < this.#writes ? [`${this.#faults[index]!.name}: ${before} before, ${after} after`] : [],
    );
    report.add(`${this.#writes} acknowledged writes before and after each fault`, `${this.#faults.length} faults`, few);
  }

  static readonly HEAD = ['fault', 'lasted', 'longest without a write', 'writes before', 'during', 'after', 'measured'];

  rows(): string[][] {
    const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
    const counts = this.#counts();
    return this.#faults.map(({ name, from, to, measured }, index) => {
      const { before, during, after } = counts[index]!;
      const gap = longestGapMs(this.#book.successes, from, to);
      return [name, seconds(to - from), seconds(gap), String(before), String(during), String(after), measured];
    });
  }
}
