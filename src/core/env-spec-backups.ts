import type { EnvVariable } from './env-spec.ts';

/** Variables of backups; their schedule and retention are settings (BACKUP_…). */
export const BACKUP_VARIABLES = {
  BACKUP_INCLUDE_SECRETS: {
    group: 'Backups',
    type: 'boolean',
    default: 'true',
    effect:
      'Backups contain the values of secret settings and the keys that the service made for itself. Without them a restore keeps those of the running system.',
  },
  BACKUP_INCLUDE_SESSIONS: {
    group: 'Backups',
    type: 'boolean',
    default: 'false',
    effect: 'Backups contain the sessions of the cabinet. Without them everyone signs in again after a restore.',
  },
  BACKUP_INCLUDE_MEDIA: {
    group: 'Backups',
    type: 'boolean',
    default: 'true',
    effect: 'Backups contain the content of uploaded files, whatever storage it is in.',
  },
  BACKUP_UPLOAD_MAX_MB: {
    group: 'Backups',
    type: 'integer',
    default: '512',
    min: 1,
    max: 1_000_000,
    effect:
      'Largest archive that POST /backups/upload accepts. Copy a larger one into the folder of backups and restore it by its name.',
  },
  BACKUP_ROOTS: {
    group: 'Backups',
    type: 'list',
    default: '',
    effect:
      'Absolute folders, separated by commas, in which BACKUP_LOCATION may be changed to a folder while the service runs. DATA_DIR is always one, and a BACKUP_LOCATION of the environment holds anyway.',
  },
  BACKUP_S3_BUCKET: {
    group: 'Backups',
    type: 'string',
    default: null,
    effect: 'Bucket of an S3-compatible storage to which each backup is copied, under backups/. Unset = none.',
  },
  BACKUP_S3_ENDPOINT: {
    group: 'Backups',
    type: 'string',
    default: null,
    effect: 'Address of that storage. Unset = Amazon S3 in BACKUP_S3_REGION.',
  },
  BACKUP_S3_REGION: {
    group: 'Backups',
    type: 'string',
    default: 'us-east-1',
    effect: 'Region of the bucket; many storages ignore it.',
  },
  BACKUP_S3_ACCESS_KEY_ID: {
    group: 'Backups',
    type: 'string',
    default: null,
    effect: 'Access key of the storage. Unset = the usual sources of the AWS SDK.',
  },
  BACKUP_S3_SECRET_ACCESS_KEY: {
    group: 'Backups',
    type: 'string',
    default: null,
    isSecret: true,
    effect: 'Secret of the access key.',
  },
  BACKUP_S3_PATH_STYLE: {
    group: 'Backups',
    type: 'boolean',
    default: 'true',
    effect: 'The bucket is part of the path, as most storages other than Amazon S3 expect, and not of the host name.',
  },
  BACKUP_DRILL_INTERVAL_HOURS: {
    group: 'Backups',
    type: 'integer',
    default: '0',
    min: 0,
    max: 8_760,
    effect:
      'Hours between two drills, in each of which the newest backup is restored into a database of its own, checked, and the database dropped; 0 = never. GET /metrics and doctor show the result.',
  },
  BACKUP_DRILL_DATABASE_URL: {
    group: 'Backups',
    type: 'string',
    default: null,
    isSecret: true,
    effect:
      'postgresql:// address of a database for drills alone, which each drill empties. Unset = a database that the drill creates beside that of the service (its user needs CREATEDB), or an embedded one.',
  },
} as const satisfies Record<string, EnvVariable>;
