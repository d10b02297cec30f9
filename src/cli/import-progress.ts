import type { ImportPosition } from '../domain/import/import-progress.ts';

/** How often a line says where an import is. */
const INTERVAL_MS = 5_000;

/** The share of a phase after which its end can be expected. */
const MEASURED_SHARE = 0.01;

/** Begins each line of the kind; all others name a part that begins or is over. */
const MARK = '… ';

/** Tells where an import is: the last position, with the rate of its phase and its expected end. */
export class ProgressLines {
  readonly #now: () => Date;
  #last: ImportPosition | null = null;
  /** Where the phase and the part began. */
  #phase = { startMs: 0, done: 0 };
  #partMs = 0;

  constructor(now: () => Date) {
    this.#now = now;
  }

  move(position: ImportPosition): void {
    const ms = this.#now().getTime();
    if (position.phase !== this.#last?.phase) this.#phase = { startMs: ms, done: position.done };
    if (position.part !== this.#last?.part) this.#partMs = ms;
    this.#last = position;
  }

  /** Null before anything has begun. */
  line(): string | null {
    const last = this.#last;
    if (last === null) return null;
    const now = this.#now();
    const { phase, part, rows, done, all } = last;
    const since = `for ${Math.round((now.getTime() - this.#partMs) / 1_000)} s`;
    if (phase === 'preparing') return `${MARK}preparing ${part}: step ${done + 1} of ${all}, ${since}`;
    if (phase === 'finishing') return `${MARK}finishing ${part}: ${since}`;
    const seconds = (now.getTime() - this.#phase.startMs) / 1_000;
    const doneNow = done - this.#phase.done;
    const counts = `${MARK}${phase} ${part}: ${rows} rows, ${done} of about ${Math.round(all)} in all`;
    // The first few rows give no rate: a large table is one statement.
    if (doneNow < all * MEASURED_SHARE || seconds === 0) return counts;
    const rate = doneNow / seconds;
    const left = Math.ceil((all - done) / rate);
    const end = new Date(now.getTime() + left * 1_000).toISOString().slice(11, 19);
    return `${counts}, ${Math.round(rate)} rows/s, ${timeOf(left)} left, until ${end} UTC`;
  }
}

const timeOf = (seconds: number) => (seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`);

/** Prints a line every five seconds until it is ended. */
export function printProgress(print: (line: string) => void): { move: (position: ImportPosition) => void; end: () => void } {
  const lines = new ProgressLines(() => new Date());
  const timer = setInterval(() => {
    const line = lines.line();
    if (line !== null) print(line);
  }, INTERVAL_MS);
  return { move: (position) => lines.move(position), end: () => clearInterval(timer) };
}
