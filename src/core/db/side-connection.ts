import type { SqlRunner } from './db.ts';

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
