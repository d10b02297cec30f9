import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callbackRoute, registerCallbackRoutes } from '../../src/composition/callback-routes.ts';
import { createHttpServer } from '../../src/composition/http-server.ts';
import { createMetrics } from '../../src/core/metrics.ts';
import { checkLedger } from '../../src/domain/ledger/check-ledger.ts';
import { processCallback } from '../../src/domain/payments/process-callback.ts';
import { pushSubscription } from '../../src/domain/provisioning/push-subscription.ts';
import { type ApiClient, clientOf } from '../support/api.ts';
import { aUser, type BuiltUser } from '../support/builders.ts';
import { initDataOf } from '../support/init-data.ts';
import { anOfferTo } from '../support/offer-samples.ts';
import { sandboxPaymentMethodIsListed } from '../support/payment-samples.ts';
import { aPromocode } from '../support/promocode-samples.ts';
import { recordedTypesOf } from '../support/recorded-events.ts';
import { observeRefusal } from '../support/refusal-recorder.ts';
import { aServer, aStoredSubscription, aTariff } from '../support/sale-samples.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { type TestSandbox, workerSandbox } from '../support/test-sandbox.ts';

const ROOT = '/miniapp/subscription';

/** Each step continues the one before it. The types of `each` do not name the option. */
const IN_ORDER = { shuffle: false } as object;

describe.each(['tariffs', 'classic'] as const)('the way of a user through the mini-app in %s mode', IN_ORDER, (mode) => {
  let t: TestApp;
  let server: FastifyInstance;
  let sandbox: TestSandbox;
  let api: ApiClient;
  let user: BuiltUser;
  let initData: string;
  let tariffId: number;
  let squads: string[];

  beforeAll(async () => {
    t = await testApp({ environment: { SALES_MODE: mode } });
    sandbox = await workerSandbox();
    await sandboxPaymentMethodIsListed(t.app);
    const { fastify } = await createHttpServer({
      observeRefusal,
      app: t.app,
      metrics: createMetrics(),
      callbackRoute: callbackRoute(t.app),
      extend: (extended) => registerCallbackRoutes(extended, t.app),
    });
    server = fastify;
    sandbox.callbacks.url = await server.listen({ host: '127.0.0.1', port: 0 });
    api = clientOf(server);
    squads = [await aPanelServer('first', 1_000), await aPanelServer('second', 4_850)];
    tariffId = await aTariff(t.app, { allowed_squads: [squads[0]], device_price_kopeks: 4_850 });
    user = await aUser(t.app, { language: 'en' });
    initData = initDataOf(t, user);
    await aStoredSubscription(t.app, user.id, {
      is_trial: true,
      tariff_id: mode === 'tariffs' ? tariffId : null,
      connected_squads: [squads[0]],
      device_limit: 1,
    });
  });
  afterAll(async () => {
    sandbox.callbacks.url = null;
    await server.close();
  });

  /** A server whose squad the fake panel has. */
  async function aPanelServer(name: string, price_kopeks: number): Promise<string> {
    const { uuid } = await t.app.ports.panel.createInternalSquad({ name: `way-${mode}-${name}`, inboundUuids: [] });
    await aServer(t.app, { squad_uuid: uuid, display_name: name, price_kopeks });
    return uuid;
  }

  const send = async (path: string, body: object = {}) => {
    const reply = await api.post(path, { initData, ...body });
    expect(reply.status, JSON.stringify(reply.body)).toBe(200);
    return reply.body;
  };
  const card = () => send(ROOT);

  async function pay(paymentId: number): Promise<void> {
    const [row] = await t.app.db.sql<{ externalId: string }>('SELECT external_id FROM payments WHERE id = $1::int', [paymentId]);
    await sandbox.servers.payments.act(row!.externalId, 'pay');
    await sandbox.servers.payments.idle();
    const jobs = await t.app.db.sql<{ id: number }>('SELECT id FROM provider_callbacks WHERE processed_at IS NULL');
    for (const { id } of jobs) await processCallback(t.app, { callbackId: id });
  }

  test('the first page before anything is bought', async () => {
    const page = await card();
    expect(page).toMatchObject({
      subscription_type: 'trial',
      subscription_missing: false,
      balance_kopeks: 0,
      salesMode: mode,
      user: { messenger_id: user.messengerId, subscription_actual_status: 'active', status_label: 'Active', device_limit: 1 },
      connected_servers: [{ uuid: squads[0], name: 'first' }],
      autopay: { enabled: false, options: [1, 3, 7, 14] },
      referral: { stats: { invited_count: 0, conversion_rate: 0 } },
      trial_status: 'unavailable',
    });
    expect(page.currentTariff === null).toBe(mode === 'classic');
    // Both spellings of autopay are answered, and both of the credential are read.
    expect(page).toMatchObject({ autopayEnabled: false, daysOptions: [1, 3, 7, 14], autopaySettings: page.autopay_settings });
    expect((await api.post(ROOT, { init_data: initData })).body).toEqual(page);
  });

  test('a payment: methods, creation, state before and after the callback', async () => {
    const { methods } = await send('/miniapp/payments/methods');
    expect(methods[0]).toMatchObject({ id: 'sandbox', currency: 'RUB', requires_amount: true, integration_type: 'redirect' });
    const made = await send('/miniapp/payments/create', { method: ' Sandbox ', amountRubles: 20_000.005 });
    expect(made).toMatchObject({
      method: 'sandbox',
      amount_kopeks: 2_000_001,
      payment_url: expect.stringMatching(/^http/),
      extra: { local_payment_id: expect.any(Number), requested_at: expect.stringMatching(/^[\d-]+T[\d:]+Z$/) },
    });
    const { local_payment_id, payment_id } = made.extra;
    const ask = (query: object) => send('/miniapp/payments/status', { payments: [{ method: 'sandbox', ...query }] });
    expect((await ask({ localPaymentId: local_payment_id })).results).toMatchObject([
      { status: 'pending', is_paid: false, amount_kopeks: 2_000_001, completed_at: null, external_id: payment_id },
    ]);
    await pay(local_payment_id);
    const paid = (await ask({ local_payment_id })).results;
    expect(paid).toMatchObject([
      { method: 'sandbox', status: 'paid', is_paid: true, transaction_id: expect.any(Number), completed_at: expect.any(String) },
    ]);
    expect((await ask({ paymentId: payment_id, payload: 'p' })).results).toMatchObject([{ ...paid[0], extra: { payload: 'p' } }]);
    expect(await card()).toMatchObject({
      balance_kopeks: 2_000_001,
      balance_rubles: 20_000.01,
      transactions: [{ type: 'deposit', amount_kopeks: 2_000_001 }],
    });
  });

  test('08 C4: the first purchase after the trial announces subscription.activated, the next one subscription.renewed', async () => {
    const announced = () => recordedTypesOf(t.app, user.id, { prefix: 'subscription.' });
    const buy = () =>
      mode === 'tariffs'
        ? send(`${ROOT}/tariff/purchase`, { tariffId, periodDays: 30 })
        : send(`${ROOT}/purchase`, { periodDays: 30, trafficValue: 100, servers: [squads[0]], devices: 1 });
    await buy();
    expect(await announced()).toEqual(['subscription.activated']);
    await buy();
    expect(await announced()).toEqual(['subscription.activated', 'subscription.renewed']);
    expect(await card()).toMatchObject({ subscription_type: 'paid', user: { has_active_subscription: true } });
  });

  test('settings: what is listed is what the changes give and cost', async () => {
    const { settings } = await send(`${ROOT}/settings`);
    expect(settings).toMatchObject({
      currency: 'RUB',
      current: { servers: [{ uuid: squads[0] }], device_limit: 1 },
      servers: { min: 1, max: expect.any(Number), can_update: true },
      traffic: { can_update: mode === 'classic' },
      devices: { can_update: true, min: 1, step: 1, current: 1 },
      billing: { months_remaining: expect.any(Number), renews_at: expect.any(String) },
    });
    const added = settings.servers.available.find((server: { uuid: string }) => server.uuid === squads[1]);
    expect(added).toMatchObject({ price_kopeks: 4_850, price_label: '48.50 ₽', is_connected: false, discount_percent: null });

    const before = (await card()).balance_kopeks;
    const days = settings.billing.period_hint_days;
    await send(`${ROOT}/servers`, { servers: [squads[0]], squad_uuids: [squads[1]] });
    const after = (await card()).balance_kopeks;
    expect(before - after).toBe(Math.floor((4_850 * days) / 30));
    expect((await card()).connected_squads).toEqual(squads);
    expect(await send(`${ROOT}/servers`, { squads })).toEqual({ success: true, message: 'No changes' });

    await send(`${ROOT}/devices`, { device_limit: 3 });
    expect(await send(`${ROOT}/devices`, { deviceLimit: 3 })).toEqual({ success: true, message: 'No changes' });
    expect((await card()).user.device_limit).toBe(3);
    const bought = after - (await card()).balance_kopeks;
    const unit = mode === 'tariffs' ? 4_850 : settings.devices.price_kopeks;
    expect(settings.devices.options[2].price_kopeks).toBe(2 * unit);
    expect(bought).toBe(Math.floor((2 * unit * days) / 30));
    await send(`${ROOT}/devices`, { devices: 1 });
    expect((await card()).balance_kopeks).toBe(after - bought);

    const traffic = await api.post(`${ROOT}/traffic`, { initData, traffic: 0 });
    if (mode === 'tariffs') expect(traffic.body.detail.code).toBe('traffic_of_tariff');
    else expect((await card()).user).toMatchObject({ traffic_limit_gb: 0, traffic_limit_label: 'Unlimited' });
  });

  test('devices of the panel, a promo code and an offer', async () => {
    const [{ id }] = (await t.app.db.sql<{ id: number }>('SELECT id FROM subscriptions WHERE user_id = $1::int', [user.id])) as [
      { id: number },
    ];
    expect(await pushSubscription(t.app, id)).toBe('synced');
    expect(await card()).toMatchObject({
      subscription_url: expect.stringMatching(/^http/),
      vpnpanel_short_uuid: expect.any(String),
      connected_devices: [],
    });
    expect(await send('/miniapp/devices/remove', { hwid: 'nothing' })).toMatchObject({ success: true });

    const { code } = await aPromocode(t.app);
    const { balance_kopeks: before } = await card();
    await send('/miniapp/promo-codes/activate', { code });
    expect((await card()).balance_kopeks).toBe(before + 10_000);

    const offer = await anOfferTo(t.app, user.id, { notificationType: 'extend_discount' });
    expect((await card()).promo_offers).toMatchObject([
      { id: offer.id, status: 'pending', is_active: true, discount_percent: 20, title: null, icon: '🎁' },
    ]);
    await send(`/miniapp/promo-offers/${offer.id}/claim`);
    expect(await card()).toMatchObject({
      user: { promo_offer_discount_percent: 20, promo_offer_discount_source: 'extend_discount' },
      promo_offers: [{ id: offer.id, status: 'active', is_active: false, active_discount_started_at: expect.any(String) }],
    });
    expect(await checkLedger(t.app)).toEqual([]);
  });
});
