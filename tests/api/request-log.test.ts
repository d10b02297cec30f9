import { afterEach, expect, test } from 'vitest';
import { createHttpServer } from '../../src/composition/http-server.ts';
import type { App } from '../../src/core/app.ts';
import { createMetrics } from '../../src/core/metrics.ts';
import { createApiToken } from '../../src/domain/access/tokens.ts';
import { clientOf, testServer } from '../support/api.ts';
import { observeRefusal } from '../support/refusal-recorder.ts';
import { testApp } from '../support/test-app.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A server whose request lines are kept. */
async function logged(environment: Record<string, string>) {
  const { app } = await testApp({ environment });
  const lines: { level: string; route: string; status: number }[] = [];
  const keep = (level: string) => (line: { route?: string; status: number }, text?: string) => {
    if (text === 'request') lines.push({ level, route: line.route ?? '', status: line.status });
  };
  const log = Object.assign(Object.create(app.log), { info: keep('info'), warn: keep('warn'), error: keep('error') });
  const away = () => Promise.reject(Object.assign(new Error('gone'), { code: 'ECONNREFUSED' }));
  const failing: App = { ...app, log, ports: { ...app.ports, gates: [away] } };
  const server = await testServer(failing);
  closing.push(() => server.close());
  return { client: clientOf(server), lines };
}

test.each([
  { logging: 'true', expected: [{ level: 'info', route: '/users/:user_id', status: 401 }] },
  { logging: 'false', expected: [] },
])('WEB_API_REQUEST_LOGGING=$logging', async ({ logging, expected }) => {
  const { client, lines } = await logged({ WEB_API_REQUEST_LOGGING: logging });
  await client.get('/users/5?token=hidden');
  expect(lines).toEqual(expected);
});

test('a statement that exceeds its time-out is 503 over HTTP and tRPC, and only the log has the reason', async () => {
  const { app } = await testApp();
  const token = await createApiToken(app, { kind: 'system', name: 'test' }, { name: 'log', description: null, expiresAt: null });
  const lines: object[] = [];
  const warn = (line: object, text: string) => text === 'request refused' && lines.push(line);
  const log = Object.assign(Object.create(app.log), { warn });
  const reason = 'canceling statement due to statement timeout';
  const sql = () => Promise.reject(Object.assign(new Error(reason), { code: '57014' }));
  const { fastify } = await createHttpServer({
    observeRefusal,
    app: { ...app, log, db: { ...app.db, sql } },
    metrics: createMetrics(),
    callbackRoute: () => null,
  });
  closing.push(() => fastify.close());
  await fastify.ready();
  const client = clientOf(fastify, { 'x-api-key': token.token });
  for (const reply of [await client.get('/tokens'), await client.get('/trpc/web.auth.list')]) {
    expect(reply.status).toBe(503);
    expect(reply.text).toContain('Service temporarily unavailable. Please try again later.');
    expect(reply.text).not.toContain('canceling');
  }
  const line = { status: 503, code: 'database_unavailable', reason };
  expect(lines).toEqual([expect.objectContaining(line), expect.objectContaining(line)]);
});
