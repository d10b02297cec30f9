import type { Db } from '../../core/db/db.ts';
import type { AuditEntry } from './types.ts';

/** Accepts rows of the audit log and writes them in batches in the background. */
export interface AuditPort {
  /**
   * Resolves when the row is in the table or has been dropped with a line in the log, and also when the database is unavailable or takes
   * longer than about 2 s: then the row is written later. Never rejects.
   * @param isAwaited an answer waits for it, so it is written immediately
   */
  record(db: Db, entry: AuditEntry, isAwaited?: boolean): Promise<void>;
  /** Writes all pending rows; to be called before the database is closed. */
  flush(): Promise<void>;
}

declare module '../../core/app.ts' {
  interface Ports {
    audit: AuditPort;
  }
}
