import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from '@20minutes/s3rver';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HOUR_MS } from '../../../src/core/clock.ts';
import type { MediaStore } from '../../../src/domain/media/ports.ts';
import { folderStore } from '../../../src/integrations/media-storage/folder-store.ts';
import { s3Store } from '../../../src/integrations/media-storage/s3-store.ts';
import { allOf } from '../../support/stored-contents.ts';

const KEY = 'abcdefghijklmnopqrstuvwxyz-_0123';
const OTHER = 'zzzzefghijklmnopqrstuvwxyz-_0123';
const BYTES = Buffer.from(Array.from({ length: 3_000 }, (_value, index) => index % 256));

let folder: string;
let server: S3rver;
let settings: Parameters<typeof s3Store>[0];

let listing: Awaited<ReturnType<typeof countingProxy>>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'media-'));
  // A server of the S3 protocol, which checks signatures.
  server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: join(folder, 's3'),
    configureBuckets: [{ name: 'files' }],
  });
  const { port } = await server.run();
  settings = {
    bucket: 'files',
    endpoint: `http://127.0.0.1:${port}`,
    region: 'us-east-1',
    isPathStyle: true,
    credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
  };
  listing = await countingProxy(settings.endpoint!);
});
afterAll(async () => {
  await listing.close();
  await server.close();
  await rm(folder, { recursive: true });
});

/**
 * Passes requests to the storage and counts the bytes of the contents that it gives back. Requests are passed without their signature when the
 * test server computes another one for them: those for the list of a bucket.
 */
async function countingProxy(target: string) {
  let [bytes, open] = [0, 0];
  const proxy = createServer((request, reply) => {
    open += 1;
    const { host: _host, ...headers } = request.headers;
    if (request.url?.includes('list-type')) delete headers.authorization;
    const forwarded = httpRequest(`${target}${request.url}`, {
      method: request.method,
      headers: { ...headers, host: request.headers.host },
    });
    request.pipe(forwarded);
    forwarded.on('response', (answer) => {
      reply.writeHead(answer.statusCode!, answer.headers);
      if (answer.headers['content-type'] !== 'application/xml') answer.on('data', (chunk: Buffer) => (bytes += chunk.length));
      answer.pipe(reply);
    });
    reply.on('close', () => {
      forwarded.destroy();
      open -= 1;
    });
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    bytes: () => bytes,
    idle: () => expect.poll(() => open).toBe(0),
    close: async () => {
      proxy.close();
      proxy.closeAllConnections();
    },
  };
}

const stores: [name: string, open: () => MediaStore][] = [
  ['a folder', () => folderStore(join(folder, 'media'))],
  ['an S3 storage', () => s3Store({ ...settings, endpoint: listing.url })],
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

describe.each(stores)('parts of a content in %s', (_name, open) => {
  const ALIKE = 'parts-of-a-content-of-a-test';

  test('the size and the first bytes are known without the rest', async () => {
    const store = open();
    await store.put(ALIKE, BYTES, 'video/mp4');
    expect(await store.look(ALIKE)).toEqual({ size: BYTES.length, head: BYTES.subarray(0, 16) });
    await store.put(ALIKE.toUpperCase(), Buffer.from('short'), 'text/plain');
    expect(await store.look(ALIKE.toUpperCase())).toEqual({ size: 5, head: Buffer.from('short') });
    expect(await store.look(`${ALIKE}-missing`)).toBeNull();
  });

  test.each([
    [null, 0, 2_999],
    [{ first: 0, last: 9 }, 0, 9],
    [{ first: 1_000, last: 1_999 }, 1_000, 1_999],
    [{ first: 2_999, last: 2_999 }, 2_999, 2_999],
  ])('%j', async (range, first, last) => {
    const store = open();
    await store.put(ALIKE, BYTES, 'video/mp4');
    const stream = await store.open(ALIKE, range);
    expect(Buffer.concat(await stream!.toArray())).toEqual(BYTES.subarray(first, last + 1));
    expect(await store.open(`${ALIKE}-missing`, range)).toBeNull();
  });
});

test('S3: only the range is transferred, and nothing more once the reader has gone', async () => {
  const content = Buffer.alloc(32 * 1024 * 1024, 'x');
  await s3Store(settings).put('large-content-of-a-test-0', content, 'video/mp4');
  const proxy = await countingProxy(settings.endpoint!);
  try {
    const store = s3Store({ ...settings, endpoint: proxy.url });
    expect((await store.look('large-content-of-a-test-0'))!.size).toBe(content.length);
    const part = await store.open('large-content-of-a-test-0', { first: 1_000_000, last: 1_099_999 });
    expect(Buffer.concat(await part!.toArray())).toHaveLength(100_000);
    expect(proxy.bytes()).toBe(100_016);
    const whole = await store.open('large-content-of-a-test-0', null);
    await once(whole!, 'readable');
    whole!.destroy();
    await proxy.idle();
    expect(proxy.bytes()).toBeLessThan(content.length / 2);
  } finally {
    await proxy.close();
  }
});

describe.each(stores)('the list of %s', (_name, open) => {
  test('has every content once, with the time at which it was stored', async () => {
    const store = open();
    const keys = Array.from({ length: 12 }, (_, index) => `listed-content-of-a-test-${String(index).padStart(3, '0')}`);
    for (const key of keys) await store.put(key, BYTES, 'image/png');
    const listed = (await allOf(store.list())).filter(({ key }) => key.startsWith('listed-'));
    expect(listed.map(({ key }) => key).sort()).toEqual(keys);
    for (const { storedAt } of listed) expect(Math.abs(storedAt.getTime() - Date.now())).toBeLessThan(HOUR_MS);
    for (const key of keys) await store.delete(key);
    expect((await allOf(store.list())).filter(({ key }) => key.startsWith('listed-'))).toEqual([]);
  });
});

test('a folder that does not exist yet has no contents', async () => {
  expect(await allOf(folderStore(join(folder, 'no-such-folder')).list())).toEqual([]);
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
  await expect(wrong.get(KEY)).rejects.toMatchObject({ name: 'SignatureDoesNotMatch' });
  const away = s3Store({ ...settings, endpoint: 'http://127.0.0.1:9' });
  await expect(away.get(KEY)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await expect(away.put(KEY, BYTES, 'image/png')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});
