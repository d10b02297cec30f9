import type { FastifyInstance } from 'fastify';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { callbackRoute, registerCallbackRoutes } from '../../src/composition/callback-routes.ts';
import { createHttpServer } from '../../src/composition/http-server.ts';
import type { App } from '../../src/core/app.ts';
import { createMetrics } from '../../src/core/metrics.ts';
import { definitionOf, settingKeys } from '../../src/domain/settings/catalogue/catalogue.ts';
import { listCallbackPathProblems } from '../../src/domain/settings/change-setting.ts';
import { refreshSettings } from '../../src/domain/settings/settings-store.ts';
import { type ActorClient, adminClient } from '../support/actors.ts';
import { clientOf } from '../support/api.ts';
import { PANEL_PATH, PANEL_WEBHOOK_ON } from '../support/panel-events.ts';
import { observeRefusal } from '../support/refusal-recorder.ts';
import { testApp } from '../support/test-app.ts';

/** Paths that settings give to callbacks (spec 06 section 17, hazard 13). */
const ADMIN = '/cabinet/admin/settings';
/** Any operation of ours, and its own answer to a call without a credential. */
const OPERATION_PATH = '/users';
const ITS_ANSWER = { status: 401, body: { detail: 'Missing API key' } };

async function serverOf(app: App, onRefused?: () => void): Promise<FastifyInstance> {
  const { fastify } = await createHttpServer({
    observeRefusal,
    app,
    metrics: createMetrics(),
    callbackRoute: callbackRoute(app),
    extend: (server) => registerCallbackRoutes(server, app, onRefused),
  });
  await fastify.ready();
  return fastify;
}

afterEach(async () => {
  await (await testApp()).app.db.sql('DELETE FROM system_settings');
});

describe('given by the environment', () => {
  it.each([
    ['WEBHOOK_PATH', OPERATION_PATH],
    ['YOOKASSA_WEBHOOK_PATH', OPERATION_PATH],
    ['WEBHOOK_PATH', `${OPERATION_PATH}/`],
  ])('%s = %s does not take the door away', async (key, path) => {
    const { app } = await testApp({ environment: { [key]: path } });
    const server = await serverOf(app);
    for (const url of [OPERATION_PATH, `${OPERATION_PATH}/`]) {
      expect(await clientOf(server).post(url, {})).toMatchObject(ITS_ANSWER);
    }
    expect(listCallbackPathProblems(app)).toEqual([{ key, problem: 'Value must not be a path that the service itself answers' }]);
    await server.close();
  });

  it('a path that two callbacks share is reported', async () => {
    const { app } = await testApp({ environment: { WEBHOOK_PATH: '/hook', WATA_WEBHOOK_PATH: '/hook/' } });
    await (await serverOf(app)).close();
    expect(listCallbackPathProblems(app).map(({ key }) => key)).toEqual(['WATA_WEBHOOK_PATH', 'WEBHOOK_PATH']);
  });
});

describe('set by an administrator', () => {
  let app: App;
  let server: FastifyInstance;
  let admin: ActorClient;
  beforeAll(async () => {
    ({ app } = await testApp());
    server = await serverOf(app);
    admin = await adminClient(app, server, ['settings:*']);
    return () => server.close();
  });
  beforeEach(() => refreshSettings(app));
  const put = (key: string, value: string) => admin.put(`${ADMIN}/${key}`, { value });

  it.each([
    ['WEBHOOK_PATH', OPERATION_PATH],
    ['WEBHOOK_PATH', '/users/17'],
    ['WEBHOOK_PATH', '/trpc/admin.settings.update'],
    ['WEBHOOK_PATH', '/docs'],
    ['WEBHOOK_PATH', '/metrics'],
    ['WEBHOOK_PATH', '/health/payment-webhooks'],
    ['CRYPTOBOT_WEBHOOK_PATH', '/cabinet/auth/email/login/'],
    ['YOOKASSA_WEBHOOK_PATH', '/messenger-webhook'],
  ])('%s = %s is refused: an operation answers there', async (key, value) => {
    const detail = 'Value must not be a path that the service itself answers';
    expect(await put(key, value)).toMatchObject({ status: 400, body: { detail } });
    expect(await clientOf(server).post(OPERATION_PATH, {})).toMatchObject(ITS_ANSWER);
  });

  it('a path with other callbacks is refused, on the way back to the original one as well', async () => {
    const detail = 'Value must not be the path of YOOKASSA_WEBHOOK_PATH';
    expect(await put('WEBHOOK_PATH', '/yookassa-webhook/')).toMatchObject({ status: 400, body: { detail } });
    expect((await put('WEBHOOK_PATH', '/elsewhere')).status).toBe(200);
    expect((await put('YOOKASSA_WEBHOOK_PATH', '/webhook')).status).toBe(200);
    expect(await admin.delete(`${ADMIN}/WEBHOOK_PATH`)).toMatchObject({ status: 400, body: { detail } });
    expect((await admin.delete(`${ADMIN}/YOOKASSA_WEBHOOK_PATH`)).status).toBe(200);
    expect((await admin.delete(`${ADMIN}/WEBHOOK_PATH`)).status).toBe(200);
  });

  it('a free path counts at once, with and without a slash at its end', async () => {
    expect((await put('WEBHOOK_PATH', '/hooks/messenger/')).status).toBe(200);
    for (const url of ['/hooks/messenger', '/hooks/messenger/', '/messenger-webhook']) {
      expect((await clientOf(server).post(url, {})).status, url).toBe(401);
    }
    expect((await put('WEBHOOK_PATH', '/messenger-webhook')).status).toBe(200);
    expect((await clientOf(server).post('/hooks/messenger', {})).status).toBe(404);
  });

  it('every default is free', () => {
    expect(listCallbackPathProblems(app)).toEqual([]);
    expect(settingKeys.filter((key) => definitionOf(key).format === 'route-path').length).toBeGreaterThan(10);
  });
});

describe('what arrives at the paths of callbacks', () => {
  const PROVIDER = '/yookassa-webhook';
  const MESSENGER = '/messenger-webhook';
  const PROVIDER_KEYS = {
    YOOKASSA_ENABLED: 'true',
    YOOKASSA_SHOP_ID: '123456',
    YOOKASSA_SECRET_KEY: 'live_0123456789abcdefghij',
  };
  const MISSING = { detail: 'Not Found' };
  const TOO_LARGE = { detail: 'Request body too large' };
  let app: App;
  let server: FastifyInstance;
  let refusals = 0;
  beforeAll(async () => {
    ({ app } = await testApp({ environment: { ...PANEL_WEBHOOK_ON, ...PROVIDER_KEYS } }));
    server = await serverOf(app, () => {
      refusals += 1;
    });
    return () => server.close();
  });
  const send = (method: 'GET' | 'HEAD' | 'OPTIONS' | 'PUT' | 'POST', url: string, bytes = 0) =>
    server.inject({ method, url, headers: { 'content-type': 'text/csv' }, payload: Buffer.alloc(bytes, 'x') });

  it.each([
    ['GET', PROVIDER, 0, 200, { status: 'ok', service: 'yookassa_webhook', enabled: true }],
    ['HEAD', PROVIDER, 0, 200, null],
    // The provider's own answer, not that of the pages' CORS rules.
    ['OPTIONS', PROVIDER, 0, 200, { status: 'ok' }],
    ['PUT', PROVIDER, 10, 405, { detail: 'Method Not Allowed' }],
    ['POST', PROVIDER, 64 * 1024, 415, { status: 'error', reason: 'unsupported_content_type' }],
    ['POST', PROVIDER, 64 * 1024 + 1, 413, TOO_LARGE],
    ['GET', PANEL_PATH, 0, 200, { status: 'ok', service: 'vpnpanel_webhook', enabled: true }],
    ['HEAD', PANEL_PATH, 0, 200, null],
    ['OPTIONS', PANEL_PATH, 0, 404, MISSING],
    ['PUT', PANEL_PATH, 10, 404, MISSING],
    ['POST', PANEL_PATH, 1024 * 1024 + 1, 413, TOO_LARGE],
    ['GET', MESSENGER, 0, 404, MISSING],
    ['HEAD', MESSENGER, 0, 404, null],
    ['PUT', MESSENGER, 10, 404, MISSING],
    ['POST', MESSENGER, 1024 * 1024, 401, { status: 'error', reason: 'invalid_secret' }],
    ['POST', MESSENGER, 1024 * 1024 + 1, 413, TOO_LARGE],
  ] as const)('%s %s with %i bytes: %i', async (method, url, bytes, status, body) => {
    const reply = await send(method, url, bytes);
    expect([reply.statusCode, reply.body === '' ? null : reply.json()]).toEqual([status, body]);
    if (status === 405) expect(reply.headers.allow).toBe('POST, GET, OPTIONS');
  });

  it('only callbacks that are answered 5xx are reported as refused', async () => {
    expect(refusals).toBe(0);
    const isClosed = vi.spyOn(app.ports.gate, 'isClosed', 'get').mockReturnValue(true);
    for (const url of [PROVIDER, PANEL_PATH, MESSENGER, OPERATION_PATH, '/health/unified']) {
      expect((await send('POST', url, 10)).statusCode, url).toBe(503);
    }
    isClosed.mockRestore();
    expect(refusals).toBe(3);
  });
});
