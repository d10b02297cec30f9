import type { S3Client } from '@aws-sdk/client-s3';
import type { S3Bucket } from '../../core/env-s3.ts';
import type { MediaStore } from '../../domain/media/ports.ts';

const PREFIX = 'media/';
const CONNECT_MS = 5_000;
const REQUEST_MS = 60_000;

/** Files in a bucket of an S3-compatible storage, under `media/`. The library is loaded with the first file: most services have none. */
export function s3Store(settings: S3Bucket): MediaStore {
  let loaded: Promise<{ library: typeof import('@aws-sdk/client-s3'); client: S3Client }> | null = null;
  const load = () => {
    loaded ??= connectS3(settings).catch((error: unknown) => {
      loaded = null;
      throw error;
    });
    return loaded;
  };
  const place = (key: string) => ({ Bucket: settings.bucket, Key: `${PREFIX}${key}` });
  return {
    put: async (key, content, mime) => {
      const { library, client } = await load();
      const size = { ContentLength: content.length };
      await client.send(new library.PutObjectCommand({ ...place(key), ...size, Body: content, ContentType: mime }));
    },
    get: async (key) => {
      const { library, client } = await load();
      try {
        const { Body } = await client.send(new library.GetObjectCommand(place(key)));
        return Body ? Buffer.from(await Body.transformToByteArray()) : null;
      } catch (error) {
        if (error instanceof library.NoSuchKey) return null;
        throw error;
      }
    },
    delete: async (key) => {
      const { library, client } = await load();
      await client.send(new library.DeleteObjectCommand(place(key)));
    },
  };
}

/** Loads the library and makes a client. */
export async function connectS3({ endpoint, region, credentials, isPathStyle }: S3Bucket) {
  const library = await import('@aws-sdk/client-s3');
  const client = new library.S3Client({
    region,
    forcePathStyle: isPathStyle,
    ...(endpoint === null ? {} : { endpoint }),
    ...(credentials === null ? {} : { credentials }),
    maxAttempts: 3,
    requestHandler: { connectionTimeout: CONNECT_MS, requestTimeout: REQUEST_MS },
    // Newer checksums are not known to every storage that speaks S3.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  return { library, client };
}
