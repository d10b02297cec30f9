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

interface Waiting {
  db: Db;
  entry: AuditEntry;
  settle: () => void;
}

/**
 * Writes audit rows in batches beside the requests: one statement for everything that came meanwhile (spec 01 H24). Rows of one
 * process keep their order. A row that the table refuses is given up alone; a database that is away is tried again.
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
    return new Promise((settle) => {
      this.#waiting.push({ db, entry, settle });
      if (this.#waiting.length > MAX_WAITING) this.#giveUp(this.#waiting.splice(0, BATCH), 'too many rows wait');
      // An answer that waits gets company only from what comes while the statement before is under way.
      this.#start(isAwaited || this.#waiting.length >= BATCH ? 0 : LINGER_MS);
    });
  }

  async flush(): Promise<void> {
    clearTimeout(this.#timer ?? undefined);
    this.#timer = null;
    await this.#writing;
    await this.#drain(true);
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
      this.#timer = setTimeout(() => {
        this.#timer = null;
        this.#writing = this.#drain(false).then((isAway) => {
          this.#writing = null;
          if (this.#waiting.length > 0) this.#start(isAway ? RETRY_MS : 0);
        });
      }, delayMs);
      this.#timer.unref();
    });
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
        if (isLast) {
          this.#giveUp(batch, 'the database is away', error);
          continue;
        }
        this.#waiting.unshift(...batch);
        this.#log.warn({ err: error, rows: this.#waiting.length }, 'audit rows wait for the database');
        return true;
      }
    }
    return false;
  }

  /** @throws what means that the database is away */
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
      for (const row of batch) await this.#write(db, [row]);
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
