import type { Rows } from '../../core/db/columns.ts';

export type BackupTask = Rows['BackupTask'];
export type BackupOrigin = BackupTask['origin'];

/** A column of a table as an archive describes it. */
export interface ColumnShape {
  name: string;
  /** As SQL writes it, e.g. `character varying(60)`. */
  type: string;
  nullable: boolean;
}

/** A table as an archive describes it. */
interface TableShape {
  columns: ColumnShape[];
  /** Columns, in the order of the key. */
  primaryKey: string[];
}

/** A table of the open database. */
export interface Table extends TableShape {
  name: string;
  /** Columns that have a value when none is given. */
  defaulted: string[];
}

/** What a backup contains besides the data that every backup contains. */
export interface BackupScope {
  /** Values of secret settings, and secrets that the service made for itself. */
  secrets: boolean;
  /** Sessions of the cabinet. */
  sessions: boolean;
  /** Content of uploaded files. */
  media: boolean;
  logs: boolean;
}

/** A file in the archive that is no table. */
export interface ArchivedFile {
  /** Path in the archive: `media/<key>` or `files/<name>`. */
  name: string;
  sizeBytes: number;
  sha256: string;
}

/** What the head of an archive says about it; the same for every database. */
export interface Metadata {
  formatVersion: string;
  timestamp: Date;
  appVersion: string;
  databaseType: string;
  backupType: string;
  tablesCount: number;
  totalRecords: number;
  compressed: boolean;
  createdBy: number | null;
  origin: BackupOrigin;
  includes: BackupScope;
  files: ArchivedFile[];
}

export interface ArchivedTable extends TableShape {
  rows: number;
  sha256: string;
}

export interface ArchiveSchema {
  /** Names of the applied migrations, in their order. */
  migrations: string[];
  tables: Record<string, ArchivedTable>;
}

/** The archive cannot be restored; the message says why, without secrets. Nothing was changed. */
export class ArchiveRefused extends Error {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'ArchiveRefused';
  }
}
