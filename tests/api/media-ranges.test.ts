import type { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { multipartForm } from '../../src/integrations/messenger/bot-api-client.ts';
import { testServer, tokenClient } from '../support/api.ts';
import { anMp4 } from '../support/media-samples.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

let t: TestApp;
let server: FastifyInstance;
let api: Awaited<ReturnType<typeof tokenClient>>;

beforeAll(async () => {
  t = await testApp();
  t.app.ports.mediaStore = { ...t.app.ports.mediaStore };
  server = await testServer(t.app);
  api = await tokenClient(t.app, server);
});
afterAll(() => server.close());

/** @returns the id of the file */
async function upload(content: Buffer): Promise<string> {
  const { contentType, body } = multipartForm(
    { media_type: 'video' },
    { field: 'file', name: 'v.mp4', type: 'video/mp4', content },
  );
  const headers = { 'x-api-key': api.token, 'content-type': contentType };
  const reply = await server.inject({ method: 'POST', url: '/upload', payload: Buffer.from(body), headers });
  return reply.json().file_id;
}

async function get(url: string, headers: Record<string, string>) {
  const reply = await server.inject({ method: 'GET', url, headers });
  return { status: reply.statusCode, bytes: reply.rawPayload, headers: reply.headers, text: reply.body };
}

describe('a range of a file (RFC 9110 section 14)', () => {
  test.each([
    ['bytes=0-3', 206, 0, 3],
    ['bytes=4-', 206, 4, 19],
    ['bytes=-5', 206, 15, 19],
    ['bytes=-500', 206, 0, 19],
    ['bytes=10-999999', 206, 10, 19],
    ['bytes=19-19', 206, 19, 19],
    ['bytes=0-1,4-5', 200, 0, 19],
    ['bytes=5-2', 200, 0, 19],
    ['bytes=-', 200, 0, 19],
    ['items=0-3', 200, 0, 19],
    ['bytes=x-y', 200, 0, 19],
    ['bytes=20-', 416, 0, -1],
    ['bytes=-0', 416, 0, -1],
  ])('%s', async (range, status, first, last) => {
    const content = Buffer.concat([anMp4(), Buffer.alloc(20)]).subarray(0, 20);
    const fileId = await upload(content);
    const headers = { 'x-api-key': api.token, range };
    const reply = await get(`/media/${fileId}`, headers);
    expect(reply.status).toBe(status);
    if (status === 416) {
      expect(reply.headers['content-range']).toBe('bytes */20');
      expect(JSON.parse(reply.text)).toEqual({ detail: 'Range Not Satisfiable' });
      expect(reply.headers).not.toHaveProperty('cache-control');
      return;
    }
    expect(reply.bytes).toEqual(content.subarray(first, last + 1));
    expect(reply.headers).toMatchObject({ 'accept-ranges': 'bytes', 'content-length': String(last + 1 - first) });
    expect(reply.headers['content-range']).toBe(status === 206 ? `bytes ${first}-${last}/20` : undefined);
    const whole = await get(`/media/${fileId}`, { ...headers, 'if-range': '"another"' });
    expect([whole.status, whole.bytes]).toEqual([200, content]);
  });
});

describe('of a large file only what is sent is read', () => {
  const SIZE = 24 * 1024 * 1024;
  let url: string;
  let path: string;
  let opened: { range: unknown; stream: Readable; bytes: number }[];

  beforeAll(async () => {
    const fileId = await upload(Buffer.concat([anMp4(), Buffer.alloc(SIZE - anMp4().length, 'x')]));
    path = `/media/${fileId}`;
    url = await server.listen({ port: 0, host: '127.0.0.1' });
    const store = t.app.ports.mediaStore;
    const { open } = store;
    store.get = () => Promise.reject(new Error('the whole file was read'));
    store.open = async (key, range) => {
      const stream = (await open(key, range))!;
      const entry = { range, stream, bytes: 0 };
      const push = stream.push.bind(stream);
      stream.push = (chunk: Buffer | null, ...rest) => {
        entry.bytes += chunk?.length ?? 0;
        return push(chunk, ...rest);
      };
      opened.push(entry);
      return stream;
    };
  });
  beforeEach(() => {
    opened = [];
  });

  test('a range', async () => {
    const reply = await fetch(`${url}${path}`, { headers: { 'x-api-key': api.token, range: 'bytes=10000000-10000999' } });
    expect(reply.status).toBe(206);
    expect((await reply.arrayBuffer()).byteLength).toBe(1_000);
    expect(reply.headers.get('content-range')).toBe(`bytes 10000000-10000999/${SIZE}`);
    expect(opened.map(({ range, bytes }) => ({ range, bytes }))).toEqual([
      { range: { first: 10_000_000, last: 10_000_999 }, bytes: 1_000 },
    ]);
  });

  test('a range that is outside of it opens nothing', async () => {
    const reply = await fetch(`${url}${path}`, { headers: { 'x-api-key': api.token, range: `bytes=${SIZE}-` } });
    expect([reply.status, opened]).toEqual([416, []]);
  });

  test('a client that goes away ends the reading', async () => {
    const aborted = new AbortController();
    const reply = await fetch(`${url}${path}`, { headers: { 'x-api-key': api.token }, signal: aborted.signal });
    expect(reply.headers.get('content-length')).toBe(String(SIZE));
    await reply.body!.getReader().read();
    aborted.abort();
    await expect.poll(() => opened[0]!.stream.destroyed).toBe(true);
    expect(opened[0]!.bytes).toBeLessThan(SIZE);
  });

  test('a file that is gone when it is opened is 404, with no header of a file', async () => {
    const store = t.app.ports.mediaStore;
    const { open } = store;
    store.open = async () => null;
    try {
      const reply = await fetch(`${url}${path}`, { headers: { 'x-api-key': api.token } });
      expect([reply.status, await reply.json()]).toEqual([404, { detail: 'Media file not found' }]);
      for (const name of ['content-disposition', 'accept-ranges', 'content-range']) expect(reply.headers.get(name)).toBeNull();
      store.open = () => Promise.reject(new Error('away'));
      expect((await fetch(`${url}${path}`, { headers: { 'x-api-key': api.token } })).status).toBe(502);
    } finally {
      store.open = open;
    }
  });
});
