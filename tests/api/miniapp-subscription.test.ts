import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { App } from '../../src/core/app.ts';
import type { VpnPanelPort } from '../../src/domain/provisioning/ports.ts';
import { PanelError } from '../../src/domain/provisioning/ports.ts';
import { type ApiClient, clientOf, testServer } from '../support/api.ts';
import { aUser, type BuiltUser, unique } from '../support/builders.ts';
import { initDataOf } from '../support/init-data.ts';
import { aMembership, anOffer, aServer, aStoredSubscription, aTariff, rowOf, topUp } from '../support/sale-samples.ts';
import { storeRow } from '../support/stored-rows.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const ROOT = '/miniapp/subscription';
let t: TestApp;
let server: FastifyInstance;
let api: ApiClient;
let removeDevice: VpnPanelPort['deleteDevice'] = async () => undefined;

beforeAll(async () => {
  t = await testApp();
  const panel: VpnPanelPort = { ...t.app.ports.panel, deleteDevice: (user, hwid) => removeDevice(user, hwid) };
  const app: App = { ...t.app, ports: { ...t.app.ports, panel } };
  server = await testServer(app);
  api = clientOf(server);
});
afterAll(() => server.close());

const inDays = (days: number) => new Date(t.clock.now().getTime() + days * 86_400_000);

interface Caller {
  user: BuiltUser;
  initData: string;
  id: number | null;
}

async function caller(
  kopeks: number,
  columns: Record<string, unknown> | null,
  tariff: Record<string, unknown> = {},
): Promise<Caller> {
  const user = await aUser(t.app, { language: 'en' });
  if (kopeks > 0) await topUp(t.app, user.id, kopeks);
  const withTariff = columns && !('tariff_id' in columns) ? { tariff_id: await aTariff(t.app, tariff), ...columns } : columns;
  const id = withTariff && (await aStoredSubscription(t.app, user.id, withTariff));
  return { user, initData: initDataOf(t, user), id };
}

const balanceOf = async (user: BuiltUser) =>
  (await rowOf<{ balance: number }>(t.app, 'SELECT balance_kopeks AS balance FROM users WHERE id = $1::int', [user.id])).balance;

test.each([
  ['subscription/devices', { devices: 2 }, 'subscription_not_found'],
  ['subscription/traffic', { traffic: 100 }, 'subscription_not_found'],
  ['subscription/servers', { servers: [] }, 'subscription_not_found'],
  ['subscription/settings', {}, 'subscription_not_found'],
  ['subscription/renewal/options', {}, 'subscription_not_found'],
  ['subscription/renewal', { period_days: 30 }, 'subscription_not_found'],
  ['devices/remove', { hwid: 'phone' }, 'no_subscription'],
])('%s needs a subscription', async (path, order, code) => {
  const { initData } = await caller(0, null);
  expect(await api.post(`/miniapp/${path}`, { initData, ...order })).toMatchObject({ status: 404, body: { detail: { code } } });
});

describe('the guard of paid subscriptions', () => {
  test.each([
    ['no subscription', null, 404, 'subscription_not_found'],
    ['a trial', { is_trial: true }, 403, 'paid_subscription_required'],
    ['a disabled one', { status: 'disabled' }, 403, 'subscription_disabled'],
    ['a limited one', { status: 'limited' }, 403, 'traffic_exhausted'],
    ['an ended one', { end_date: new Date(0) }, 403, 'subscription_inactive'],
  ])('%s', async (_name, columns, status, code) => {
    const { initData } = await caller(0, columns);
    for (const [path, body] of [
      ['/autopay', { initData, enabled: true }],
      ['/traffic-topup', { initData, gb: 10 }],
    ] as const) {
      expect(await api.post(ROOT + path, body)).toMatchObject({ status, body: { detail: { code } } });
    }
  });

  test('a given id must be the id of the user', async () => {
    const { initData, id } = await caller(0, {});
    const { id: foreign } = await caller(0, {});
    const send = (subscriptionId: number | null) => api.post(`${ROOT}/autopay`, { initData, enabled: true, subscriptionId });
    expect((await send(0)).body.detail.code).toBe('invalid_subscription_id');
    expect(await send(foreign)).toMatchObject({ status: 403, body: { detail: { code: 'subscription_mismatch' } } });
    expect((await send(id)).status).toBe(200);
    expect((await api.post(`${ROOT}/autopay`, { init_data: initData, subscription_id: id, days_before: 9 })).body).toMatchObject({
      autopay_days_before: 9,
    });
  });
});

describe('autopay', () => {
  test('is switched with days within bounds, while nothing and negative days keep the lead', async () => {
    const { initData, id } = await caller(0, { autopay_days_before: 5 });
    const send = (body: object) => api.post(`${ROOT}/autopay`, { initData, ...body });
    expect((await send({ enabled: true, daysBefore: -1 })).body).toMatchObject({
      success: true,
      subscriptionId: id,
      autopay_enabled: true,
      autopay_days_before: 5,
      autopay_days_options: [1, 3, 5, 7, 14],
      autopay: { enabled: true, default_days_before: 5 },
    });
    expect((await send({ daysBefore: 30 })).body).toMatchObject({ autopay_enabled: true, autopay_days_before: 30 });
    expect((await send({ daysBefore: 31 })).body.detail[0]).toMatchObject({
      type: 'less_than_equal',
      loc: ['body', 'daysBefore'],
    });
    expect((await send({ daysBefore: 0 })).status).toBe(422);
    const daily = await caller(0, {}, { is_daily: true, daily_price_kopeks: 100 });
    expect(await api.post(`${ROOT}/autopay`, { initData: daily.initData, enabled: true })).toMatchObject({
      status: 400,
      body: { detail: { code: 'autopay_not_available_for_daily' } },
    });
  });
});

describe('trial', () => {
  test('starts once', async () => {
    await aServer(t.app, { is_trial_eligible: true });
    const { initData, user } = await caller(700, null);
    const started = await api.post(`${ROOT}/trial`, { initData });
    expect(started).toMatchObject({ status: 200 });
    expect(started.body).toEqual({
      success: true,
      message: 'The trial has started, days: 3',
      subscriptionId: expect.any(Number),
      trialStatus: 'activated',
      trialDurationDays: 3,
      chargedAmountKopeks: null,
      chargedAmountLabel: null,
      balanceKopeks: 700,
      balanceLabel: '7 ₽',
    });
    expect(await api.post(`${ROOT}/trial`, { initData })).toMatchObject({
      status: 400,
      body: { detail: { code: 'subscription_exists' } },
    });
    expect(await balanceOf(user)).toBe(700);
  });

  test('a paid one returns the missing amount', async () => {
    await aServer(t.app, { is_trial_eligible: true });
    const environment = { TRIAL_PAYMENT_ENABLED: 'true', TRIAL_ACTIVATION_PRICE: '1000' };
    const paid = await testServer((await testApp({ environment, clock: t.clock })).app);
    const poor = await caller(400, null);
    const refused = await clientOf(paid).post(`${ROOT}/trial`, { initData: poor.initData });
    expect(refused).toMatchObject({
      status: 402,
      body: {
        detail: {
          code: 'insufficient_funds',
          missing_amount_kopeks: 600,
          required_amount_kopeks: 1_000,
          balance_kopeks: 400,
        },
      },
    });
    await paid.close();
  });
});

describe('renewal', () => {
  test('options and renewal agree, and the last number of the id is the period', async () => {
    const { initData, user, id } = await caller(80_000, {});
    await aMembership(t.app, user.id, { period_discounts: { 90: 25 } });
    const options = (await api.post(`${ROOT}/renewal/options`, { initData })).body;
    expect(options).toMatchObject({
      success: true,
      subscriptionId: id,
      currency: 'RUB',
      balanceKopeks: 80_000,
      isTrial: false,
      salesMode: 'tariffs',
      missingAmountKopeks: null,
      autopay_days_options: [1, 3, 7, 14],
    });
    const [month, quarter] = options.periods;
    expect(month).toMatchObject({ days: 30, priceKopeks: 30_000, isRecommended: false, title: '1 month' });
    expect(quarter).toMatchObject({
      days: 90,
      priceKopeks: 60_000,
      originalPriceKopeks: 80_000,
      discountPercent: 25,
      isRecommended: true,
    });
    expect(options.defaultPeriodId).toBe(quarter.id);
    expect(quarter.id).toMatch(/^tariff_\d+_90$/);
    const keyed = api.with({ 'idempotency-key': `renew ${user.id}` });
    const renewed = await keyed.post(`${ROOT}/renewal`, { initData, periodId: quarter.id });
    expect(renewed.body).toMatchObject({
      success: true,
      subscriptionId: id,
      balanceKopeks: 20_000,
      balanceLabel: '200 ₽',
      renewedUntil: inDays(100).toISOString(),
      requiresPayment: false,
    });
    expect((await keyed.post(`${ROOT}/renewal`, { initData, periodId: quarter.id })).body).toEqual(renewed.body);
    const poor = await api.post(`${ROOT}/renewal`, { initData, periodDays: 30 });
    expect(poor).toMatchObject({ status: 402, body: { detail: { code: 'insufficient_funds', missing_amount_kopeks: 10_000 } } });
    expect((await api.post(`${ROOT}/renewal`, { initData, periodDays: 30, method: 'sandbox' })).body.detail.code).toBe(
      'unsupported_method',
    );
    expect((await api.post(`${ROOT}/renewal`, { initData })).body.detail.code).toBe('invalid_period');
    expect((await api.post(`${ROOT}/renewal`, { initData, periodDays: 31 })).body.detail.code).toBe('period_unavailable');
    expect(await balanceOf(user)).toBe(20_000);
  });

  test('spec 10 X18: autopay has all spellings, in three answers, and the offer both', async () => {
    const { initData, user } = await caller(0, { autopay_enabled: true, autopay_days_before: 5 });
    await anOffer(t.app, user.id, 15);
    const days = [1, 3, 5, 7, 14];
    const autopay = {
      enabled: true,
      autopay_enabled: true,
      autopayEnabled: true,
      autopay_enabled_at: null,
      days_before: 5,
      daysBefore: 5,
      autopay_days_before: 5,
      autopayDaysBefore: 5,
      default_days_before: 5,
      defaultDaysBefore: 5,
      options: days,
      days_options: days,
      daysOptions: days,
      available_days: days,
      availableDays: days,
      autopay_days_options: days,
      autopayDaysOptions: days,
    };
    const wanted = {
      autopay,
      autopay_settings: autopay,
      autopaySettings: autopay,
      autopay_enabled: true,
      autopayEnabled: true,
      autopay_days_before: 5,
      autopayDaysBefore: 5,
      daysBefore: 5,
      autopay_days_options: days,
      autopayDaysOptions: days,
      daysOptions: days,
    };
    for (const path of [ROOT, `${ROOT}/renewal/options`, `${ROOT}/autopay`]) {
      const { body } = await api.post(path, { initData });
      expect(body).toMatchObject(wanted);
      expect(body.autopay).toEqual(autopay);
    }
    const { promoOffer } = (await api.post(`${ROOT}/renewal/options`, { initData })).body;
    expect(promoOffer).toMatchObject({ percent: 15, discount_percent: 15 });
  });

  test('trials and ended subscriptions may be renewed, restricted users may not (spec 02 H6)', async () => {
    const ended = await caller(30_000, { end_date: new Date(0), is_trial: true });
    expect((await api.post(`${ROOT}/renewal`, { initData: ended.initData, periodDays: 30 })).status).toBe(200);
    const { initData, user } = await caller(30_000, {});
    await t.app.db.sql('UPDATE users SET restriction_subscription = true WHERE id = $1::int RETURNING id', [user.id]);
    expect(await api.post(`${ROOT}/renewal`, { initData, periodDays: 30 })).toMatchObject({
      status: 403,
      body: { detail: { code: 'subscription_restricted' } },
    });
  });
});

describe('add-ons', () => {
  const topups = { traffic_topup_enabled: true, traffic_topup_packages: { 10: 5_000, 60: 9_000 }, max_topup_traffic_gb: 150 };

  test('traffic costs what the list of tariffs shows', async () => {
    const { initData, user } = await caller(6_000, {}, topups);
    const shown = (await api.post(`${ROOT}/tariffs`, { initData })).body.current_tariff.traffic_topup_packages;
    expect(shown).toMatchObject([{ gb: 10, price_kopeks: 5_000 }]);
    expect((await api.post(`${ROOT}/traffic-topup`, { initData, gb: 10 })).body).toEqual({
      success: true,
      message: 'Traffic added: 10 GB',
      new_traffic_limit_gb: 110,
      new_balance_kopeks: 1_000,
      charged_kopeks: 5_000,
    });
    expect(await api.post(`${ROOT}/traffic-topup`, { initData, gb: 10 })).toMatchObject({
      status: 402,
      body: { detail: { code: 'insufficient_balance', required: 5_000, balance: 1_000 } },
    });
    const detail = async (gb: number) => (await api.post(`${ROOT}/traffic-topup`, { initData, gb })).body.detail;
    expect(await detail(60)).toMatchObject({
      code: 'topup_limit_exceeded',
      max_limit_gb: 150,
      current_gb: 110,
      available_gb: 40,
    });
    expect(await detail(11)).toMatchObject({ code: 'invalid_package' });
    expect(await balanceOf(user)).toBe(1_000);
  });

  test.each([
    ['off', {}, {}, 403, 'traffic_topup_disabled'],
    ['no tariff', { tariff_id: null }, {}, 400, 'no_tariff'],
    ['unlimited', { traffic_limit_gb: 0 }, topups, 400, 'unlimited_traffic'],
  ])('traffic: %s', async (_name, columns, tariff, status, code) => {
    const { initData } = await caller(100_000, columns, tariff);
    expect(await api.post(`${ROOT}/traffic-topup`, { initData, gb: 10 })).toMatchObject({ status, body: { detail: { code } } });
  });

  test('a daily subscription is paused and resumed', async () => {
    const tariff = { is_daily: true, daily_price_kopeks: 2_000, period_prices: {} };
    const { initData } = await caller(2_000, { end_date: inDays(0.5) }, tariff);
    const toggle = (init_data: string) => api.post(`${ROOT}/daily/toggle-pause`, { init_data });
    expect((await toggle(initData)).body).toEqual({
      success: true,
      message: expect.any(String),
      is_paused: true,
      balance_kopeks: 2_000,
      balance_label: '20 ₽',
    });
    expect((await toggle(initData)).body).toMatchObject({ is_paused: false });
    const cases: [Record<string, unknown> | null, Record<string, unknown>, number, string][] = [
      [null, {}, 404, 'no_subscription'],
      [{ tariff_id: null }, {}, 400, 'no_tariff'],
      [{}, {}, 400, 'not_daily_tariff'],
      [{ status: 'disabled' }, tariff, 402, 'insufficient_balance'],
    ];
    for (const [columns, of, status, code] of cases) {
      const other = await caller(0, columns, of);
      expect(await toggle(other.initData)).toMatchObject({ status, body: { detail: { code } } });
    }
  });

  test('a device is removed, or refused with a code for each reason', async () => {
    const { initData, user } = await caller(0, {});
    const remove = (hwid: string) => api.post('/miniapp/devices/remove', { initData, hwid });
    expect(await remove(' ')).toMatchObject({ status: 400, body: { detail: { code: 'invalid_hwid' } } });
    expect(await remove('a')).toMatchObject({ status: 409, body: { detail: { code: 'vpnpanel_unavailable' } } });
    await t.app.db.sql('UPDATE users SET vpnpanel_uuid = gen_random_uuid() WHERE id = $1::int RETURNING id', [user.id]);
    expect((await remove('a')).body).toEqual({ success: true, message: 'The device has been removed' });
    removeDevice = () => Promise.reject(new PanelError('unavailable', 'away'));
    expect(await remove('a')).toMatchObject({ status: 502, body: { detail: { code: 'vpnpanel_error' } } });
    removeDevice = async () => undefined;
  });
});

test('a promo code is activated, or refused with a status for each reason', async () => {
  const { initData } = await caller(0, null);
  const code = `CODE${unique()}`;
  await storeRow(t.app, 'Promocode', { code, type: 'balance', balanceBonusKopeks: 5_000, maxUses: 1, validFrom: inDays(-1) });
  const activate = (init: string, text: string) => api.post('/miniapp/promo-codes/activate', { initData: init, code: text });
  expect(await activate(initData, '  ')).toMatchObject({ status: 400, body: { detail: { code: 'invalid' } } });
  expect((await activate(initData, code.toLowerCase())).body).toMatchObject({
    success: true,
    description: expect.any(String),
    promocode: { code, type: 'balance', balance_bonus_kopeks: 5_000, max_uses: 1, current_uses: 1, valid_until: null },
  });
  const other = await caller(0, null);
  expect(await activate(other.initData, code)).toMatchObject({ status: 409, body: { detail: { code: 'used' } } });
  expect(await activate(other.initData, 'NOSUCH')).toMatchObject({ status: 404, body: { detail: { code: 'not_found' } } });
});

test('codes cannot be guessed: after five unknown ones further tries are 429', async () => {
  const { initData } = await caller(0, null);
  const guess = (code: string) => api.post('/miniapp/promo-codes/activate', { initData, code });
  for (let n = 1; n <= 5; n++) expect((await guess(`NOSUCH${n}`)).status).toBe(404);
  expect(await guess('NOSUCH6')).toMatchObject({ status: 429, body: { detail: { code: 'rate_limited' } } });
});

test('an offer is claimed once, while a foreign one is unknown and an ended one gone', async () => {
  const { initData, user } = await caller(0, null);
  const offer = async (userId: number, expiresAt: Date) => {
    const kind = { notificationType: `test ${unique()}`, discountPercent: 15 };
    return (await storeRow(t.app, 'DiscountOffer', { userId, expiresAt, ...kind })).id;
  };
  const claim = (id: number) => api.post(`/miniapp/promo-offers/${id}/claim`, { initData });
  const offerId = await offer(user.id, inDays(1));
  expect((await claim(offerId)).body).toEqual({ success: true, code: 'discount_claimed' });
  expect(await claim(offerId)).toMatchObject({ status: 409, body: { detail: { code: 'already_claimed' } } });
  expect(await claim(await offer(user.id, inDays(-1)))).toMatchObject({
    status: 410,
    body: { detail: { code: 'offer_expired' } },
  });
  const foreign = await offer((await aUser(t.app)).id, inDays(1));
  expect(await claim(foreign)).toMatchObject({ status: 404, body: { detail: { code: 'offer_not_found' } } });
  const [row] = await t.app.db.sql('SELECT claimed_at FROM discount_offers WHERE id = $1::int', [foreign]);
  expect(row).toEqual({ claimedAt: null });
});

test('spec 10 X14: the price of a day has its suffix, the monthly price group and offer', async () => {
  const { initData, user } = await caller(0, {}, { is_daily: true, daily_price_kopeks: 1_000, period_prices: { 30: 30_000 } });
  await aMembership(t.app, user.id, { period_discounts: { 30: 10 } });
  await anOffer(t.app, user.id, 50);
  const current = { daily_price_kopeks: 500, daily_price_label: '5 ₽/day', monthly_price_kopeks: 13_500 };
  expect((await api.post(ROOT, { initData })).body).toMatchObject({
    user: { daily_price_label: '5 ₽/day' },
    currentTariff: current,
  });
});
