import { createHmac } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeState } from '../../src/core/service-state.ts';
import { type ApiClient, type ApiReply, clientOf, testServer } from '../support/api.ts';
import { aUser, type BuiltUser } from '../support/builders.ts';
import { initDataOf } from '../support/init-data.ts';
import { aMembership, anOffer, aServer, aStoredSubscription, aTariff, rowOf, topUp } from '../support/sale-samples.ts';
import { readCart } from '../support/saved-cart.ts';
import { storeRow } from '../support/stored-rows.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { TEST_BOT_TOKEN } from '../support/test-sandbox.ts';

let t: TestApp;
let server: FastifyInstance;
let api: ApiClient;
beforeAll(async () => {
  t = await testApp();
  server = await testServer(t.app);
  api = clientOf(server);
});
afterAll(() => server.close());

const PURCHASE = '/miniapp/subscription/tariff/purchase';
const PREVIEW = '/miniapp/subscription/tariff/switch/preview';
const SWITCH = '/miniapp/subscription/tariff/switch';
const TARIFFS = '/miniapp/subscription/tariffs';
const MAINTENANCE = '/miniapp/maintenance/status';
const DAY = 86_400_000;

async function aPayer(kopeks: number): Promise<{ user: BuiltUser; initData: string }> {
  const user = await aUser(t.app, { language: 'en' });
  if (kopeks > 0) await topUp(t.app, user.id, kopeks);
  return { user, initData: initDataOf(t, user) };
}

/** Signs any pairs, to reach forms that the messenger never sends. */
function signed(pairs: [string, string][]): string {
  const text = [...pairs].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, value]) => `${key}=${value}`);
  const key = createHmac('sha256', 'WebAppData').update(TEST_BOT_TOKEN).digest();
  return new URLSearchParams([...pairs, ['hash', createHmac('sha256', key).update(text.join('\n')).digest('hex')]]).toString();
}
const seconds = () => String(Math.floor(t.clock.now().getTime() / 1_000));

describe('identity by signed initData in the body', () => {
  const refused = async (initData: string): Promise<[ApiReply, ApiReply]> => [
    await api.post(MAINTENANCE, { initData }),
    await api.post(TARIFFS, { initData }),
  ];

  test('spec 02 H24: each error in the data has its own code and is 401, in both forms', async () => {
    const { user, initData } = await aPayer(0);
    const name = JSON.stringify({ id: user.messengerId });
    const cases: [string, string][] = [
      ['', 'Missing initData'],
      ['nonsense', 'Missing init data signature'],
      ['%E0%A4%A&hash=zz', 'Invalid init data signature'],
      [initData.replace('Ann', 'Bob'), 'Invalid init data signature'],
      [initData.replace(/hash=[0-9a-f]{4}/, 'hash=0000'), 'Invalid init data signature'],
      [signed([['user', name]]), 'Invalid auth_date value'],
      [
        signed([
          ['auth_date', 'soon'],
          ['user', name],
        ]),
        'Invalid auth_date value',
      ],
      [initDataOf(t, user, -400), 'Invalid auth_date value'],
      [initDataOf(t, user, 86_401), 'Init data is too old'],
      [
        signed([
          ['auth_date', seconds()],
          ['user', '{"id"'],
        ]),
        'Invalid user payload',
      ],
    ];
    for (const [text, message] of cases) {
      const [plain, coded] = await refused(text);
      expect(plain, text).toMatchObject({ status: 401, body: { detail: message } });
      expect(coded, text).toMatchObject({ status: 401, body: { detail: { code: 'unauthorized', message } } });
    }
    expect((await api.post(TARIFFS, { initData: initDataOf(t, user, 86_400) })).status).toBe(200);
  });

  test('data without a user is 400, an unknown user 404, a blocked one 403', async () => {
    const [noUser] = await refused(signed([['auth_date', seconds()]]));
    expect(noUser).toMatchObject({ status: 400, body: { detail: 'Invalid messenger user payload' } });
    const [, noId] = await refused(
      signed([
        ['auth_date', seconds()],
        ['user', '{"first_name":"Ann"}'],
      ]),
    );
    expect(noId).toMatchObject({
      status: 400,
      body: { detail: { code: 'invalid_user', message: 'Invalid messenger user identifier' } },
    });
    const [plain, coded] = await refused(initDataOf(t, { messengerId: 4_000_000_001 }));
    expect(plain).toMatchObject({ status: 404, body: { detail: 'User not found' } });
    expect(coded).toMatchObject({ status: 404, body: { detail: { code: 'user_not_found', message: 'User not found' } } });
    const { user, initData } = await aPayer(0);
    await t.app.db.sql(`UPDATE users SET status = 'blocked' WHERE id = $1::int RETURNING id`, [user.id]);
    expect(await api.post(TARIFFS, { initData })).toMatchObject({ status: 403, body: { detail: { code: 'user_not_active' } } });
  });

  test('without a bot token signed data is refused', async () => {
    const unset = await testApp({ environment: { BOT_TOKEN: '' }, clock: t.clock });
    const app = {
      ...unset.app,
      ports: {
        ...unset.app.ports,
        messengerIdentity: {
          ...unset.app.ports.messengerIdentity,
          readInitData: () => ({ fault: 'bot_token_missing' as const }),
        },
      },
    };
    const other = await testServer(app);
    const { initData } = await aPayer(0);
    expect(await clientOf(other).post(TARIFFS, { initData })).toMatchObject({
      status: 401,
      body: { detail: { code: 'unauthorized', message: 'Bot token is not configured' } },
    });
    await other.close();
  });

  test('a 422 does not repeat the credential, over HTTP or tRPC, but repeats other fields', async () => {
    const { initData } = await aPayer(0);
    const bodies: unknown[] = [{ initData }, { initData, tariffId: 'x', periodDays: 1.5 }, { initData, tariffId: null }];
    for (const body of bodies) {
      const reply = await api.post(PURCHASE, body);
      expect(reply.status).toBe(422);
      expect(reply.text).not.toContain('hash');
      expect(reply.body.detail.map((issue: { loc: string[] }) => issue.loc[1])).toContain('tariffId');
    }
    expect((await api.post(PURCHASE, { initData, periodDays: 30 })).body.detail[0]).toMatchObject({
      type: 'missing',
      loc: ['body', 'tariffId'],
      input: { initData: '[redacted]', periodDays: 30 },
    });
    const trpc = await api.post('/trpc/miniapp.purchaseTariff', { initData, periodDays: 30 });
    expect(trpc.body.error.data.status).toBe(422);
    expect(trpc.text).not.toContain('hash');
  });

  test('spec 02 H6: maintenance stops all but the question after it', async () => {
    const { initData } = await aPayer(0);
    expect((await api.post(MAINTENANCE, { initData })).body).toEqual({ isActive: false, message: null, reason: null });
    await writeState(t.app.db, 'maintenance', { isActive: true, isAuto: false, reason: 'works' });
    await t.app.cache.forget(t.app, ['maintenance']);
    try {
      for (const [path, body] of [
        [TARIFFS, { initData }],
        [PURCHASE, { initData, tariffId: 1, periodDays: 30 }],
        [SWITCH, { init_data: initData, tariff_id: 1 }],
      ] as const) {
        expect(await api.post(path, body)).toMatchObject({
          status: 503,
          body: { detail: { code: 'maintenance', reason: 'works' } },
        });
      }
      expect((await api.post(MAINTENANCE, { initData })).body).toMatchObject({ isActive: true, reason: 'works' });
    } finally {
      await t.app.db.sql(`DELETE FROM service_state WHERE key = 'maintenance' RETURNING key`);
      await t.app.cache.forget(t.app, ['maintenance']);
    }
  });

  test('spec 02 H6: a restricted user buys nothing', async () => {
    const { user, initData } = await aPayer(0);
    await t.app.db.sql('UPDATE users SET restriction_subscription = true WHERE id = $1::int RETURNING id', [user.id]);
    const tariffId = await aTariff(t.app);
    expect(await api.post(PURCHASE, { initData, tariffId, periodDays: 30 })).toMatchObject({
      status: 403,
      body: { detail: { code: 'subscription_restricted' } },
    });
  });
});

describe('tariff purchase', () => {
  test('charges, starts the subscription and answers its eight fields, once for a repeat by key', async () => {
    const { user, initData } = await aPayer(50_000);
    const tariffId = await aTariff(t.app, { name: 'Gold' });
    const body = { initData, tariffId, periodDays: 30 };
    const keyed = api.with({ 'idempotency-key': `miniapp ${user.id}` });
    const bought = await keyed.post(PURCHASE, body);
    const { id } = await rowOf<{ id: number }>(t.app, 'SELECT id FROM subscriptions WHERE user_id = $1::int', [user.id]);
    expect(bought).toMatchObject({ status: 200 });
    expect(bought.body).toEqual({
      success: true,
      message: 'The plan “Gold” is on',
      subscription_id: id,
      tariff_id: tariffId,
      tariff_name: 'Gold',
      new_end_date: new Date(t.clock.now().getTime() + 30 * DAY).toISOString(),
      balance_kopeks: 20_000,
      balance_label: '200 ₽',
    });
    // The same order with fresh identity data is the same request: the credential is no part of it.
    const again = await keyed.post(PURCHASE, { ...body, initData: initDataOf(t, user, 60) });
    expect(again.body).toEqual(bought.body);
    expect((await keyed.post(PURCHASE, { ...body, periodDays: 90 })).status).toBe(422);
    const stored = await rowOf<{ text: string }>(
      t.app,
      'SELECT string_agg(k::text, chr(10)) AS text FROM idempotency_keys k WHERE actor = $1',
      [`user:${user.id}`],
    );
    expect(stored.text).not.toContain('hash=');
  });

  test('both spellings are taken', async () => {
    const { initData } = await aPayer(30_000);
    const tariff_id = await aTariff(t.app);
    expect((await api.post(PURCHASE, { init_data: initData, tariff_id, period_days: 30 })).status).toBe(200);
  });

  test('spec 02 H1: a period that is not for sale, negative or huge, is refused and grants nothing', async () => {
    const { user, initData } = await aPayer(50_000);
    const tariffId = await aTariff(t.app);
    for (const periodDays of [31, 0, -30, 3_650_000, Number.MAX_SAFE_INTEGER]) {
      expect(await api.post(PURCHASE, { initData, tariffId, periodDays })).toMatchObject({
        status: 400,
        body: { detail: { code: 'period_unavailable' } },
      });
    }
    const row = await rowOf(t.app, 'SELECT count(*)::int AS count FROM subscriptions WHERE user_id = $1::int', [user.id]);
    expect(row).toEqual({ count: 0 });
  });

  test('insufficient funds, unknown and unavailable tariffs, classic mode', async () => {
    const { user, initData } = await aPayer(1);
    const tariffId = await aTariff(t.app);
    const poor = await api.post(PURCHASE, { initData, tariffId, periodDays: 30 });
    expect(poor.status).toBe(402);
    expect(poor.body.detail).toEqual({
      code: 'insufficient_funds',
      error_code: 'insufficient_funds',
      message: expect.any(String),
      missing_amount: 29_999,
    });
    expect(await readCart(t.app, user.id)).toBeNull();
    expect(await api.post(PURCHASE, { initData, tariffId: 2_147_000_000, periodDays: 30 })).toMatchObject({
      status: 404,
      body: { detail: { code: 'tariff_not_found' } },
    });
    const groupId = await aMembership(t.app, (await aUser(t.app)).id, {});
    await storeRow(t.app, 'TariffPromoGroup', { tariffId, promoGroupId: groupId });
    expect(await api.post(PURCHASE, { initData, tariffId, periodDays: 30 })).toMatchObject({
      status: 403,
      body: { detail: { code: 'tariff_not_available' } },
    });
    const classic = await testApp({ environment: { SALES_MODE: 'classic' }, clock: t.clock });
    const other = await testServer(classic.app);
    expect(await clientOf(other).post(PURCHASE, { initData, tariffId, periodDays: 30 })).toMatchObject({
      status: 400,
      body: { detail: { code: 'tariffs_mode_disabled' } },
    });
    expect((await clientOf(other).post(TARIFFS, { initData })).body.detail.code).toBe('tariffs_mode_disabled');
    await other.close();
  });
});

describe('tariffs', () => {
  test('spec 02 H5: what is listed is what purchase and switch charge', async () => {
    const { user, initData } = await aPayer(1_000_000);
    await aMembership(t.app, user.id, {
      period_discounts: { 30: 10 },
      device_discount_percent: 50,
      traffic_discount_percent: 20,
    });
    await anOffer(t.app, user.id, 5);
    const server = await aServer(t.app, { display_name: 'Oslo' });
    const currentId = await aTariff(t.app, {
      name: 'Held',
      allowed_squads: [server.uuid],
      device_price_kopeks: 4_000,
      traffic_topup_enabled: true,
      traffic_topup_packages: { 10: 5_000, 900: 9_000 },
      max_topup_traffic_gb: 150,
    });
    const otherId = await aTariff(t.app, { name: 'Other', period_prices: { 30: 60_000 } });
    await aStoredSubscription(t.app, user.id, { tariff_id: currentId, device_limit: 3 });
    const list = (await api.post(TARIFFS, { initData })).body;
    expect(list).toMatchObject({ success: true, sales_mode: 'tariffs', balance_kopeks: 1_000_000, balance_label: '10000 ₽' });
    const of = (id: number) => list.tariffs.find((tariff: { id: number }) => tariff.id === id);
    expect(of(currentId)).toMatchObject({
      is_current: true,
      servers: [{ uuid: server.uuid, name: 'Oslo' }],
      servers_count: 1,
      switch_cost_kopeks: null,
      device_limit: 3,
    });
    expect(list.current_tariff).toMatchObject({
      id: currentId,
      // 30,000 less 10 % of the group and 5 % of the offer (spec 10 X14).
      monthly_price_kopeks: 25_650,
      traffic_topup_packages: [{ gb: 10, price_kopeks: 4_000, original_price_kopeks: 5_000, discount_percent: 20 }],
      available_topup_gb: 50,
    });
    expect(list.promo_group).toMatchObject({ device_discount_percent: 50, period_discounts: { 30: 10 } });
    const preview = await api.post(PREVIEW, { init_data: initData, tariff_id: otherId });
    expect(preview.body).toMatchObject({ upgrade_cost_kopeks: of(otherId).switch_cost_kopeks, message: null, can_switch: true });
    expect(of(otherId)).toMatchObject({ is_upgrade: true, is_switch_free: false });
    const shown = of(currentId).periods[0];
    // 27000 + half of 2 devices at 40 roubles, 5 % off.
    expect(shown).toMatchObject({ days: 30, price_kopeks: 29_450, label: '1 month', discount_percent: 15 });
    const bought = await api.post(PURCHASE, { initData, tariffId: currentId, periodDays: 30 });
    expect(bought.body.balance_kopeks).toBe(1_000_000 - shown.price_kopeks);
  });
});

describe('tariff switch', () => {
  test('preview and switch as in the cabinet, with the field names of the mini-app', async () => {
    const { user, initData } = await aPayer(10_000);
    const oldId = await aTariff(t.app, { name: 'Old' });
    await aStoredSubscription(t.app, user.id, { tariff_id: oldId });
    const newId = await aTariff(t.app, { name: 'New', period_prices: { 30: 60_000 } });
    const body = { init_data: initData, tariff_id: newId };
    expect((await api.post(PREVIEW, body)).body).toEqual({
      can_switch: true,
      current_tariff_id: oldId,
      current_tariff_name: 'Old',
      new_tariff_id: newId,
      new_tariff_name: 'New',
      remaining_days: 10,
      upgrade_cost_kopeks: 10_000,
      upgrade_cost_label: '100 ₽',
      balance_kopeks: 10_000,
      balance_label: '100 ₽',
      has_enough_balance: true,
      missing_amount_kopeks: 0,
      // Spec 10 X24.
      missing_amount_label: '',
      is_upgrade: true,
      message: null,
      quote: expect.any(String),
    });
    const keyed = api.with({ 'idempotency-key': `switch ${user.id}` });
    const done = await keyed.post(SWITCH, body);
    expect(done.body).toEqual({
      success: true,
      message: 'You are now on the plan “New”',
      tariff_id: newId,
      tariff_name: 'New',
      charged_kopeks: 10_000,
      balance_kopeks: 0,
      balance_label: '0 ₽',
    });
    expect((await keyed.post(SWITCH, body)).body).toEqual(done.body);
    expect((await api.post(SWITCH, body)).body.detail).toMatchObject({ code: 'same_tariff' });
  });

  test.each([
    [null, 400, 'no_subscription'],
    [{ end_date: new Date(0) }, 400, 'subscription_inactive'],
    [{ status: 'disabled' }, 400, 'subscription_inactive'],
    [{}, 402, 'insufficient_funds'],
  ])('%j is %i %s', async (columns, status, code) => {
    const { user, initData } = await aPayer(0);
    if (columns) await aStoredSubscription(t.app, user.id, { tariff_id: await aTariff(t.app), ...columns });
    const tariff_id = await aTariff(t.app, { period_prices: { 30: 60_000 } });
    expect(await api.post(SWITCH, { init_data: initData, tariff_id })).toMatchObject({ status, body: { detail: { code } } });
  });
});
