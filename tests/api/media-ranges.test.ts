import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { multipartForm } from '../../src/integrations/messenger/multipart-form.ts';
import { testServer, tokenClient } from '../support/api.ts';
import { anMp4 } from '../support/media-samples.ts';
import { testApp } from '../support/test-app.ts';

let server: FastifyInstance;
let api: Awaited<ReturnType<typeof tokenClient>>;

beforeAll(async () => {
  const t = await testApp();
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
