import { isAbsolute } from 'node:path';
import { readS3Bucket, type S3Bucket } from './env-s3.ts';
import type { EnvName } from './env-spec.ts';

export interface BackupEnv {
  /** What backups contain besides the data. */
  readonly scope: { readonly secrets: boolean; readonly sessions: boolean; readonly media: boolean };
  /** Largest archive that can be uploaded. */
  readonly uploadMaxBytes: number;
  /** Folders besides `DATA_DIR` in which the folder of backups may be, absolute. */
  readonly roots: readonly string[];
  /** Where scheduled and requested backups are copied to; null = nowhere. */
  readonly s3: S3Bucket | null;
  /** Hours between two drills; 0 = there is none. */
  readonly drillIntervalHours: number;
  /** An empty database for drills; null = one is created beside the service's. */
  readonly drillDatabaseUrl: string | null;
}

interface Reader {
  string(name: EnvName): string | null;
  boolean(name: EnvName): boolean;
  integer(name: EnvName): number;
  list(name: EnvName): string[];
  problem(name: EnvName, text: string): void;
}

export function readBackupEnv(reader: Reader): BackupEnv {
  const drillDatabaseUrl = reader.string('BACKUP_DRILL_DATABASE_URL');
  if (drillDatabaseUrl !== null && !/^postgres(?:ql)?:\/\//.test(drillDatabaseUrl)) {
    reader.problem('BACKUP_DRILL_DATABASE_URL', 'must be a postgresql:// address');
  }
  if (drillDatabaseUrl !== null && drillDatabaseUrl === reader.string('DATABASE_URL')) {
    reader.problem('BACKUP_DRILL_DATABASE_URL', 'must not be the database of the service: a drill empties it');
  }
  const roots = reader.list('BACKUP_ROOTS');
  if (!roots.every((root) => isAbsolute(root))) reader.problem('BACKUP_ROOTS', 'must be absolute paths');
  return {
    roots,
    scope: {
      secrets: reader.boolean('BACKUP_INCLUDE_SECRETS'),
      sessions: reader.boolean('BACKUP_INCLUDE_SESSIONS'),
      media: reader.boolean('BACKUP_INCLUDE_MEDIA'),
    },
    uploadMaxBytes: reader.integer('BACKUP_UPLOAD_MAX_MB') * 1024 * 1024,
    s3: readS3Bucket(reader, 'BACKUP_S3'),
    drillIntervalHours: reader.integer('BACKUP_DRILL_INTERVAL_HOURS'),
    drillDatabaseUrl,
  };
}
