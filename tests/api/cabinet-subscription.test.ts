import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSession } from '../../src/domain/identity/sessions/sessions.ts';
import { type ApiClient, clientOf, testServer } from '../support/api.ts';
import { aBuyer, aServer, aStoredSubscription, aTariff, topUp } from '../support/sale-samples.ts';
import { storeRow } from '../support/stored-rows.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

let t: TestApp;
let server: FastifyInstance;
beforeAll(async () => {
  t = await testApp();
  server = await testServer(t.app);
});
afterAll(() => server.close());

const ROOT = '/cabinet/subscription';

/** A client signed in as this user. */
async function clientFor(test: TestApp, on: FastifyInstance, userId: number): Promise<ApiClient> {
  const { accessToken } = await openSession(test.app, userId);
  return clientOf(on, { authorization: `Bearer ${accessToken}` });
}

async function signedIn(balanceKopeks = 0): Promise<{ userId: number; api: ApiClient }> {
  const { userId } = await aBuyer(t.app, balanceKopeks);
  return { userId, api: await clientFor(t, server, userId) };
}

async function withSettings<T>(
  environment: Record<string, string>,
  run: (clientOfUser: (userId: number) => Promise<ApiClient>) => Promise<T>,
): Promise<T> {
  const other = await testApp({ environment, clock: t.clock });
  const otherServer = await testServer(other.app);
  try {
    return await run((userId) => clientFor(other, otherServer, userId));
  } finally {
    await otherServer.close();
  }
}

describe('GET /cabinet/subscription', () => {
  test('without one is an answer, not an error', async () => {
    const { api } = await signedIn();
    expect(await api.get(ROOT)).toMatchObject({ status: 200, body: { has_subscription: false, subscription: null } });
    expect((await clientOf(server).get(ROOT)).status).toBe(401);
  });

  test('shows every field', async () => {
    const squad = await aServer(t.app, { display_name: 'Amsterdam', country_code: 'NL' });
    const { userId, api } = await signedIn();
    const tariffId = await aTariff(t.app, { name: 'Gold', traffic_reset_mode: 'WEEK' });
    const id = await aStoredSubscription(t.app, userId, {
      tariff_id: tariffId,
      connected_squads: [squad.uuid, 'gone'],
      traffic_used_gb: 12.345,
      purchased_traffic_gb: 5,
      subscription_url: 'https://panel.example.com/sub/x',
    });
    const now = t.clock.now().getTime();
    await storeRow(t.app, 'TrafficPurchase', {
      subscriptionId: id,
      trafficGb: 5,
      expiresAt: new Date(now + 15 * 86_400_000),
      createdAt: new Date(now - 15 * 86_400_000),
    });
    expect((await api.get(ROOT)).body).toEqual({
      has_subscription: true,
      subscription: {
        id,
        status: 'active',
        is_trial: false,
        start_date: new Date(now - 20 * 86_400_000).toISOString(),
        end_date: new Date(now + 10 * 86_400_000).toISOString(),
        days_left: 10,
        hours_left: 0,
        minutes_left: 0,
        time_left_display: '10d 0h',
        traffic_limit_gb: 100,
        traffic_used_gb: 12.35,
        traffic_used_percent: 12.3,
        device_limit: 1,
        connected_squads: [squad.uuid, 'gone'],
        servers: [{ uuid: squad.uuid, name: 'Amsterdam', country_code: 'NL' }],
        autopay_enabled: false,
        autopay_days_before: 3,
        subscription_url: 'https://panel.example.com/sub/x',
        hide_subscription_link: false,
        is_active: true,
        is_expired: false,
        is_limited: false,
        traffic_purchases: [
          {
            id: expect.any(Number),
            traffic_gb: 5,
            expires_at: new Date(now + 15 * 86_400_000).toISOString(),
            created_at: new Date(now - 15 * 86_400_000).toISOString(),
            days_remaining: 15,
            progress_percent: 50,
          },
        ],
        is_daily: false,
        is_daily_paused: false,
        daily_price_kopeks: null,
        next_daily_charge_at: null,
        tariff_id: tariffId,
        tariff_name: 'Gold',
        traffic_reset_mode: 'WEEK',
      },
    });
  });
});

describe('from options to a link', () => {
  test('options, purchase, renewal and link fit together', async () => {
    const { userId, api } = await signedIn(30_000);
    const tariffId = await aTariff(t.app, { name: 'Silver' });
    const options = (await api.get(`${ROOT}/purchase-options`)).body;
    expect(options).toMatchObject({
      sales_mode: 'tariffs',
      has_subscription: false,
      balance_kopeks: 30_000,
      current_tariff_id: null,
    });
    const shown = options.tariffs.find((tariff: { id: number }) => tariff.id === tariffId);
    expect(shown.periods[0]).toMatchObject({ days: 30, price_kopeks: 30_000, price_label: '300 ₽' });
    // Spec 10 X7: the tariff names none, so it is that of the settings.
    const byDefault = { traffic_reset_mode: t.app.settings.get('DEFAULT_TRAFFIC_RESET_STRATEGY') };
    expect(shown).toMatchObject(byDefault);
    expect(await api.get(`${ROOT}/connection-link`)).toMatchObject({ status: 404, body: { detail: 'No subscription found' } });

    const order = { tariff_id: tariffId, period_days: 30 };
    const keyed = api.with({ 'idempotency-key': 'one-purchase' });
    const bought = await keyed.post(`${ROOT}/purchase-tariff`, order);
    expect(bought).toMatchObject({
      status: 200,
      body: { success: true, charged_amount: 30_000, balance_kopeks: 0, subscription: { tariff_id: tariffId, ...byDefault } },
    });
    expect((await keyed.post(`${ROOT}/purchase-tariff`, order)).body).toEqual(bought.body);
    expect((await keyed.post(`${ROOT}/purchase-tariff`, { ...order, period_days: 90 })).status).toBe(422);
    expect(await api.get(`${ROOT}/connection-link`)).toMatchObject({
      status: 404,
      body: { detail: 'Subscription link not yet generated' },
    });

    const [option] = (await api.get(`${ROOT}/renewal-options`)).body;
    expect(option).toEqual({
      period_days: 30,
      price_kopeks: 30_000,
      price_rubles: 300,
      discount_percent: 0,
      original_price_kopeks: null,
      quote: expect.any(String),
    });
    const poor = await api.post(`${ROOT}/renew`, { period_days: 30 });
    expect(poor).toMatchObject({ status: 402 });
    expect(poor.body.detail).toEqual({
      code: 'insufficient_funds',
      error_code: 'insufficient_funds',
      message: 'Not enough money on the balance. 300 ₽ is missing.',
      missing_amount: 30_000,
      cart_saved: true,
      cart_mode: 'extend',
    });
    await topUp(t.app, userId, 30_000);
    const renewed = await api.post(`${ROOT}/renew`, { period_days: 30 });
    const end = new Date(t.clock.now().getTime() + 60 * 86_400_000).toISOString();
    expect(renewed).toMatchObject({ status: 200, body: { new_end_date: end, amount_paid_kopeks: 30_000 } });

    await t.app.db.sql(
      `UPDATE subscriptions SET subscription_url = 'https://panel.example.com/sub/abc' WHERE user_id = $1::int RETURNING id`,
      [userId],
    );
    const link = await api.get(`${ROOT}/connection-link`);
    expect(link.body).toEqual({
      subscription_url: 'https://panel.example.com/sub/abc',
      display_link: 'https://panel.example.com/sub/abc',
      happ_redirect_link: null,
      happ_scheme_link: null,
      connect_mode: 'miniapp_subscription',
      hide_link: false,
      instructions: { steps: [expect.any(String), expect.any(String), expect.any(String), expect.any(String)] },
    });
    await withSettings({ HIDE_SUBSCRIPTION_LINK: 'true' }, async (clientOfUser) => {
      const hidden = (await (await clientOfUser(userId)).get(`${ROOT}/connection-link`)).body;
      expect(hidden).toMatchObject({ subscription_url: null, display_link: null, hide_link: true });
    });
  });

  test.each([
    ['purchase-tariff', { tariff_id: 1 }, 'period_days', 'missing'],
    ['purchase-tariff', { tariff_id: 1, period_days: 0 }, 'period_days', 'greater_than_equal'],
    ['purchase-tariff', { tariff_id: 1, period_days: 3651 }, 'period_days', 'less_than_equal'],
    ['purchase-tariff', { tariff_id: 1, period_days: 30, traffic_gb: -1 }, 'traffic_gb', 'greater_than_equal'],
    ['purchase-tariff', { tariff_id: 1, period_days: 30, traffic_gb: 100_001 }, 'traffic_gb', 'less_than_equal'],
    ['renew', { period_days: 0 }, 'period_days', 'greater_than_equal'],
    ['renew', { period_days: 3651 }, 'period_days', 'less_than_equal'],
  ])('%s with %j is 422', async (path, body, field, type) => {
    const { api } = await signedIn();
    expect(await api.post(`${ROOT}/${path}`, body)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', field], type }] },
    });
  });

  test('a refusal by a rule carries its code', async () => {
    const { api } = await signedIn(500_000);
    const reply = await api.post(`${ROOT}/purchase-tariff`, { tariff_id: await aTariff(t.app), period_days: 31 });
    expect(reply).toMatchObject({ status: 400, body: { detail: { code: 'period_unavailable' } } });
  });

  test('classic mode lists classic options', async () => {
    const { userId } = await signedIn();
    await withSettings({ SALES_MODE: 'classic' }, async (clientOfUser) => {
      expect((await (await clientOfUser(userId)).get(`${ROOT}/purchase-options`)).body).toMatchObject({
        sales_mode: 'classic',
        currency: 'RUB',
      });
    });
  });
});

describe('the rest of the page', () => {
  test('traffic packages of a tariff, the global ones of a subscription without, and none without a subscription (spec 10 X6)', async () => {
    const { userId, api } = await signedIn();
    expect((await api.get(`${ROOT}/traffic-packages`)).body).toEqual([]);
    const classic = await signedIn();
    await aStoredSubscription(t.app, classic.userId, {});
    expect((await classic.api.get(`${ROOT}/traffic-packages`)).body.at(-1)).toMatchObject({
      gb: 0,
      price_kopeks: 20_000,
      price_rubles: 200,
      is_unlimited: true,
    });
    const packages = { 100: 9_000, 10: 1_550, 50: 0 };
    const tariffId = await aTariff(t.app, { traffic_topup_enabled: true, traffic_topup_packages: packages });
    await aStoredSubscription(t.app, userId, { tariff_id: tariffId });
    expect((await api.get(`${ROOT}/traffic-packages`)).body).toEqual([
      { gb: 10, price_kopeks: 1_550, price_rubles: 15.5, is_unlimited: false, quote: expect.any(String) },
      { gb: 100, price_kopeks: 9_000, price_rubles: 90, is_unlimited: false, quote: expect.any(String) },
    ]);
  });

  test('trial terms, and the reason why none is available', async () => {
    await aServer(t.app, { is_trial_eligible: true });
    const { userId, api } = await signedIn();
    expect((await api.get(`${ROOT}/trial`)).body).toEqual({
      is_available: true,
      duration_days: 3,
      traffic_limit_gb: 10,
      device_limit: 2,
      requires_payment: false,
      price_kopeks: 0,
      price_rubles: 0,
      reason_unavailable: null,
    });
    await aStoredSubscription(t.app, userId);
    expect((await api.get(`${ROOT}/trial`)).body).toMatchObject({
      is_available: false,
      reason_unavailable: 'You already have an active subscription',
    });
    await withSettings(
      { TRIAL_PAYMENT_ENABLED: 'true', TRIAL_ACTIVATION_PRICE: '1050', TRIAL_DISABLED_FOR: 'email' },
      async (clientOfUser) => {
        expect((await (await clientOfUser(userId)).get(`${ROOT}/trial`)).body).toMatchObject({
          requires_payment: true,
          price_kopeks: 1_050,
          price_rubles: 10.5,
        });
      },
    );
    await withSettings(
      { TRIAL_PAYMENT_ENABLED: 'true', TRIAL_ACTIVATION_PRICE: '1050', TRIAL_DISABLED_FOR: 'all' },
      async (clientOfUser) => {
        expect((await (await clientOfUser(userId)).get(`${ROOT}/trial`)).body).toMatchObject({
          price_kopeks: 0,
          reason_unavailable: 'Trial is not available for your account type',
        });
      },
    );
  });

  test('autopay is switched, but not on for a daily tariff', async () => {
    const { userId, api } = await signedIn();
    expect(await api.patch(`${ROOT}/autopay`, { enabled: true })).toMatchObject({
      status: 404,
      body: { detail: 'No subscription found' },
    });
    await aStoredSubscription(t.app, userId);
    expect((await api.patch(`${ROOT}/autopay`, { enabled: true, days_before: 7 })).body).toMatchObject({
      autopay_enabled: true,
      autopay_days_before: 7,
    });
    expect((await api.patch(`${ROOT}/autopay`, { enabled: false })).body).toMatchObject({
      autopay_enabled: false,
      autopay_days_before: 7,
    });
    expect((await api.patch(`${ROOT}/autopay`, { enabled: true, days_before: 31 })).status).toBe(422);
    const daily = await aTariff(t.app, { is_daily: true });
    await t.app.db.sql('UPDATE subscriptions SET tariff_id = $2::int WHERE user_id = $1::int RETURNING id', [userId, daily]);
    expect(await api.patch(`${ROOT}/autopay`, { enabled: true })).toMatchObject({
      status: 400,
      body: { detail: 'Autopay is not available for daily subscriptions' },
    });
    expect((await api.patch(`${ROOT}/autopay`, { enabled: false })).status).toBe(200);
  });

  test('client downloads list the platforms that have a link', async () => {
    const { userId, api } = await signedIn();
    expect((await api.get(`${ROOT}/happ-downloads`)).body).toEqual({ platforms: {}, happ_enabled: false });
    await withSettings({ HAPP_DOWNLOAD_LINK_PC: 'https://example.com/pc' }, async (clientOfUser) => {
      expect((await (await clientOfUser(userId)).get(`${ROOT}/happ-downloads`)).body).toEqual({
        platforms: { windows: { name: 'Windows', icon: expect.any(String), link: 'https://example.com/pc' } },
        happ_enabled: true,
      });
    });
  });
});

describe('tariff switch', () => {
  const PREVIEW = `${ROOT}/tariff/switch/preview`;
  const SWITCH = `${ROOT}/tariff/switch`;

  test('preview, switch and its repeat by key, with bounds and credentials', async () => {
    const { userId, api } = await signedIn(20_000);
    await aStoredSubscription(t.app, userId, { tariff_id: await aTariff(t.app, { name: 'Old' }) });
    const newId = await aTariff(t.app, { name: 'New', period_prices: { 30: 60_000 } });
    const body = { tariff_id: newId, period_days: 30 };
    expect(await api.post(PREVIEW, body)).toMatchObject({
      status: 200,
      body: { can_switch: true, upgrade_cost_kopeks: 10_000, balance_kopeks: 20_000, new_tariff_name: 'New', is_upgrade: true },
    });
    const keyed = api.with({ 'idempotency-key': 'switch' });
    const done = await keyed.post(SWITCH, body);
    expect(done).toMatchObject({ status: 200, body: { success: true, charged_kopeks: 10_000, balance_kopeks: 10_000 } });
    expect((await keyed.post(SWITCH, body)).body).toEqual(done.body);
    expect((await keyed.post(SWITCH, { ...body, period_days: 90 })).status).toBe(422);
    expect(await api.post(SWITCH, body)).toMatchObject({ status: 400, body: { detail: 'Already on this tariff' } });

    for (const path of [PREVIEW, SWITCH]) {
      expect((await clientOf(server).post(path, body)).status).toBe(401);
      expect((await api.post(path, { ...body, period_days: 0 })).body.detail[0]).toMatchObject({ type: 'greater_than_equal' });
      expect((await api.post(path, { ...body, traffic_gb: 100_001 })).body.detail[0]).toMatchObject({ type: 'less_than_equal' });
      expect((await api.post(path, { period_days: 30 })).body.detail[0]).toMatchObject({ type: 'missing' });
      expect(await api.post(path, { ...body, tariff_id: 2_147_000_000 })).toMatchObject({ status: 404 });
    }
  });

  test('insufficient funds are 402 with the missing amount', async () => {
    const { userId, api } = await signedIn(1);
    await aStoredSubscription(t.app, userId, { tariff_id: await aTariff(t.app) });
    const tariff_id = await aTariff(t.app, { period_prices: { 30: 60_000 } });
    expect(await api.post(SWITCH, { tariff_id, period_days: 30 })).toMatchObject({
      status: 402,
      body: { detail: { code: 'insufficient_funds', missing_amount: 9_999, message: expect.any(String) } },
    });
  });
});
