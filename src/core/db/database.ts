import type { Db } from './db.ts';
import type { SideConnection } from './side-connection.ts';

/** What pg-boss needs of a database: runs text that may be a script of several statements when there are no values. */
export interface JobDatabase {
  executeSql(text: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
}

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
  readonly side: SideConnection;
  migrate(): Promise<string[]>;
  poolCounters(): PoolCounters;
  /** Whether the server still answers this process; null for the embedded database, which is a part of it. */
  readonly silence: DatabaseSilence | null;
  close(): Promise<void>;
}

/** What is needed to tell a process whose connections are lost from a server that is away (spec 10 F1). */
export interface DatabaseSilence {
  /** Milliseconds since any statement of the pool was answered. */
  answeredMsAgo(): number;
  /** Reads over a new connection outside of the pool. @throws when that fails, too */
  tryOutside(): Promise<void>;
}
