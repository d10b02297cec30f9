import type { Db } from '../../core/db/db.ts';
import { isDatabaseUnavailable } from '../../core/db/db-errors.ts';
import { runOutsideTransaction } from '../../core/db/root-guard.ts';
import type { Logger } from '../../core/log.ts';
import { insertAuditEntries } from './audit-repo.ts';
import type { AuditPort } from './ports.ts';
import type { AuditEntry } from './types.ts';

/** A row that no answer waits for is delayed this long, so that more rows share its statement and the flush of its commit. */
const LINGER_MS = 100;
const BATCH = 200;
/** Limit while the database is unavailable; then the oldest rows are dropped, so that memory stays bounded. */
const MAX_WAITING = 20_000;
const RETRY_MS = 1_000;
/** An answer waits no longer than this for a slow database; its row is still written. */
const MAX_ANSWER_WAIT_MS = 2_000;

interface Waiting {
  db: Db;
  entry: AuditEntry;
  /** An answer waits for the row. */
  isAwaited: boolean;
  /** Resolves the promise of the row; may be called more than once. */
  settle: () => void;
}

/**
 * Writes audit rows in batches in the background: one statement for all rows that are waiting (spec 01 H24). Rows of one process
 * keep their order. A row that the table refuses is dropped alone. While the database is unavailable or too slow the rows are retried
 * and no answer waits: the change is done or refused, and its answer must not depend on the log (spec 06 section 0).
 */
export class AuditWriter implements AuditPort {
  readonly #log: Logger;
  readonly #waiting: Waiting[] = [];
  #timer: NodeJS.Timeout | null = null;
  /** Whether the timer only delays a row for a shared statement, so that it may be replaced by an earlier one. */
  #isLingering = false;
  #writing: Promise<void> | null = null;

  constructor(log: Logger) {
    this.#log = log;
  }

  record(db: Db, entry: AuditEntry, isAwaited = false): Promise<void> {
    return new Promise((resolve) => {
      const deadline = isAwaited ? setTimeout(resolve, MAX_ANSWER_WAIT_MS).unref() : undefined;
      const settle = () => {
        clearTimeout(deadline);
        resolve();
      };
      this.#waiting.push({ db, entry, isAwaited, settle });
      if (this.#waiting.length > MAX_WAITING) this.#drop(this.#waiting.splice(0, BATCH), 'too many rows wait');
      // A row that an answer waits for is not delayed; it shares a statement with rows that arrive during the previous statement.
      this.#start(isAwaited || this.#waiting.length >= BATCH ? 0 : LINGER_MS);
    });
  }

  async flush(): Promise<void> {
    // A running statement may fail and put its rows back: they must still be written.
    while (this.#writing !== null) await this.#writing;
    await this.#begin(true);
  }

  /** Whether the rows that wait are written without delay. */
  #isUrgent(): boolean {
    return this.#waiting.length >= BATCH || this.#waiting.some((row) => row.isAwaited);
  }

  #start(delayMs: number): void {
    if (this.#writing !== null) return;
    if (this.#timer !== null) {
      if (!this.#isLingering || delayMs > 0) return;
      clearTimeout(this.#timer);
    }
    this.#isLingering = delayMs === LINGER_MS;
    // The timer must not inherit the open transaction of the first caller.
    runOutsideTransaction(() => {
      this.#timer = setTimeout(() => void this.#begin(false), delayMs);
      this.#timer.unref();
    });
  }

  /** One at a time, so that rows keep their order and no statement is running when the database is closed. */
  #begin(isLast: boolean): Promise<void> {
    clearTimeout(this.#timer ?? undefined);
    this.#timer = null;
    this.#writing = this.#drain(isLast).then((isUnavailable) => {
      this.#writing = null;
      if (this.#waiting.length > 0) this.#start(isUnavailable ? RETRY_MS : LINGER_MS);
    });
    return this.#writing;
  }

  /**
   * Writes one batch, then more while a batch is full or an answer waits for a row.
   * @param isLast rows that cannot be written now are dropped, because the service stops
   * @returns whether it stopped because the database is unavailable
   */
  async #drain(isLast: boolean): Promise<boolean> {
    while (this.#waiting.length > 0) {
      const { db } = this.#waiting[0]!;
      const other = this.#waiting.findIndex((row) => row.db !== db);
      const batch = this.#waiting.splice(0, Math.min(BATCH, other < 0 ? BATCH : other));
      try {
        await this.#write(db, batch);
      } catch (error) {
        // Any failure: the rows stay in memory and are written later; the last time they are logged.
        this.#waiting.unshift(...batch);
        if (isLast) {
          // All of them: with a locked table the stop would wait for one time-out per batch.
          this.#drop(this.#waiting.splice(0), 'the database is unavailable', error);
          return true;
        }
        for (const row of this.#waiting) row.settle();
        this.#log.warn({ err: error, rows: this.#waiting.length }, 'audit rows wait for the database');
        return true;
      }
      if (!isLast && !this.#isUrgent()) return false;
    }
    return false;
  }

  /**
   * @param batch afterwards has the rows that are still to be written
   * @throws errors that mean that the database is unavailable
   */
  async #write(db: Db, batch: Waiting[]): Promise<void> {
    try {
      await insertAuditEntries(
        db,
        batch.map((row) => row.entry),
      );
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      if (batch.length === 1) return this.#drop(batch, 'the table refuses it', error);
      // One row made the statement fail: each row is written by a separate statement.
      for (; batch.length > 0; batch.shift()) await this.#write(db, batch.slice(0, 1));
      return;
    }
    for (const row of batch) row.settle();
  }

  #drop(rows: readonly Waiting[], reason: string, error?: unknown): void {
    this.#log.error(
      { err: error, rows: rows.length, actions: rows.slice(0, 5).map(({ entry }) => entry.action), reason },
      'AUDIT ROWS LOST',
    );
    for (const row of rows) row.settle();
  }
}
