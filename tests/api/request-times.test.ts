/** How long a request may take to arrive: all of it, or for an upload of a backup the time without a byte (spec 06 section 7, upload). */
import { readdir, readFile, truncate } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createHttpServer, type RequestTimes } from '../../src/composition/http-server.ts';
import { createMetrics } from '../../src/core/metrics.ts';
import { createApiToken } from '../../src/domain/access/tokens.ts';
import { backupFolder } from '../../src/domain/backups/backup-folder.ts';
import { aBackup, appWithFolder } from '../support/backup-samples.ts';
import type { TestApp } from '../support/test-app.ts';

/** So long that no busy machine reaches it, and so short that every request here exceeds it. */
const LONG_MS = 600_000;
const SHORT_MS = 300;
const BOUNDARY = 'part';
const HEAD = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="mine.tar.gz"\r\ncontent-type: application/gzip\r\n\r\n`;
const TAIL = `\r\n--${BOUNDARY}--\r\n`;

let t: TestApp;
let token: string;
let server: FastifyInstance | undefined;
let open: Socket[] = [];

beforeAll(async () => {
  t = await appWithFolder();
  const actor = { kind: 'system', name: 'test' } as const;
  ({ token } = await createApiToken(t.app, actor, { name: 'times', description: null, expiresAt: null }));
});
afterEach(async () => {
  for (const socket of open) socket.destroy();
  open = [];
  await server?.close();
});

async function listen(times: RequestTimes): Promise<number> {
  const made = await createHttpServer({ app: t.app, metrics: createMetrics(), callbackRoute: () => null, times });
  server = made.fastify;
  await server.listen({ host: '127.0.0.1', port: 0 });
  return (server.server.address() as { port: number }).port;
}

/** A connection that has sent the headers of a request, and what it receives. */
async function begin(port: number, path: string, headers: Record<string, string | number>) {
  const socket = connect(port, '127.0.0.1');
  open.push(socket);
  const received: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => received.push(chunk));
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  await new Promise<void>((resolve) => socket.once('connect', resolve));
  const lines = Object.entries({ host: 'service', 'x-api-key': token, ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  return { socket, closed, text: () => Buffer.concat(received).toString('latin1') };
}

const workFolders = async () => (await readdir(backupFolder(t.app))).filter((name) => name.startsWith('.work'));
const uploading = (port: number, length: number) =>
  begin(port, '/backups/upload', { 'content-type': `multipart/form-data; boundary=${BOUNDARY}`, 'content-length': length });

describe('an upload of a backup', () => {
  test('may take longer than another request, while bytes arrive', async () => {
    const { path } = await aBackup(t.app);
    const content = await readFile(path);
    const port = await listen({ wholeMs: SHORT_MS, idleMs: LONG_MS });
    const upload = await uploading(port, HEAD.length + content.length + TAIL.length);
    upload.socket.write(HEAD);
    const parts = 8;
    for (let at = 0; at < parts; at++) {
      upload.socket.write(content.subarray((content.length * at) / parts, (content.length * (at + 1)) / parts));
      await pause(SHORT_MS / 3);
    }
    upload.socket.write(TAIL);
    await expect.poll(() => upload.text()).toMatch(/"success":true/);
    expect(upload.text()).toMatch(/^HTTP\/1\.1 200/);
  });

  test('is ended when none arrives, and leaves nothing behind', async () => {
    const port = await listen({ wholeMs: LONG_MS, idleMs: SHORT_MS });
    const upload = await uploading(port, 1_000_000);
    upload.socket.write(HEAD + 'x'.repeat(10_000));
    await upload.closed;
    expect(upload.text()).toMatch(/^HTTP\/1\.1 408/);
    await expect.poll(workFolders).toEqual([]);
  });
});

test('any other request must arrive as a whole, however steadily its bytes come', async () => {
  const port = await listen({ wholeMs: SHORT_MS, idleMs: LONG_MS });
  const slow = await begin(port, '/users', { 'content-type': 'application/json', 'content-length': 1_000_000 });
  let isClosed = false;
  void slow.closed.then(() => {
    isClosed = true;
  });
  while (!isClosed) {
    slow.socket.write(' ');
    await pause(10);
  }
  expect(slow.text()).toMatch(/^HTTP\/1\.1 408/);
});

test('what is sent behind an early answer is dropped for as long as any other request may last', async () => {
  const port = await listen({ wholeMs: SHORT_MS, idleMs: LONG_MS });
  const refused = await begin(port, '/backups/upload', {
    'x-api-key': 'wrong',
    'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
    'content-length': 1_000_000,
  });
  refused.socket.write(HEAD);
  await refused.closed;
  expect(refused.text()).toMatch(/^HTTP\/1\.1 401/);
});

test('a download that nobody reads is ended', async () => {
  const { name } = await aBackup(t.app);
  const port = await listen({ wholeMs: LONG_MS, idleMs: SHORT_MS });
  // Larger than what the system keeps for a connection.
  await truncate(`${backupFolder(t.app)}/${name}`, 64 * 1024 * 1024);
  const socket = connect(port, '127.0.0.1');
  open.push(socket);
  socket.on('error', () => undefined);
  socket.pause();
  socket.write(`GET /backups/download/${name} HTTP/1.1\r\nhost: service\r\nx-api-key: ${token}\r\n\r\n`);
  const connections = () => new Promise<number>((resolve) => server!.server.getConnections((_error, count) => resolve(count)));
  await expect.poll(connections).toBe(1);
  await expect.poll(connections).toBe(0);
});

test('an unused connection stays open for 5 s longer than the client was promised', async () => {
  const port = await listen({ wholeMs: LONG_MS, idleMs: LONG_MS });
  const response = await fetch(`http://127.0.0.1:${port}/livez`);
  expect(response.headers.get('keep-alive')).toBe('timeout=65');
  const { keepAliveTimeout, keepAliveTimeoutBuffer } = server!.server;
  expect(keepAliveTimeout + keepAliveTimeoutBuffer).toBe(70_000);
});
