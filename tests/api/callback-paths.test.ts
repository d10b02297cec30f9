import type { FastifyInstance } from 'fastify';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { callbackRoute, registerCallbackRoutes } from '../../src/composition/callback-routes.ts';
import { createHttpServer } from '../../src/composition/http-server.ts';
import type { App } from '../../src/core/app.ts';
import { createMetrics } from '../../src/core/metrics.ts';
import { definitionOf, settingKeys } from '../../src/domain/settings/catalogue/catalogue.ts';
import { listCallbackPathProblems } from '../../src/domain/settings/change-setting.ts';
import { refreshSettings } from '../../src/domain/settings/settings-store.ts';
import { type ActorClient, adminClient } from '../support/actors.ts';
import { clientOf } from '../support/api.ts';
import { observeRefusal } from '../support/refusal-recorder.ts';
import { testApp } from '../support/test-app.ts';

/** Paths that settings give to callbacks (spec 06 section 17, hazard 13). */
const ADMIN = '/cabinet/admin/settings';
/** Any operation of ours, and its own answer to a call without a credential. */
const OPERATION_PATH = '/users';
const ITS_ANSWER = { status: 401, body: { detail: 'Missing API key' } };

async function serverOf(app: App): Promise<FastifyInstance> {
  const { fastify } = await createHttpServer({
    observeRefusal,
    app,
    metrics: createMetrics(),
    callbackRoute: callbackRoute(app),
    extend: (server) => registerCallbackRoutes(server, app),
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
