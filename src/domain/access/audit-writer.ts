import type { Db } from '../../core/db/db.ts';
import { isDatabaseUnavailable } from '../../core/db/db-errors.ts';
import { runOutsideTransaction } from '../../core/db/root-guard.ts';
import type { Logger } from '../../core/log.ts';
import { insertAuditEntries } from './audit-repo.ts';
import type { AuditPort } from './ports.ts';
import type { AuditEntry } from './types.ts';

/** A row that nobody waits for waits this long for company. */
const LINGER_MS = 25;
const BATCH = 200;
/** With the database away; then rows are given up, oldest first, so that memory stays bounded. */
const MAX_WAITING = 20_000;
const RETRY_MS = 1_000;
/** An answer waits no longer than this for a database that is slow; its row is written all the same. */
const MAX_ANSWER_WAIT_MS = 2_000;

interface Waiting {
  db: Db;
  entry: AuditEntry;
  /** Lets go whoever waits for the row; more often than once does no harm. */
  settle: () => void;
}

/**
 * Writes audit rows in batches beside the requests: one statement for everything that came meanwhile (spec 01 H24). Rows of one
 * process keep their order. A row that the table refuses is given up alone; a database that is away or does not answer in time is
 * tried again, while nobody waits: the change is done or refused, and its answer must not hang on the log (spec 06 section 0).
 */
export class AuditWriter implements AuditPort {
  readonly #log: Logger;
  readonly #waiting: Waiting[] = [];
  #timer: NodeJS.Timeout | null = null;
  /** Whether the timer only waits for company, so that it may be brought forward. */
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
      this.#waiting.push({ db, entry, settle });
      if (this.#waiting.length > MAX_WAITING) this.#giveUp(this.#waiting.splice(0, BATCH), 'too many rows wait');
      // An answer that waits gets company only from what comes while the statement before is under way.
      this.#start(isAwaited || this.#waiting.length >= BATCH ? 0 : LINGER_MS);
    });
  }

  async flush(): Promise<void> {
    // What is under way may fail and put its rows back: they are still ours to write.
    while (this.#writing !== null) await this.#writing;
    await this.#begin(true);
  }

  #start(delayMs: number): void {
    if (this.#writing !== null) return;
    if (this.#timer !== null) {
      if (!this.#isLingering || delayMs > 0) return;
      clearTimeout(this.#timer);
    }
    this.#isLingering = delayMs === LINGER_MS;
    // The timer must not inherit an open transaction from whoever happened to record first.
    runOutsideTransaction(() => {
      this.#timer = setTimeout(() => void this.#begin(false), delayMs);
      this.#timer.unref();
    });
  }

  /** Only one at a time, so that rows keep their order and none is under way unseen when the database is closed. */
  #begin(isLast: boolean): Promise<void> {
    clearTimeout(this.#timer ?? undefined);
    this.#timer = null;
    this.#writing = this.#drain(isLast).then((isAway) => {
      this.#writing = null;
      if (this.#waiting.length > 0) this.#start(isAway ? RETRY_MS : 0);
    });
    return this.#writing;
  }

  /**
   * @param isLast rows that cannot be written now are given up, because there is no later
   * @returns whether it ended because the database is away
   */
  async #drain(isLast: boolean): Promise<boolean> {
    while (this.#waiting.length > 0) {
      const { db } = this.#waiting[0]!;
      const other = this.#waiting.findIndex((row) => row.db !== db);
      const batch = this.#waiting.splice(0, Math.min(BATCH, other < 0 ? BATCH : other));
      try {
        await this.#write(db, batch);
      } catch (error) {
        this.#waiting.unshift(...batch);
        if (isLast) {
          // All of them: a table that is locked would cost the stop one time-out a batch.
          this.#giveUp(this.#waiting.splice(0), 'the database is away', error);
          return true;
        }
        for (const row of this.#waiting) row.settle();
        this.#log.warn({ err: error, rows: this.#waiting.length }, 'audit rows wait for the database');
        return true;
      }
    }
    return false;
  }

  /**
   * @param batch is left with the rows that are still to be written
   * @throws what means that the database is away
   */
  async #write(db: Db, batch: Waiting[]): Promise<void> {
    try {
      await insertAuditEntries(
        db,
        batch.map((row) => row.entry),
      );
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      if (batch.length === 1) return this.#giveUp(batch, 'the table refuses it', error);
      // One row spoils the statement: each gets its own.
      for (; batch.length > 0; batch.shift()) await this.#write(db, batch.slice(0, 1));
      return;
    }
    for (const row of batch) row.settle();
  }

  #giveUp(rows: readonly Waiting[], reason: string, error?: unknown): void {
    this.#log.error(
      { err: error, rows: rows.length, actions: rows.slice(0, 5).map(({ entry }) => entry.action), reason },
      'AUDIT ROWS LOST',
    );
    for (const row of rows) row.settle();
  }
}
