/** Every way into the service while its database is away (spec 08 S1). */
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jsonReply, startLoopbackServer } from '../../packages/sandbox/src/loopback-server.ts';
import { callbackRoute, registerCallbackRoutes } from '../../src/composition/callback-routes.ts';
import { createHttpServer } from '../../src/composition/http-server.ts';
import type { Sandbox } from '../../src/composition/sandbox.ts';
import { databaseSandboxStore } from '../../src/composition/sandbox-host.ts';
import { registerSandboxPage } from '../../src/composition/sandbox-page.ts';
import type { App } from '../../src/core/app.ts';
import type { Db } from '../../src/core/db/db.ts';
import { createLogger } from '../../src/core/log.ts';
import { createMetrics } from '../../src/core/metrics.ts';
import { createApiToken } from '../../src/domain/access/tokens.ts';
import { type ApiClient, type ApiRequest, clientOf } from '../support/api.ts';
import { observeRefusal } from '../support/refusal-recorder.ts';
import { ScriptedProvider, withProvider } from '../support/scripted-provider.ts';
import { testApp } from '../support/test-app.ts';

/** Of the fake messenger, to which the app is connected. */
const WEBHOOK_SECRET = 'test-webhook-secret';
const withCause = (cause: object) => Object.assign(new Error('failed'), { name: 'DriverAdapterError', cause });
const FAULTS: [string, () => Error][] = [
  ['a session that was cut', () => Object.assign(new Error('terminating connection'), { code: '57P01' })],
  ['the next statement on it', () => new Error('Client has encountered a connection error and is not queryable')],
  ['a connection lost in COMMIT', () => withCause({ kind: 'ConnectionClosed' })],
  ['a server that is not there', () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })],
  ['a node that is a standby now', () => Object.assign(new Error('cannot execute INSERT'), { code: '25006' })],
  ['a full disk', () => Object.assign(new Error('could not extend file'), { code: '53100' })],
  ['a full pool', () => new Error('timeout exceeded when trying to connect')],
];

let fault: () => Error;
let attempts: number;
let lines: string[];
let server: FastifyInstance;
let client: ApiClient;
beforeAll(async () => {
  const t = await testApp({ environment: { WEBHOOK_PATH: '/messenger-webhook' } });
  const scripted = await withProvider(t.app, new ScriptedProvider());
  const fail = () => {
    attempts += 1;
    return Promise.reject(fault());
  };
  const log = createLogger({ level: 'warn', format: 'json', stream: { write: (line) => void lines.push(line) } });
  const models = new Proxy({}, { get: () => new Proxy({}, { get: () => fail }) });
  const app: App = { ...scripted, log, db: { sql: fail, begin: fail, prisma: models as App['db']['prisma'] } };
  const failing = { list: fail, messages: fail, listUsers: () => [], listSquads: () => [], endPoll: () => undefined };
  const sandbox = {
    host: { servers: () => ({ mail: failing, messenger: failing, panel: failing, payments: failing }) },
    clock: t.clock,
  };
  const { fastify } = await createHttpServer({
    observeRefusal,
    app,
    metrics: createMetrics(),
    callbackRoute: callbackRoute(app),
    extend: async (extended) => {
      await registerCallbackRoutes(extended, app);
      registerSandboxPage(extended, sandbox as unknown as Sandbox);
    },
  });
  await fastify.ready();
  server = fastify;
  const made = { name: 'away', description: null, expiresAt: null };
  const { token } = await createApiToken(t.app, { kind: 'system', name: 'test' }, made);
  client = clientOf(server, { 'x-api-key': token });
});
afterAll(() => server?.close());

type Call = ['GET' | 'POST', string, unknown, ApiRequest?];
const starsPaid = {
  update_id: 1,
  message: {
    message_id: 1,
    date: 1_700_000_000,
    chat: { id: 5, type: 'private' },
    from: { id: 5, is_bot: false, first_name: 'Payer' },
    successful_payment: {
      currency: 'XTR',
      total_amount: 10,
      invoice_payload: 'topup',
      telegram_payment_charge_id: 'charge-1',
      provider_payment_charge_id: '',
    },
  },
};
const CALLS: Call[] = [
  ['GET', '/tokens', undefined],
  ['POST', '/users', { messenger_id: 5 }],
  ['GET', '/trpc/web.auth.list', undefined],
  ['POST', '/scripted-webhook', { id: 'event-1', payment: 'p-1' }, { headers: { 'x-signature': 'genuine' } }],
  ['POST', '/messenger-webhook', starsPaid, { headers: { 'x-telegram-bot-api-secret-token': WEBHOOK_SECRET } }],
  ['GET', '/sandbox/api/state', undefined],
];

describe.each(FAULTS)('%s', (_name, make) => {
  test.each(CALLS)('%s %s is 503 with Retry-After', async (method, path, body, request) => {
    fault = make;
    attempts = 0;
    lines = [];
    const reply = await client.send(method, path, body, request);
    expect(attempts).toBeGreaterThan(0);
    expect(reply.status).toBe(503);
    expect(reply.headers['retry-after']).toBe('5');
    expect(reply.text).toContain('Service temporarily unavailable. Please try again later.');
    // Spec 10 F3: an outage fails every request, so each has one line besides that of the request itself.
    const messages = lines.map((line) => JSON.parse(line) as { msg: string }).filter(({ msg }) => msg !== 'request');
    expect(messages).toMatchObject([{ msg: 'request refused', code: 'database_unavailable' }]);
  });
});

test('a person who opens a page that needs it gets one without the reason', async () => {
  const path = '/sandbox/api/state';
  fault = FAULTS[0]![1];
  lines = [];
  const headers = { accept: 'text/html,*/*;q=0.8', 'sec-fetch-mode': 'navigate', 'accept-language': 'en' };
  const page = await client.get(path, { headers });
  expect([page.status, page.headers['retry-after'], page.headers['content-type']]).toEqual([
    503,
    '5',
    'text/html; charset=utf-8',
  ]);
  expect(page.text).toContain('Temporarily unavailable');
  expect(page.text).not.toMatch(/database|connection|<script/i);
  expect(page.headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-/);
  expect((await client.get(path)).body).toMatchObject({ detail: 'Service temporarily unavailable. Please try again later.' });
});

test('pages that need no database are served', async () => {
  for (const path of ['/health', '/livez', '/docs', '/openapi.json', '/sandbox', '/health/payment-webhooks']) {
    attempts = 0;
    const reply = await client.get(path);
    expect([path, attempts]).toEqual([path, 0]);
    expect([path, reply.status]).toEqual([path, 200]);
  }
});

test('a fake system that cannot reach its state is away, too', async () => {
  const store = databaseSandboxStore({ sql: () => Promise.reject(FAULTS[0]![1]()) } as unknown as Db);
  const fake = await startLoopbackServer(async () => jsonReply(200, await store.load('panel')));
  const reply = await fetch(fake.url);
  expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '5']);
  await fake.close();
});
