import type { Db } from './db.ts';

/** What pg-boss needs of a database: runs text that may be a script of several statements when there are no values. */
export interface JobDatabase {
  executeSql(text: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
}

export type Unsubscribe = () => Promise<void>;

export interface PoolCounters {
  size: number;
  inUse: number;
  waiting: number;
}

/** An open database: embedded PGlite or a PostgreSQL server. The rest of the service sees no difference but `kind`. */
export interface Database {
  readonly kind: 'embedded' | 'postgres';
  readonly db: Db;
  readonly jobDatabase: JobDatabase;
  /**
   * Receives NOTIFY of a channel from every instance. `onReconnect` runs after a lost listening connection is open again:
   * messages may have been missed, so re-read the rows.
   */
  listen(channel: string, onMessage: (payload: string) => void, onReconnect: () => void): Promise<Unsubscribe>;
  migrate(): Promise<string[]>;
  poolCounters(): PoolCounters;
  close(): Promise<void>;
}
