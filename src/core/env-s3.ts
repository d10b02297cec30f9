import { ENV_SPEC, type EnvName } from './env-spec.ts';

/** A bucket of an S3-compatible storage. */
export interface S3Bucket {
  bucket: string;
  /** Null = Amazon S3 in the region. */
  endpoint: string | null;
  region: string;
  /** Null = the usual sources of the AWS SDK. */
  credentials: { accessKeyId: string; secretAccessKey: string } | null;
  isPathStyle: boolean;
}

/** What `env.ts` reads variables with. */
interface Reader {
  string(name: EnvName): string | null;
  boolean(name: EnvName): boolean;
  problem(name: EnvName, text: string): void;
}

/** The bucket that the variables `<prefix>_BUCKET` and so on describe; null = there is none. */
export function readS3Bucket(reader: Reader, prefix: 'MEDIA_S3' | 'BACKUP_S3'): S3Bucket | null {
  const bucket = reader.string(`${prefix}_BUCKET`);
  const accessKeyId = reader.string(`${prefix}_ACCESS_KEY_ID`);
  const secretAccessKey = reader.string(`${prefix}_SECRET_ACCESS_KEY`);
  const endpoint = reader.string(`${prefix}_ENDPOINT`);
  if (bucket === null) return null;
  if (endpoint !== null && !/^https?:\/\/[^\s@]+$/i.test(endpoint)) {
    reader.problem(`${prefix}_ENDPOINT`, 'must be an http or https address without credentials');
  }
  if ((accessKeyId === null) !== (secretAccessKey === null)) {
    reader.problem(`${prefix}_SECRET_ACCESS_KEY`, `and ${prefix}_ACCESS_KEY_ID must be set together`);
  }
  return {
    bucket,
    endpoint,
    region: reader.string(`${prefix}_REGION`) ?? ENV_SPEC[`${prefix}_REGION`].default,
    credentials: accessKeyId !== null && secretAccessKey !== null ? { accessKeyId, secretAccessKey } : null,
    isPathStyle: reader.boolean(`${prefix}_PATH_STYLE`),
  };
}
