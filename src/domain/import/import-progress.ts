import { setTimeout as wait } from 'node:timers/promises';
import { linesIn } from './import-source.ts';

/** Where a pass is. */
export interface ImportPosition {
  phase: 'loading' | 'preparing' | 'moving' | 'finishing';
  /** A table, or a step of the rules. */
  part: string;
  /** Rows of this part so far. */
  rows: number;
  /** Of the phase: rows while it loads and moves, steps while it prepares. */
  done: number;
  /** About as many as there are. */
  all: number;
}

/** What a pass says while it goes on, and what ends it early. */
export interface ImportWatch {
  /** One line where a part begins or has been loaded. */
  progress: (line: string) => void;
  /** Called for each few rows; whoever shows it decides how often. */
  position: (position: ImportPosition) => void;
  /** Ends the pass before the next rows or step; what is done so far is kept for the same command. */
  signal?: AbortSignal | undefined;
}

/** The pass was ended from outside: the service is as before, and the same command goes on. */
export class ImportStopped extends Error {
  constructor() {
    super('The import was stopped.');
    this.name = 'ImportStopped';
  }
}

/** @throws ImportStopped */
export function requireGoing(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new ImportStopped();
}

/** Rows since the load began, held back to a rate. */
export class RowPace {
  readonly #rowsPerSecond: number | null;
  readonly #startMs: number;
  #rows = 0;

  constructor(rowsPerSecond: number | null, startMs: number) {
    this.#rowsPerSecond = rowsPerSecond;
    this.#startMs = startMs;
  }

  /** @returns milliseconds to wait after so many further rows */
  delayAfter(rows: number, nowMs: number): number {
    if (this.#rowsPerSecond === null) return 0;
    this.#rows += rows;
    return Math.max(0, Math.ceil(this.#startMs + (this.#rows * 1_000) / this.#rowsPerSecond - nowMs));
  }
}

/** Passes chunks of whole lines on, counted and not faster than the pace. @throws ImportStopped */
export async function* watchedLines(
  lines: AsyncIterable<Buffer>,
  { pace, signal, onRows }: { pace: RowPace; signal: AbortSignal | undefined; onRows: (rows: number) => void },
): AsyncGenerator<Buffer> {
  for await (const chunk of lines) {
    requireGoing(signal);
    yield chunk;
    const rows = linesIn(chunk);
    onRows(rows);
    const ms = pace.delayAfter(rows, performance.now());
    // Ended early by the signal, which the next chunk looks at.
    if (ms > 0) await wait(ms, undefined, signal ? { signal } : {}).catch(() => requireGoing(signal));
  }
}
