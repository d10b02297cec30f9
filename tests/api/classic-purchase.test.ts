import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { userClient } from '../support/actors.ts';
import { clientOf, testServer } from '../support/api.ts';
import { aUser } from '../support/builders.ts';
import { initDataOf } from '../support/init-data.ts';
import { aServer, topUp } from '../support/sale-samples.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

let t: TestApp;
let server: FastifyInstance;
beforeAll(async () => {
  t = await testApp({ environment: { SALES_MODE: 'classic' } });
  server = await testServer(t.app);
  await aServer(t.app);
});
afterAll(() => server.close());

test('cabinet: preview and purchase over HTTP, once per key', async () => {
  const client = await userClient(t.app, server, { language: 'en' });
  await topUp(t.app, client.user.id, 500_000);
  const selection = { period_id: 'days:30', traffic_value: 100, devices: 2 };
  const shown = await client.post('/cabinet/subscription/purchase-preview', { selection });
  expect(shown).toMatchObject({
    status: 200,
    body: {
      can_purchase: true,
      canPurchase: true,
      total_price_kopeks: expect.any(Number),
      totalPriceKopeks: shown.body.total_price_kopeks,
    },
  });
  const keyed = client.with({ 'idempotency-key': 'classic' });
  const bought = await keyed.post('/cabinet/subscription/purchase', { selection });
  expect(bought).toMatchObject({ status: 200, body: { success: true, was_trial_conversion: false } });
  expect(Object.keys(bought.body).sort()).toEqual(['message', 'subscription', 'success', 'was_trial_conversion']);
  expect((await keyed.post('/cabinet/subscription/purchase', { selection })).body).toEqual(bought.body);
  expect((await keyed.post('/cabinet/subscription/purchase', { selection: { ...selection, devices: 3 } })).status).toBe(422);
  for (const path of ['/purchase-preview', '/purchase']) {
    const send = (body: unknown) => client.post(`/cabinet/subscription${path}`, body);
    expect((await send({})).status).toBe(422);
    expect((await send({ selection: { period_days: 0 } })).status).toBe(422);
    expect((await send({ selection: {} })).body.detail).toBe('Invalid or missing subscription period');
    expect((await clientOf(server).post(`/cabinet/subscription${path}`, { selection })).status).toBe(401);
  }
});

test('mini-app: options, preview and purchase, the selection as an object or as fields', async () => {
  const user = await aUser(t.app, { language: 'en' });
  await topUp(t.app, user.id, 500_000);
  const initData = initDataOf(t, user);
  const api = clientOf(server);
  const ROOT = '/miniapp/subscription/purchase';
  const options = await api.post(`${ROOT}/options`, { initData });
  expect(options).toMatchObject({ status: 200, body: { currency: 'RUB', balanceKopeks: 500_000, subscriptionId: null } });
  expect(options.body.data).toMatchObject({ sales_mode: 'classic', periods: expect.any(Array) });
  const one = await api.post(`${ROOT}/preview`, { initData, selection: { period_days: 30, traffic_gb: 100, device_limit: 2 } });
  const two = await api.post(`${ROOT}/preview`, { initData, period: 'days:30', traffic: 100, devices: 2 });
  expect(one).toMatchObject({ status: 200, body: { success: true, balanceKopeks: 500_000 } });
  expect(two.body).toEqual(one.body);
  const bought = await api.post(ROOT, { initData, periodDays: 30, trafficValue: 100, deviceLimit: 2 });
  expect(bought).toMatchObject({
    status: 200,
    body: { success: true, subscriptionId: expect.any(Number), balanceKopeks: 500_000 - one.body.preview.total_price_kopeks },
  });
  const poor = await aUser(t.app);
  expect(await api.post(ROOT, { initData: initDataOf(t, poor), periodDays: 30, traffic: 100 })).toMatchObject({
    status: 402,
    body: { detail: { code: 'insufficient_funds' } },
  });
});

describe('a selection that is not for sale', () => {
  /** Two weeks cost nothing, nor does 5 GB of traffic. */
  const PRICES = { PRICE_14_DAYS: '0', AVAILABLE_SUBSCRIPTION_PERIODS: '14,30', TRAFFIC_PACKAGES_CONFIG: '5:0:true' };
  const REFUSED: readonly [code: string, selection: object][] = [
    ['invalid_period', {}],
    ['invalid_traffic', { period_days: 30, traffic_value: 7 }],
    ['invalid_servers', { period_days: 30, servers: ['nowhere'] }],
    ['calculation_error', { period_days: 14 }],
  ];

  test.each(REFUSED)('is refused as %s, by preview and purchase of both interfaces', async (code, selection) => {
    await t.app.db.sql('UPDATE server_squads SET price_kopeks = 0 RETURNING id');
    const free = await testApp({ environment: { SALES_MODE: 'classic', ...PRICES } });
    const other = await testServer(free.app);
    onTestFinished(() => other.close());
    const client = await userClient(free.app, other, { language: 'en' });
    const initData = initDataOf(free, client.user);
    for (const path of ['/cabinet/subscription/purchase-preview', '/cabinet/subscription/purchase'])
      expect(await client.post(path, { selection })).toMatchObject({ status: 400, body: { detail: expect.any(String) } });
    for (const path of ['/miniapp/subscription/purchase/preview', '/miniapp/subscription/purchase'])
      expect(await clientOf(other).post(path, { initData, selection })).toMatchObject({
        status: 400,
        body: { detail: { code } },
      });
  });

  test('of the mini-app: fields of another type', async () => {
    const initData = initDataOf(t, await aUser(t.app, { language: 'en' }));
    for (const path of ['/miniapp/subscription/purchase/preview', '/miniapp/subscription/purchase'])
      expect(await clientOf(server).post(path, { initData, selection: { period_days: 'thirty' } })).toMatchObject({
        status: 400,
        body: { detail: { code: 'validation_error' } },
      });
  });
});
