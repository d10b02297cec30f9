import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from '@20minutes/s3rver';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { MediaStore } from '../../../src/domain/media/ports.ts';
import { folderStore } from '../../../src/integrations/media-storage/folder-store.ts';
import { s3Store } from '../../../src/integrations/media-storage/s3-store.ts';

const KEY = 'abcdefghijklmnopqrstuvwxyz-_0123';
const OTHER = 'zzzzefghijklmnopqrstuvwxyz-_0123';
const BYTES = Buffer.from(Array.from({ length: 3_000 }, (_value, index) => index % 256));

let folder: string;
let server: S3rver;
let settings: Parameters<typeof s3Store>[0];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'media-'));
  // A server of the S3 protocol, which checks signatures.
  server = new S3rver({
    ...{ address: '127.0.0.1', port: 0, silent: true, directory: join(folder, 's3') },
    configureBuckets: [{ name: 'files' }],
  });
  const { port } = await server.run();
  settings = {
    ...{ bucket: 'files', endpoint: `http://127.0.0.1:${port}`, region: 'us-east-1', isPathStyle: true },
    credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
  };
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

const stores: [name: string, open: () => MediaStore][] = [
  ['a folder', () => folderStore(join(folder, 'media'))],
  ['an S3 storage', () => s3Store(settings)],
];

describe.each(stores)('%s', (_name, open) => {
  test('returns what was stored, byte by byte, also through another instance', async () => {
    await open().put(KEY, BYTES, 'image/png');
    expect(await open().get(KEY)).toEqual(BYTES);
  });

  test('has nothing under an unknown key, and deletes without complaint', async () => {
    const store = open();
    expect(await store.get(OTHER)).toBeNull();
    await store.delete(OTHER);
    await store.put(OTHER, BYTES, 'image/png');
    await store.delete(OTHER);
    expect(await store.get(OTHER)).toBeNull();
  });
});

test('the folder refuses what is no key, keeps files to its owner and leaves no part of a file', async () => {
  const store = folderStore(join(folder, 'media'));
  for (const key of ['../../../etc/passwd-000000', 'short', 'abcdefghijklmnopqrstuvwxyz/../x']) {
    await expect(async () => store.put(key, BYTES, 'image/png')).rejects.toThrow('not a key');
  }
  await store.put(KEY, BYTES, 'image/png');
  expect(await readdir(join(folder, 'media', 'ab'))).toEqual([KEY]);
  expect((await stat(join(folder, 'media', 'ab', KEY))).mode & 0o077).toBe(0);
});

test('S3: a wrong key and a storage that is away are failures, not missing files', async () => {
  const wrong = s3Store({ ...settings, credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'not the secret' } });
  await expect(wrong.get(KEY)).rejects.toThrow();
  const away = s3Store({ ...settings, endpoint: 'http://127.0.0.1:9' });
  await expect(away.get(KEY)).rejects.toThrow();
  await expect(away.put(KEY, BYTES, 'image/png')).rejects.toThrow();
});
