import type { Database } from '../../core/db/database.ts';

/** A storage off-site for copies of backups. */
export interface BackupStore {
  /** Copies a file; complete when the promise resolves. @throws Error */
  put(name: string, path: string, sizeBytes: number): Promise<void>;
}

/** A migrated database without data, for a drill. */
export interface ScratchDatabase {
  database: Database;
  drop(): Promise<void>;
}

declare module '../../core/app.ts' {
  interface Ports {
    /** Null = backups stay where they are. */
    backupStore: BackupStore | null;
    /** Opens a database for a drill. @throws Error that says what is missing */
    openScratchDatabase: () => Promise<ScratchDatabase>;
  }
}
