import { open } from 'node:fs/promises';
import type { S3Bucket } from '../../core/env.ts';
import type { Tracing } from '../../core/telemetry/tracing.ts';
import type { BackupStore } from '../../domain/backups/ports.ts';
import { connectS3 } from '../media-storage/s3-store.ts';

const PREFIX = 'backups/';
/** A part is in memory while it is sent; 10,000 parts are 640 GB. */
const PART_BYTES = 64 * 1024 * 1024;

/** Copies of backups in a bucket, under `backups/`. What is larger than a part is sent in parts, so that it appears whole or not at all. */
export function s3BackupStore(settings: S3Bucket, tracing?: Tracing): BackupStore {
  return {
    put: async (name, path, sizeBytes) => {
      const { library, client } = await connectS3(settings, { system: 'backup_storage', tracing });
      const place = { Bucket: settings.bucket, Key: `${PREFIX}${name}` };
      const file = await open(path, 'r');
      try {
        const read = async (at: number): Promise<Buffer> => {
          const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(PART_BYTES, sizeBytes - at)), 0, undefined, at);
          return buffer.subarray(0, bytesRead);
        };
        if (sizeBytes <= PART_BYTES) {
          await client.send(new library.PutObjectCommand({ ...place, Body: await read(0), ContentLength: sizeBytes }));
          return;
        }
        const { UploadId } = await client.send(new library.CreateMultipartUploadCommand(place));
        try {
          const Parts: { ETag: string | undefined; PartNumber: number }[] = [];
          for (let at = 0; at < sizeBytes; at += PART_BYTES) {
            const PartNumber = Parts.length + 1;
            const Body = await read(at);
            const { ETag } = await client.send(
              new library.UploadPartCommand({ ...place, UploadId, PartNumber, Body, ContentLength: Body.length }),
            );
            Parts.push({ ETag, PartNumber });
          }
          await client.send(new library.CompleteMultipartUploadCommand({ ...place, UploadId, MultipartUpload: { Parts } }));
        } catch (error) {
          await client.send(new library.AbortMultipartUploadCommand({ ...place, UploadId })).catch(() => undefined);
          throw error;
        }
      } finally {
        await file.close();
        client.destroy();
      }
    },
  };
}
