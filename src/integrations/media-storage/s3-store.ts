import type { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import type { S3Bucket } from '../../core/env.ts';
import { NO_TRACING, type Tracing } from '../../core/telemetry/tracing.ts';
import type { MediaStore } from '../../domain/media/ports.ts';

const PREFIX = 'media/';
const HEAD_BYTES = 16;
const KEY = /^[\w-]{16,64}$/;
const CONNECT_MS = 5_000;
const REQUEST_MS = 60_000;

/** Files in a bucket of an S3-compatible storage, under `media/`. The library is loaded with the first file: most services have none. */
export function s3Store(settings: S3Bucket, tracing?: Tracing): MediaStore {
  let loaded: Promise<{ library: typeof import('@aws-sdk/client-s3'); client: S3Client }> | null = null;
  const load = () => {
    loaded ??= connectS3(settings, { system: 'media_storage', tracing }).catch((error: unknown) => {
      loaded = null;
      throw error;
    });
    return loaded;
  };
  const place = (key: string) => ({ Bucket: settings.bucket, Key: `${PREFIX}${key}` });
  /** @param range as a header; null = the whole. `size` is that of the whole */
  const openObject = async (key: string, range: string | null) => {
    const { library, client } = await load();
    try {
      const { Body, ContentRange, ContentLength } = await client.send(
        new library.GetObjectCommand({ ...place(key), ...(range === null ? {} : { Range: range }) }),
      );
      const total = /\/(\d+)$/.exec(ContentRange ?? '')?.[1];
      return Body ? { body: Body, size: total === undefined ? ContentLength : Number(total) } : null;
    } catch (error) {
      if (error instanceof library.NoSuchKey) return null;
      throw error;
    }
  };
  return {
    put: async (key, content, mime) => {
      const { library, client } = await load();
      const size = { ContentLength: content.length };
      await client.send(new library.PutObjectCommand({ ...place(key), ...size, Body: content, ContentType: mime }));
    },
    get: async (key) => {
      const found = await openObject(key, null);
      return found && Buffer.from(await found.body.transformToByteArray());
    },
    look: async (key) => {
      const found = await openObject(key, `bytes=0-${HEAD_BYTES - 1}`);
      if (found === null) return null;
      const head = Buffer.from(await found.body.transformToByteArray());
      return { size: found.size ?? head.length, head };
    },
    open: async (key, range) => {
      const found = await openObject(key, range && `bytes=${range.first}-${range.last}`);
      return found && (found.body as Readable);
    },
    delete: async (key) => {
      const { library, client } = await load();
      await client.send(new library.DeleteObjectCommand(place(key)));
    },
    list: async function* () {
      const { library, client } = await load();
      let next: string | undefined;
      do {
        const page = await client.send(
          new library.ListObjectsV2Command({
            Bucket: settings.bucket,
            Prefix: PREFIX,
            ...(next ? { ContinuationToken: next } : {}),
          }),
        );
        for (const { Key = '', LastModified } of page.Contents ?? []) {
          const key = Key.slice(PREFIX.length);
          if (LastModified !== undefined && KEY.test(key)) yield { key, storedAt: LastModified };
        }
        next = page.IsTruncated ? page.NextContinuationToken : undefined;
      } while (next !== undefined);
    },
  };
}

/**
 * Loads the library and makes a client. Each command is a span, with its repeats and without keys and the bucket; what is read after its answer, the
 * content of a file, is not in it.
 */
export async function connectS3(
  { endpoint, region, credentials, isPathStyle }: S3Bucket,
  { system, tracing = NO_TRACING }: { system: 'media_storage' | 'backup_storage'; tracing?: Tracing | undefined },
) {
  const library = (await import('@aws-sdk/client-s3')).default;
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
  if (tracing.isOn) {
    client.middlewareStack.add(
      (next, { commandName = 'Command' }) =>
        (args) => {
          const operation = commandName.replace(/Command$/, '');
          const attributes = { 'peer.service': system, 'rpc.system': 'aws-api', 'rpc.method': operation };
          return tracing.inSpan('client', `${operation} ${system}`, attributes, () => next(args));
        },
      { step: 'initialize', name: 'trace' },
    );
  }
  return { library, client };
}
