/** A client whose large body is refused gets the refusal, not a broken connection: the server reads and drops what is still on its way. */
import { once } from 'node:events';
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createHttpServer } from '../../src/composition/http-server.ts';
import { createMetrics } from '../../src/core/metrics.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

/** More than the buffers of a connection hold, so that the client is still writing when the server refuses. */
const PIECE = Buffer.alloc(1024 * 1024, 'x');
const PIECES = 8;

let t: TestApp;
let server: FastifyInstance;
let port: number;
let isStopping = false;

beforeAll(async () => {
  t = await testApp();
});
beforeEach(async () => {
  isStopping = false;
  const options = { app: t.app, metrics: createMetrics(), callbackRoute: () => null, isStopping: () => isStopping };
  server = (await createHttpServer(options)).fastify;
  await server.listen({ host: '127.0.0.1', port: 0 });
  port = (server.server.address() as { port: number }).port;
});
afterEach(async () => {
  await server.close();
});

/** Sends the whole body, whatever the server answers meanwhile. @returns the status */
async function post(path: string, more: Record<string, string | number>, agent: Agent | false = new Agent()): Promise<number> {
  const headers = { 'content-type': 'application/json', ...more };
  const sent = request({ port, path, method: 'POST', headers, agent });
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
  const [[response]] = await Promise.all([answered, write(sent)]);
  response.resume();
  return response.statusCode!;
}

async function write(sent: ClientRequest): Promise<void> {
  for (let piece = 0; piece < PIECES; piece++) {
    await new Promise<void>((resolve, reject) => sent.write(PIECE, (error) => (error ? reject(error) : resolve())));
  }
  sent.end();
}

describe.each([
  ['of a stated length', { 'content-length': PIECE.length * PIECES }],
  ['in chunks', { 'transfer-encoding': 'chunked' }],
])('a body of 8 MiB %s', (_name, headers) => {
  test.each([
    ['/cabinet/auth/email/login', 413],
    ['/nothing', 404],
  ])('%s answers %i', async (path, status) => {
    expect(await post(path, headers)).toBe(status);
  });

  test('is refused to a client that asks to close the connection', async () => {
    expect(await post('/cabinet/auth/email/login', { ...headers, connection: 'close' }, false)).toBe(413);
  });

  test('is refused while the service stops, and the connection ends behind it', async () => {
    isStopping = true;
    const ended = new Promise<void>((resolve) => server.server.once('connection', (socket) => socket.once('close', resolve)));
    expect(await post('/cabinet/auth/email/login', headers)).toBe(413);
    await ended;
  });
});
