import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { App } from '../../src/core/app.ts';
import { creditStars } from '../../src/domain/payments/credit-stars.ts';
import { PanelError } from '../../src/domain/provisioning/ports.ts';
import { userClient } from '../support/actors.ts';
import { type ApiClient, clientOf, testServer } from '../support/api.ts';
import { aUser } from '../support/builders.ts';
import { initDataOf } from '../support/init-data.ts';
import { anOfferTo } from '../support/offer-samples.ts';
import { sandboxPaymentMethodIsListed } from '../support/payment-samples.ts';
import { aMembership, anOffer, aServer, aStoredSubscription, aTariff, topUp } from '../support/sale-samples.ts';
import { storeRow } from '../support/stored-rows.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

let t: TestApp;
let server: FastifyInstance;
let api: ApiClient;
let isPanelAway = false;

beforeAll(async () => {
  t = await testApp();
  await sandboxPaymentMethodIsListed(t.app);
  await t.app.db.sql(
    "UPDATE payment_method_configs SET is_enabled = true WHERE method_id = 'messenger_stars' RETURNING method_id",
  );
  const away = () => Promise.reject(new PanelError('unavailable', 'away'));
  const panel = new Proxy(t.app.ports.panel, {
    get: (port, name) => (isPanelAway && name !== 'configurationError' ? away : Reflect.get(port, name)),
  });
  const app: App = { ...t.app, ports: { ...t.app.ports, panel } };
  server = await testServer(app);
  api = clientOf(server);
});
afterAll(() => server.close());

async function caller(subscription: Record<string, unknown> | null = null) {
  const user = await aUser(t.app, { language: 'en' });
  if (subscription) await aStoredSubscription(t.app, user.id, subscription);
  const initData = initDataOf(t, user);
  const send = (path: string, body: object = {}) => api.post(`/miniapp/${path}`, { initData, ...body });
  return { user, initData, send };
}

describe('payments', () => {
  test('refusals of the identity are plain sentences', async () => {
    for (const path of ['methods', 'create', 'status']) {
      const body = { initData: ' ', method: 'sandbox' };
      expect(await api.post(`/miniapp/payments/${path}`, body)).toMatchObject({
        status: 401,
        body: { detail: 'Missing initData' },
      });
    }
  });

  test.each([
    [{ method: ' ' }, 'Payment method is required'],
    [{ method: 'bank' }, 'Unknown payment method'],
    [{ method: 'wata', amountKopeks: 50_000 }, 'Payment method is unavailable'],
    [{ method: 'sandbox' }, 'Amount must be positive'],
    [{ method: 'sandbox', amountKopeks: 0 }, 'Amount must be positive'],
    [{ method: 'sandbox', amountRubles: -5 }, 'Amount must be positive'],
    [{ method: 'sandbox', amountKopeks: 999 }, 'Amount is below minimum'],
    [{ method: 'sandbox', amountRubles: 1e9 }, 'Amount exceeds maximum'],
  ])('%j is refused with: %s', async (body, detail) => {
    const { send } = await caller();
    expect(await send('payments/create', body)).toMatchObject({ status: 400, body: { detail } });
  });

  test('a user whose top-ups are restricted is refused', async () => {
    const { send, user } = await caller();
    await t.app.db.sql('UPDATE users SET restriction_topup = true WHERE id = $1::int RETURNING id', [user.id]);
    expect((await send('payments/create', { method: 'sandbox', amountKopeks: 50_000 })).status).toBe(403);
  });

  test('the payment of another user is answered like an unknown one, and entries stay in order', async () => {
    const { send } = await caller();
    const other = await caller();
    const made = (await other.send('payments/create', { method: 'sandbox', amountKopeks: 50_000 })).body.extra;
    const payments = [
      { method: 'sandbox', localPaymentId: made.local_payment_id },
      { method: 'sandbox', payment_id: made.payment_id },
      { method: 'sandbox', localPaymentId: 2 ** 40 },
      { method: 'sandbox' },
      { method: '' },
      { method: 'bank' },
      { method: 'stars', amount_kopeks: 1_000 },
    ];
    const reply = await send('payments/status', { payments });
    const answers = reply.body.results.map((result: { status: string; message: string }) => [result.status, result.message]);
    expect(answers).toEqual([
      ['pending', 'Payment not found'],
      ['pending', 'Payment not found'],
      ['pending', 'Payment not found'],
      ['pending', 'Missing payment identifier'],
      ['unknown', 'Payment method is required'],
      ['unknown', 'Unsupported payment method'],
      ['pending', 'Waiting for confirmation'],
    ]);
    expect((await send('payments/status')).body).toEqual({ results: [] });
    const many = Array.from({ length: 21 }, () => ({ method: 'sandbox', localPaymentId: 1 }));
    expect((await send('payments/status', { payments: many })).status).toBe(422);
  });

  test('Stars: whole stars, and the deposit is found by amount and time', async () => {
    const { send, user } = await caller();
    const listed = (await send('payments/methods')).body.methods.find((method: { id: string }) => method.id === 'stars');
    expect(listed).toMatchObject({ min_amount_kopeks: 130, amount_step_kopeks: 130, max_amount_kopeks: null, icon: '⭐' });
    const made = (await send('payments/create', { method: 'stars', amountKopeks: 1_000 })).body;
    expect(made).toMatchObject({
      method: 'stars',
      amount_kopeks: 1_000,
      extra: { stars_amount: 8, requested_amount_kopeks: 1_000, invoice_payload: expect.stringMatching(/^[0-9a-f]{30}$/) },
    });
    const startedAt = t.clock.now().toISOString();
    const ask = async (query: object) =>
      (await send('payments/status', { payments: [{ method: 'stars', ...query }] })).body.results[0];
    expect(await ask({ amountKopeks: 1_000, startedAt })).toMatchObject({ status: 'pending' });
    const charge = { kind: 'stars_paid', stars: 8, payload: made.extra.invoice_payload, chargeId: `charge-${user.id}` } as const;
    await creditStars(t.app, { ...charge, payerMessengerId: user.messengerId! } as never);
    expect(await ask({ amountKopeks: 1_000, startedAt })).toMatchObject({ status: 'paid', transaction_id: expect.any(Number) });
    expect(await ask({ amountKopeks: 1_050, startedAt })).toMatchObject({ status: 'pending' });
    const later = new Date(t.clock.now().getTime() + 6 * 60_000).toISOString();
    expect(await ask({ amountKopeks: 1_000, startedAt: later })).toMatchObject({ status: 'pending' });
    expect(await ask({})).toMatchObject({ status: 'pending' });
    for (const startedAt of ['-271821-04-20', '+275760-09-13T00:00:00.000Z', '0000-01-01', '99999999999999', 'yesterday']) {
      expect(await ask({ amountKopeks: 1_050, startedAt })).toMatchObject({ status: 'pending' });
    }
  });
});

describe('the first page', () => {
  test('without a subscription, for an unknown user, and while the panel is away', async () => {
    const { send } = await caller();
    expect((await send('subscription')).body).toMatchObject({
      subscription_missing: true,
      subscription_missing_reason: 'not_found',
      subscription_type: 'none',
      autopay: null,
      autopaySettings: null,
      trial_available: true,
      user: {
        subscription_status: 'none',
        subscription_actual_status: 'missing',
        expires_at: null,
        // As with an unlimited one (spec 10 X14).
        traffic_limit_gb: 0,
        traffic_limit_label: 'Unlimited',
      },
    });
    const nobody = await api.post('/miniapp/subscription', { initData: initDataOf(t, { messengerId: 9_999_999_999 }) });
    expect(nobody).toMatchObject({
      status: 404,
      body: { detail: { code: 'user_not_found', message: expect.any(String), title: expect.any(String) } },
    });
    const holder = await caller({ traffic_used_gb: 72.456, subscription_url: 'https://panel.example/s/1' });
    await t.app.db.sql('UPDATE users SET vpnpanel_uuid = gen_random_uuid() WHERE id = $1::int RETURNING id', [holder.user.id]);
    isPanelAway = true;
    expect((await holder.send('subscription')).body).toMatchObject({
      subscription_url: 'https://panel.example/s/1',
      connected_devices: [],
      links: [],
      user: { traffic_used_gb: 72.46, traffic_used_label: '72.5 GB', traffic_limit_label: '100 GB' },
    });
    isPanelAway = false;
  });

  test('tells a referrer of the referrals, but not what they have', async () => {
    const { send, user } = await caller();
    const referral = await aUser(t.app, { language: 'en' });
    await t.app.db.sql('UPDATE users SET referred_by_id = $2::int WHERE id = $1::int RETURNING id', [referral.id, user.id]);
    await topUp(t.app, referral.id, 70_000);
    expect((await send('subscription')).body.referral).toMatchObject({
      stats: { invited_count: 1 },
      referrals: {
        total_count: 1,
        has_next: false,
        items: [{ id: referral.id, balance_kopeks: 0, topups_count: 1, days_since_registration: 0 }],
      },
    });
  });

  test('spec 10 X23: open offers by their end, a title only from offer or template, the source of a discount that ended', async () => {
    const { send, user } = await caller({});
    for (const [notificationType, validHours] of [
      ['first', 72],
      ['second', 24],
      ['third', 48],
    ] as const) {
      await anOfferTo(t.app, user.id, {
        notificationType,
        validHours,
        extraData: notificationType === 'first' ? { title: 'Own' } : {},
      });
    }
    await anOffer(t.app, user.id, 20);
    await t.app.db.sql('UPDATE users SET promo_offer_discount_expires_at = $2::timestamptz WHERE id = $1::int RETURNING id', [
      user.id,
      new Date(t.clock.now().getTime() - 86_400_000),
    ]);
    const { body } = await send('subscription');
    expect(
      body.promo_offers.map((offer: { title: string | null; notification_type: string }) => [
        offer.notification_type,
        offer.title,
      ]),
    ).toEqual([
      ['second', null],
      ['third', null],
      ['first', 'Own'],
    ]);
    expect(body.user).toMatchObject({
      promo_offer_discount_percent: 0,
      promo_offer_discount_expires_at: null,
      promo_offer_discount_source: 'test',
    });
  });
});

describe('changes', () => {
  test('are refused where they cannot be made', async () => {
    const [mine, full] = [await aServer(t.app), await aServer(t.app, { max_users: 0 })];
    const tariff_id = await aTariff(t.app, { device_price_kopeks: 5_000, device_limit: 1, max_device_limit: 3 });
    const { send } = await caller({ tariff_id, connected_squads: [mine.uuid], device_limit: 1 });
    const code = async (path: string, body: object) => (await send(`subscription/${path}`, body)).body.detail.code;
    expect(await code('servers', {})).toBe('validation_error');
    expect(await code('servers', { servers: ['nowhere'] })).toBe('invalid_servers');
    expect(await code('servers', { servers: [full.uuid] })).toBe('server_unavailable');
    expect(await code('devices', {})).toBe('validation_error');
    expect(await code('devices', { devices: 0 })).toBe('validation_error');
    expect(await code('devices', { devices: 4 })).toBe('devices_limit_exceeded');
    expect(await code('devices', { devices: 2 })).toBe('insufficient_funds');
    expect(await code('traffic', {})).toBe('validation_error');
    expect(await code('traffic', { traffic: 100, subscription_id: 0 })).toBe('invalid_subscription_id');
    const { send: ended } = await caller({ end_date: new Date(0) });
    for (const path of ['settings', 'servers', 'traffic', 'devices']) {
      expect((await ended(`subscription/${path}`)).body.detail.code).toBe('subscription_inactive');
    }
  });

  test('spec 10 X24: a stored status `trial` has no settings, and of servers that are not offered none is selected', async () => {
    const trial = await caller({ status: 'trial', is_trial: true });
    expect(await trial.send('subscription/settings')).toMatchObject({
      status: 403,
      body: { detail: { code: 'subscription_inactive' } },
    });
    const flagged = await caller({ is_trial: true });
    expect((await flagged.send('subscription/settings')).status).toBe(200);
    const foreign = await aServer(t.app);
    const { send } = await caller({});
    await storeRow(t.app, 'ServerSquadPromoGroup', {
      serverSquadId: foreign.id,
      promoGroupId: await aMembership(t.app, trial.user.id, {}),
    });
    expect(await send('subscription/servers', { servers: [foreign.uuid] })).toMatchObject({
      status: 400,
      body: { detail: { code: 'validation_error' } },
    });
  });
});

test('the transaction of added servers names them', async () => {
  const added = await aServer(t.app, { price_kopeks: 3_000 });
  const { send, user } = await caller({ connected_squads: [] });
  await topUp(t.app, user.id, 10_000);
  expect((await send('subscription/servers', { servers: [added.uuid] })).status).toBe(200);
  const texts = await t.app.db.sql<{ description: string }>(
    "SELECT description FROM transactions WHERE user_id = $1::int AND type = 'subscription_payment'",
    [user.id],
  );
  expect(texts).toEqual([{ description: `Additional servers: ${added.uuid}` }]);
});

test('08 C1: a client that takes the offer off the listed price shows what is charged', async () => {
  const plain = await aTariff(t.app, { period_prices: { 30: 25_555 } });
  const daily = await aTariff(t.app, { is_daily: true, daily_price_kopeks: 1_111, period_prices: {} });
  for (const [tariffId, listed] of [
    [plain, 25_555],
    [daily, 1_111],
  ] as const) {
    const client = await userClient(t.app, server);
    await topUp(t.app, client.user.id, 100_000);
    await anOffer(t.app, client.user.id, 15);
    const { discount_percent } = (await client.get('/cabinet/promo/active-discount')).body;
    const options = (await client.get('/cabinet/subscription/purchase-options')).body;
    const shown = options.tariffs.find((tariff: { id: number }) => tariff.id === tariffId);
    const price = shown.is_daily ? shown.daily_price_kopeks : shown.periods[0].price_kopeks;
    expect(price).toBe(listed);
    const bought = await client.post('/cabinet/subscription/purchase-tariff', { tariff_id: tariffId, period_days: 30 });
    expect(bought.body.charged_amount).toBe(price - Math.floor((price * discount_percent) / 100));
  }
});

test('08 C6: the label of a device price has its kopeks', async () => {
  const tariff_id = await aTariff(t.app, { device_price_kopeks: 4_850 });
  const { send } = await caller({ tariff_id, end_date: new Date(t.clock.now().getTime() + 30 * 86_400_000) });
  expect((await send('subscription/settings')).body.settings.devices.price_label).toBe('48.50 ₽');
});
