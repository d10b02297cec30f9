import { ENV_SPEC, type EnvName } from './env-spec.ts';

export interface MediaS3 {
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

/** The storage of uploaded files as the environment describes it; null = a folder. */
export function readMediaS3(reader: Reader): MediaS3 | null {
  const bucket = reader.string('MEDIA_S3_BUCKET');
  const [accessKeyId, secretAccessKey] = [reader.string('MEDIA_S3_ACCESS_KEY_ID'), reader.string('MEDIA_S3_SECRET_ACCESS_KEY')];
  const endpoint = reader.string('MEDIA_S3_ENDPOINT');
  if (bucket === null) return null;
  if (endpoint !== null && !/^https?:\/\/[^\s@]+$/i.test(endpoint)) {
    reader.problem('MEDIA_S3_ENDPOINT', 'must be an http or https address without credentials');
  }
  if ((accessKeyId === null) !== (secretAccessKey === null)) {
    reader.problem('MEDIA_S3_SECRET_ACCESS_KEY', 'and MEDIA_S3_ACCESS_KEY_ID must be set together');
  }
  return {
    bucket,
    endpoint,
    region: reader.string('MEDIA_S3_REGION') ?? ENV_SPEC.MEDIA_S3_REGION.default,
    credentials: accessKeyId !== null && secretAccessKey !== null ? { accessKeyId, secretAccessKey } : null,
    isPathStyle: reader.boolean('MEDIA_S3_PATH_STYLE'),
  };
}
