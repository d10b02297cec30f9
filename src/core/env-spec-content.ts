import type { EnvVariable } from './env-spec.ts';

/** Variables of uploaded files and broadcasts. */
export const CONTENT_VARIABLES = {
  MEDIA_S3_BUCKET: {
    group: 'Media',
    type: 'string',
    default: null,
    effect:
      'Bucket of an S3-compatible storage for uploaded files. Unset = the folder media in DATA_DIR, which several instances must share.',
  },
  MEDIA_S3_ENDPOINT: {
    group: 'Media',
    type: 'string',
    default: null,
    effect: 'Address of the storage, for example https://s3.example.com. Unset = Amazon S3 in MEDIA_S3_REGION.',
  },
  MEDIA_S3_REGION: {
    group: 'Media',
    type: 'string',
    default: 'us-east-1',
    effect: 'Region of the bucket; many storages ignore it.',
  },
  MEDIA_S3_ACCESS_KEY_ID: {
    group: 'Media',
    type: 'string',
    default: null,
    effect: 'Access key of the storage. Unset = the usual sources of the AWS SDK.',
  },
  MEDIA_S3_SECRET_ACCESS_KEY: {
    group: 'Media',
    type: 'string',
    default: null,
    isSecret: true,
    effect: 'Secret of the access key.',
  },
  MEDIA_S3_PATH_STYLE: {
    group: 'Media',
    type: 'boolean',
    default: 'true',
    effect: 'The bucket is part of the path, as most storages other than Amazon S3 expect, and not of the host name.',
  },
  MEDIA_LINK_MINUTES: {
    group: 'Media',
    type: 'integer',
    default: '60',
    min: 1,
    max: 10_080,
    effect: 'Minutes that the link of a private file is valid; a link lasts at least this long and less than twice as long.',
  },
  MEDIA_FILES_PER_USER: {
    group: 'Media',
    type: 'integer',
    default: '200',
    min: 1,
    max: 1_000_000,
    effect: 'Files that a user of the cabinet may upload altogether; administrators may upload any number.',
  },
  MEDIA_MEGABYTES_PER_USER: {
    group: 'Media',
    type: 'integer',
    default: '500',
    min: 1,
    max: 1_000_000,
    effect: 'Size of these files altogether.',
  },
  MEDIA_UNUSED_DAYS: {
    group: 'Media',
    type: 'integer',
    default: '7',
    min: 0,
    max: 3_650,
    effect:
      'Days after which an upload is deleted that no ticket, broadcast, pinned message or text of the service refers to. 0 = never; files without a row, which an interrupted upload leaves, stay then too.',
  },
  MESSENGER_SENDS_PER_SECOND: {
    group: 'Broadcasts',
    type: 'integer',
    default: '25',
    min: 1,
    max: 1_000,
    effect:
      'Messages a second that all instances together send through the messenger; spaced; single messages may be 2 ahead of that. The messenger allows 30, more only by agreement.',
  },
  BROADCAST_MAILS_PER_SECOND: {
    group: 'Broadcasts',
    type: 'integer',
    default: '8',
    min: 1,
    max: 1_000,
    effect: 'Mails a second of broadcasts, of all instances together. Other mails are not limited.',
  },
  PINNED_ANSWER_WAIT_MS: {
    group: 'Broadcasts',
    type: 'integer',
    default: '3000',
    min: 0,
    max: 30_000,
    effect:
      'Milliseconds that the answer of an operation that sends or unpins a pinned message waits for the end, so that its counts are those of everyone. Then it answers with the counts reached; 0 never waits.',
  },
} as const satisfies Record<string, EnvVariable>;
