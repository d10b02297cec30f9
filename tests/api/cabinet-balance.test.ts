import { createHmac } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callbackRoute, registerCallbackRoutes } from '../../src/composition/callback-routes.ts';
import { createHttpServer } from '../../src/composition/http-server.ts';
import { createMetrics } from '../../src/core/metrics.ts';
import { postMovement } from '../../src/domain/ledger/post-movement.ts';
import type { Movement } from '../../src/domain/ledger/types.ts';
import { processCallback } from '../../src/domain/payments/process-callback.ts';
import { type ActorClient, userClient } from '../support/actors.ts';
import { clientOf } from '../support/api.ts';
import { sandboxPaymentMethodIsListed } from '../support/payment-samples.ts';
import { observeRefusal } from '../support/refusal-recorder.ts';
import { storeRow } from '../support/stored-rows.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { type TestSandbox, workerSandbox } from '../support/test-sandbox.ts';

let t: TestApp;
let server: FastifyInstance;
let sandbox: TestSandbox;
let url: string;
beforeAll(async () => {
  t = await testApp({ environment: { YOOKASSA_RECURRENT_ENABLED: 'true' } });
  sandbox = await workerSandbox();
  await sandboxPaymentMethodIsListed(t.app);
  const made = await createHttpServer({
    observeRefusal,
    app: t.app,
    metrics: createMetrics(),
    callbackRoute: callbackRoute(t.app),
    extend: (extended) => registerCallbackRoutes(extended, t.app),
  });
  server = made.fastify;
  url = await server.listen({ host: '127.0.0.1', port: 0 });
  sandbox.callbacks.url = url;
});
afterAll(async () => {
  sandbox.callbacks.url = null;
  await server.close();
});

const TOPUP = { amount_kopeks: 50_000, payment_method: 'sandbox' };

/** The fake provider delivers callbacks itself; their jobs are run here. */
async function callbacksArrive(): Promise<void> {
  await sandbox.servers.payments.idle();
  const jobs = await t.app.db.sql<{ id: number }>(
    "SELECT id FROM provider_callbacks WHERE processed_at IS NULL AND provider <> 'none'",
  );
  for (const { id } of jobs) await processCallback(t.app, { callbackId: id });
}

const externalIdOf = async (paymentId: string) =>
  (await t.app.db.sql<{ externalId: string }>('SELECT external_id FROM payments WHERE id = $1::int', [Number(paymentId)]))[0]!
    .externalId;

const give = (userId: number, change: Partial<Movement>) =>
  postMovement(t.app, {
    userId,
    type: 'deposit',
    amountKopeks: 10_000,
    contra: { kind: 'manual_adjustment' },
    paymentMethod: 'manual',
    description: null,
    ...change,
  });

describe('a top-up over HTTP', () => {
  test('goes from the method list over the hosted page and the callback to the balance', async () => {
    const user = await userClient(t.app, server);
    const methods = await user.get('/cabinet/balance/payment-methods');
    expect(methods.body[0]).toEqual({
      id: 'sandbox',
      name: 'Sandbox',
      description: null,
      min_amount_kopeks: 1_000,
      max_amount_kopeks: 100_000_000,
      is_available: true,
      options: null,
    });
    const made = await user.post('/cabinet/balance/topup', TOPUP);
    expect(made).toMatchObject({
      status: 200,
      body: { amount_kopeks: 50_000, amount_rubles: 500, status: 'pending', expires_at: null },
    });
    expect(made.body.payment_url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/pay\//);
    const [waiting] = (await user.get('/cabinet/balance/pending-payments')).body.items;
    expect(waiting).toMatchObject({
      id: Number(made.body.payment_id),
      method: 'sandbox',
      method_display: 'Sandbox',
      identifier: await externalIdOf(made.body.payment_id),
      status: 'pending',
      status_emoji: '⏳',
      status_text: 'Ожидает оплаты',
      is_paid: false,
      is_checkable: true,
      user_id: user.user.id,
      user_messenger_id: user.user.messengerId,
      payment_url: made.body.payment_url,
    });
    await sandbox.servers.payments.act(waiting.identifier, 'pay');
    await callbacksArrive();
    expect((await user.get('/cabinet/balance')).body).toEqual({ balance_kopeks: 50_000, balance_rubles: 500 });
    expect((await user.get('/cabinet/balance/pending-payments')).body).toEqual({
      items: [],
      total: 0,
      page: 1,
      per_page: 10,
      pages: 1,
    });
    const one = await user.get(`/cabinet/balance/pending-payments/sandbox/${waiting.id}`);
    expect(one.body).toMatchObject({ is_paid: true, status: 'paid', status_emoji: '✅', is_checkable: false });
    expect((await user.get('/cabinet/balance/pending-payments/sandbox/latest')).body.id).toBe(waiting.id);
    const history = await user.get('/cabinet/balance/transactions', { query: { type: 'deposit' } });
    expect(history.body).toMatchObject({
      total: 1,
      items: [{ type: 'deposit', amount_kopeks: 50_000, payment_method: 'sandbox', is_completed: true }],
    });
  });

  test('an Idempotency-Key repeats the answer, and another body under it is 422', async () => {
    const user = (await userClient(t.app, server)).with({ 'idempotency-key': 'k1' });
    const first = await user.post('/cabinet/balance/topup', TOPUP);
    expect((await user.post('/cabinet/balance/topup', { payment_method: 'sandbox', amount_kopeks: 50_000 })).body).toEqual(
      first.body,
    );
    const other = await user.post('/cabinet/balance/topup', { ...TOPUP, amount_kopeks: 50_001 });
    expect(other).toMatchObject({ status: 422, body: { detail: [{ loc: ['header', 'idempotency-key'] }] } });
  });

  test('the manual check credits a payment without callback', async () => {
    const user = await userClient(t.app, server);
    const made = await user.post('/cabinet/balance/topup', TOPUP);
    const path = `/cabinet/balance/pending-payments/sandbox/${made.body.payment_id}/check`;
    expect((await user.post(path)).body).toMatchObject({
      success: true,
      status_changed: false,
      old_status: 'pending',
      new_status: 'pending',
    });
    sandbox.servers.payments.knobs.isPaused = true;
    await sandbox.servers.payments.act(await externalIdOf(made.body.payment_id), 'pay');
    expect((await user.post(path)).body).toMatchObject({
      success: true,
      status_changed: true,
      new_status: 'paid',
      message: 'Статус платежа обновлён',
      payment: { is_paid: true },
    });
    expect((await user.post(path)).body).toMatchObject({
      success: false,
      status_changed: false,
      old_status: null,
      new_status: null,
    });
    sandbox.servers.payments.knobs.isPaused = false;
    await sandbox.servers.payments.flush();
    await callbacksArrive();
    expect((await user.get('/cabinet/balance')).body.balance_kopeks).toBe(50_000);
  });

  test('other users do not see it, and unknown methods are refused with a text', async () => {
    const [user, other] = [await userClient(t.app, server), await userClient(t.app, server)];
    const made = await user.post('/cabinet/balance/topup', TOPUP);
    const path = `/cabinet/balance/pending-payments/sandbox/${made.body.payment_id}`;
    for (const reply of [
      await other.get(path),
      await other.post(`${path}/check`),
      await user.get('/cabinet/balance/pending-payments/sandbox/999999999999'),
    ]) {
      expect(reply).toMatchObject({ status: 404, body: { detail: 'Payment not found' } });
    }
    expect(await other.get('/cabinet/balance/pending-payments/sandbox/latest')).toMatchObject({
      status: 404,
      body: { detail: 'No recent payments found' },
    });
    expect(await user.get('/cabinet/balance/pending-payments/nope/latest')).toMatchObject({
      status: 400,
      body: { detail: 'Invalid payment method: nope' },
    });
    expect(await user.get('/cabinet/balance/pending-payments/nope/1')).toMatchObject({
      status: 400,
      body: { detail: 'Invalid payment method: nope' },
    });
    for (const method of ['messenger_stars', 'tribute', 'manual', 'balance']) {
      expect(await user.get(`/cabinet/balance/pending-payments/${method}/latest`)).toMatchObject({
        status: 400,
        body: { detail: `Unsupported payment method: ${method}` },
      });
    }
    expect((await other.get('/cabinet/balance/pending-payments')).body.total).toBe(0);
    await t.app.db.sql(
      "UPDATE payments SET created_at = created_at - interval '61 minutes' WHERE user_id = $1::int RETURNING id",
      [user.user.id],
    );
    expect((await user.get('/cabinet/balance/pending-payments/sandbox/latest')).status).toBe(404);
  });

  test('values outside the bounds of the contract are 422 with location and type', async () => {
    const user = await userClient(t.app, server);
    expect((await user.post('/cabinet/balance/topup', { ...TOPUP, amount_kopeks: 999 })).body.detail).toMatchObject([
      { loc: ['body', 'amount_kopeks'], type: 'greater_than_equal', ctx: { ge: 1_000 } },
    ]);
    expect((await user.post('/cabinet/balance/topup', { amount_kopeks: 5_000 })).body.detail).toMatchObject([
      { loc: ['body', 'payment_method'], type: 'missing' },
    ]);
    expect((await user.get('/cabinet/balance/pending-payments', { query: { per_page: 51 } })).status).toBe(422);
    expect((await clientOf(server).get('/cabinet/balance')).status).toBe(401);
  });
});

describe('history and cards', () => {
  test('spending is negative, everything else positive, and internal movements are not listed', async () => {
    const user = await userClient(t.app, server);
    const { id } = user.user;
    await give(id, {});
    await give(id, {
      type: 'subscription_payment',
      amountKopeks: -3_000,
      paymentMethod: 'balance',
      contra: { kind: 'sales_revenue', product: 'tariff' },
    });
    await give(id, { type: 'refund', amountKopeks: -500, paymentMethod: 'tribute' });
    await give(id, { type: 'subscription_payment', amountKopeks: 0, paymentMethod: 'balance' });
    await give(id, { isInternal: true, amountKopeks: 77 });
    const page = await user.get('/cabinet/balance/transactions', { query: { per_page: 3 } });
    expect(page.body).toMatchObject({ total: 4, page: 1, per_page: 3, pages: 2 });
    expect(page.body.items.map((item: { amount_kopeks: number }) => item.amount_kopeks)).toEqual([0, 500, -3_000]);
    expect((await user.get('/cabinet/balance/transactions', { query: { per_page: 3, page: 2 } })).body.items).toMatchObject([
      { amount_kopeks: 10_000, amount_rubles: 100 },
    ]);
    expect((await user.get('/cabinet/balance/transactions', { query: { page: 9 } })).body.items).toEqual([]);
    expect((await user.get('/cabinet/balance')).body.balance_kopeks).toBe(6_577);
  });

  test('own active cards are listed and unlinked once', async () => {
    const [user, other] = [await userClient(t.app, server), await userClient(t.app, server)];
    const card = await storeRow(t.app, 'SavedPaymentMethod', {
      userId: user.user.id,
      providerMethodId: `pm-${user.user.id}`,
      cardLast4: '4242',
      cardType: 'Visa',
      title: 'Visa *4242',
    });
    expect((await user.get('/cabinet/balance/saved-cards')).body).toMatchObject({
      recurrent_enabled: true,
      cards: [{ id: card.id, card_last4: '4242', method_type: 'bank_card' }],
    });
    const path = `/cabinet/balance/saved-cards/${card.id}`;
    expect(await other.delete(path)).toMatchObject({ status: 404, body: { detail: 'Saved card not found' } });
    expect(await user.delete(path)).toMatchObject({
      status: 200,
      body: { success: true, message: 'Card unlinked successfully' },
    });
    expect((await user.delete(path)).status).toBe(404);
    expect((await user.get('/cabinet/balance/saved-cards')).body.cards).toEqual([]);
  });

  test('a Stars invoice has a link and whole stars', async () => {
    const user = await userClient(t.app, server);
    expect((await user.post('/cabinet/balance/stars-invoice', { amount_kopeks: 10_000 })).body).toMatchObject({
      stars_amount: 77,
      amount_kopeks: 10_000,
    });
    expect((await user.post('/cabinet/balance/stars-invoice', { amount_kopeks: 99 })).status).toBe(422);
  });
});

describe('callback routes', () => {
  const signed = (body: string) => createHmac('sha256', sandbox.secrets.paymentSecret).update(body).digest('hex');
  const post = (path: string, body: string, headers: Record<string, string> = {}) =>
    server.inject({ method: 'POST', url: path, payload: body, headers });

  test('a signature is verified over the bytes of the body, with parameters of the content type and a slash at the end', async () => {
    const body = '{ "event_id":"e-1",\n "invoice": {"id":"nobody"} }';
    for (const [path, type] of [
      ['/sandbox-payment-webhook', 'application/json'],
      ['/sandbox-payment-webhook/?a=1', 'Application/JSON; charset=utf-8'],
    ] as const) {
      const reply = await post(path, body, { 'content-type': type, 'x-sandbox-signature': signed(body) });
      expect([reply.statusCode, reply.json()]).toEqual([200, { status: 'ok' }]);
    }
    expect(await t.app.db.sql("SELECT body FROM provider_callbacks WHERE event_key LIKE 'e-1:%'")).toEqual([{ body }]);
    const json = { 'content-type': 'application/json' };
    expect(
      (await post('/sandbox-payment-webhook', `${body} `, { ...json, 'x-sandbox-signature': signed(body) })).statusCode,
    ).toBe(401);
    expect((await post('/sandbox-payment-webhook', body, json)).json()).toEqual({ status: 'error', reason: 'missing_signature' });
    const strange = await post('/sandbox-payment-webhook', body, {
      'content-type': 'text/strange',
      'x-sandbox-signature': signed(body),
    });
    expect([strange.statusCode, strange.json()]).toEqual([415, { status: 'error', reason: 'unsupported_content_type' }]);
  });

  test('the internal path is not reachable, and a provider without adapter has no route', async () => {
    for (const path of ['/~callbacks/sandbox', '/~callbacks/', '/~nowhere', '/tribute-webhook']) {
      const reply = await post(path, '{}', { 'content-type': 'application/json' });
      expect([reply.statusCode, reply.json()]).toEqual([404, { detail: 'Not Found' }]);
    }
  });

  test('a provider that is off has no route, unless it has payments', async () => {
    const user = await userClient(t.app, server);
    const json = { 'content-type': 'application/json' };
    expect((await post('/yookassa-webhook', '{}', json)).json()).toEqual({ detail: 'Not Found' });
    await storeRow(t.app, 'Payment', {
      method: 'yookassa',
      userId: user.user.id,
      orderId: 'old-order',
      amountKopeks: 100,
      status: 'pending',
    });
    t.cache.clear();
    expect((await post('/yookassa-webhook', '{}', json)).json()).toEqual({ status: 'error', reason: 'service_not_configured' });
    const state = await server.inject({ method: 'GET', url: '/yookassa-webhook' });
    expect(state.json()).toEqual({ status: 'ok', service: 'yookassa_webhook', enabled: false });
    const preflight = await server.inject({ method: 'OPTIONS', url: '/yookassa-webhook' });
    expect([preflight.statusCode, preflight.headers['access-control-allow-methods']]).toEqual([200, 'GET, POST, OPTIONS']);
  });

  test('bodies above 64 KiB are refused', async () => {
    const reply = await post('/sandbox-payment-webhook', 'x'.repeat(64 * 1024 + 1), { 'content-type': 'application/json' });
    expect(reply.statusCode).toBe(413);
  });

  test('the health of the callbacks names thirteen providers', async () => {
    const { status, body } = await clientOf(server).get('/health/payment-webhooks');
    const { status: word, ...flags } = body;
    expect([status, word, Object.keys(flags).length, flags.yookassa_enabled]).toEqual([200, 'ok', 13, false]);
  });

  test('spec 10 O11: the health of all entrances, without a credential and without addresses', async () => {
    const { status, body } = await clientOf(server).get('/health/unified');
    expect([status, body]).toMatchObject([
      200,
      {
        status: 'ok',
        bot_run_mode: 'polling',
        web_api_enabled: true,
        miniapp_static: { mounted: false },
        payment_webhooks: { enabled: expect.any(Boolean), providers: { yookassa: false } },
        messenger_webhook: { enabled: expect.any(Boolean), running: expect.any(Boolean), secret_configured: expect.any(Boolean) },
        vpnpanel_webhook: { enabled: expect.any(Boolean) },
      },
    ]);
    expect(JSON.stringify(body)).not.toContain('/');
  });

  test('Stars are asked for, paid and credited through the messenger webhook, also on its configured path', async () => {
    const user: ActorClient = await userClient(t.app, server);
    const { invoice_url: link } = (await user.post('/cabinet/balance/stars-invoice', { amount_kopeks: 10_000 })).body;
    const payer = { id: user.user.messengerId, first_name: 'Payer' };
    expect(await sandbox.servers.messenger.payStars(link, payer)).toMatchObject({ status: 'paid' });
    await callbacksArrive();
    expect((await user.get('/cabinet/balance')).body.balance_kopeks).toBe(10_000);
    const listed = (await user.get('/cabinet/balance/pending-payments')).body.items;
    expect(listed).toMatchObject([
      { method: 'messenger_stars', is_paid: true, is_checkable: false, status_emoji: '✅', amount_kopeks: 10_000 },
    ]);
    const stranger = { id: 8_888_888_888, first_name: 'Nobody' };
    expect(await sandbox.servers.messenger.payStars(link, stranger)).not.toMatchObject({
      chargeId: expect.stringContaining('8888'),
    });
    expect((await post('/messenger-webhook', '{"update_id":1}')).statusCode).toBe(401);
    expect((await post('/webhook', '{"update_id":1}')).statusCode).toBe(401);
  });
});
