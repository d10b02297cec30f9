import type { Db, SqlRunner } from './db.ts';

/** What pg-boss needs of a database: runs text that may be a script of several statements when there are no values. */
export interface JobDatabase {
  executeSql(text: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
}

interface PoolCounters {
  size: number;
  inUse: number;
  waiting: number;
}

/** An open database: embedded PGlite or a PostgreSQL server. The rest of the service sees no difference but `kind`. */
export interface Database {
  readonly kind: 'embedded' | 'postgres';
  readonly db: Db;
  readonly jobDatabase: JobDatabase;
  readonly side: SideConnection;
  migrate(): Promise<string[]>;
  poolCounters(): PoolCounters;
  /** Whether the server still answers this process; null for the embedded database, which is a part of it. */
  readonly silence: DatabaseSilence | null;
  close(): Promise<void>;
}

/** What is needed to tell a process whose connections are lost from a server that is away (spec 10 F1). */
interface DatabaseSilence {
  /** Milliseconds since any statement of the pool was answered. */
  answeredMsAgo(): number;
  /** Reads over a new connection outside of the pool. @throws when that fails, too */
  tryOutside(): Promise<void>;
}

/**
 * A connection beside the pool: for LISTEN and NOTIFY, and for the reader of events, which must not wait while requests use all connections
 * of the pool. The embedded database has no second connection and no other instance: there `sql` is the ordinary one, and nobody is notified.
 */
export interface SideConnection {
  /** Opens the connection again when it was lost. After any error the next statement gets a fresh connection, perhaps to another server. */
  readonly sql: SqlRunner;
  /** Receives the notices of a channel from every instance, from now on and after each reconnection. */
  listen(channel: string, onNotice: (payload: string) => void): Promise<void>;
  /** Sends a notice to every instance, in a transaction that contains nothing else. */
  notify(channel: string, payload: string): Promise<void>;
}

/**
 * Work on the whole database that takes minutes: backups and restores. It has a connection of its own, without the time limits of
 * requests. On the embedded database there is one connection only: everything else waits while a transaction of this kind is open.
 */
export interface LongWork {
  /** Everything else waits while a transaction of it is open. */
  readonly isEmbedded: boolean;
  /**
   * Runs work that excludes all other work of this kind, on every instance. A process that dies gives the right back with its connection.
   * @returns null when other work of this kind is under way
   */
  alone<T>(work: (session: LongSession) => Promise<T>): Promise<{ result: T } | null>;
  /** Whether some instance has ordered all of them to stop serving (`LongSession.closeService`). */
  isServiceClosed(): Promise<boolean>;
}

export interface LongSession {
  /** Reads one state of all tables, as of the first statement. Nothing can be written. */
  snapshot<T>(work: (sql: SqlRunner) => Promise<T>): Promise<T>;
  /** Commits when `work` resolves, and rolls back when it rejects or the process dies. */
  write<T>(work: (sql: SqlRunner, copyIn: CopyIn) => Promise<T>): Promise<T>;
  /** Every instance stops serving requests and starting jobs within a second, until this work ends. */
  closeService(): Promise<void>;
}

/**
 * Loads lines in the text form of COPY (only whole lines in a chunk), in the transaction of `LongSession.write`.
 * @param statement `COPY table (columns) FROM STDIN`
 */
export type CopyIn = (statement: string, lines: AsyncIterable<Buffer>) => Promise<void>;

/** Keys of advisory locks: work of this kind; the sign for all instances to stop serving. See docs/database.md. */
export const LONG_WORK_LOCK = 727_110_003;
export const CLOSED_SERVICE_LOCK = 727_110_004;
