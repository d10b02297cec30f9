import type { SqlRunner } from './db.ts';

/**
 * Work on the whole database that takes minutes: backups and restores. It has a connection of its own, without the time limits of
 * requests. On the embedded database there is one connection only: everything else waits while a transaction of this kind is open.
 */
export interface LongWork {
  /**
   * Runs work that excludes all other work of this kind, on every instance. A process that dies gives the right back with its connection.
   * @returns null when other work of this kind is under way
   */
  alone<T>(work: (session: LongSession) => Promise<T>): Promise<{ result: T } | null>;
  /** Whether some instance has told all of them to stop serving (`LongSession.closeService`). */
  isServiceClosed(): Promise<boolean>;
}

export interface LongSession {
  /** Reads one state of all tables, as of the first statement. Nothing can be written. */
  snapshot<T>(work: (sql: SqlRunner) => Promise<T>): Promise<T>;
  /** Commits when `work` resolves, and rolls back when it rejects or the process dies. */
  write<T>(work: (sql: SqlRunner) => Promise<T>): Promise<T>;
  /** Every instance stops serving requests and starting jobs within a second, until this work ends. */
  closeService(): Promise<void>;
}

/** Keys of advisory locks: work of this kind; the sign for all instances to stop serving. See docs/database.md. */
export const LONG_WORK_LOCK = 727_110_003;
export const CLOSED_SERVICE_LOCK = 727_110_004;
