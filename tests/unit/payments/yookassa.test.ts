import { afterEach, describe, expect, it } from 'vitest';
import { type PaymentSandbox, startPaymentSandbox } from '../../../packages/sandbox/src/payments/payment-sandbox.ts';
import { createHttpClient } from '../../../src/core/http/outbound.ts';
import type { InvoiceRequest, ProviderCallback } from '../../../src/domain/payments/ports.ts';
import { kopeksFromText, rublesText } from '../../../src/integrations/payments/wire/money.ts';
import {
  createYookassaProvider,
  type YookassaConnection,
} from '../../../src/integrations/payments/yookassa/yookassa-provider.ts';
import { memoryStore, onceHttp, type Recorder, startRecorder } from '../../support/loopback-http.ts';

const SECRET = 'live_secret';
const NOW = new Date('2026-03-01T10:00:00.000Z');
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

async function setup(change: Partial<YookassaConnection> | null = {}) {
  const receiver = await startRecorder(() => ({ status: 200, contentType: 'application/json', body: '{}' }));
  const sandbox = await startPaymentSandbox({
    store: memoryStore(),
    http: onceHttp(),
    secret: SECRET,
    now: () => NOW,
    serviceUrl: () => receiver.server.url,
  });
  open.push(receiver.server, sandbox);
  const connection: YookassaConnection = {
    baseUrl: `${sandbox.server.url}/yookassa`,
    shopId: 'sandbox',
    secretKey: SECRET,
    isTestShop: true,
    returnUrl: null,
    receiptEmail: 'receipts@shop.example',
    vatCode: 1,
    paymentMode: 'full_payment',
    paymentSubject: 'service',
    saveCard: false,
    minKopeks: 5_000,
    maxKopeks: 1_000_000,
    proxies: [],
    allowedNetworks: ['127.0.0.0/8'],
    ...change,
  };
  const provider = createYookassaProvider({
    http: createHttpClient({ system: 'yookassa', retries: 0 }),
    connection: () => (change === null ? null : connection),
    isOn: () => true,
    webhookPath: () => '/yookassa-webhook',
  });
  return { provider, sandbox, receiver, connection };
}

const invoice = (change: Partial<InvoiceRequest> = {}): InvoiceRequest => ({
  paymentId: 7,
  orderId: 'yk_2f6f0f3c9d1b4c7f8a11',
  amountKopeks: 12_345,
  description: 'Service - top-up',
  returnUrls: { result: 'https://cabinet.example/balance/top-up/result?method=yookassa', success: null, failed: null },
  metadata: { user_id: 5, user_username: null, type: 'balance_topup' },
  ...change,
});

/** The notification that the sandbox posted, as the HTTP layer passes it to the adapter. */
async function lastCallback({ receiver, sandbox }: { receiver: Recorder; sandbox: PaymentSandbox }): Promise<ProviderCallback> {
  await sandbox.idle();
  const request = receiver.requests.at(-1);
  if (!request) throw new Error('no callback came');
  return callback(request.body);
}

const callback = (body: string, change: Partial<ProviderCallback> = {}): ProviderCallback => ({
  method: 'POST',
  headers: {},
  rawBody: Buffer.from(body),
  query: {},
  subpath: '',
  ip: '127.0.0.1',
  ...change,
});

describe('YooKassa adapter against the v3 wire', () => {
  it('creates a payment, receives its notification, and confirms it by a status request', async () => {
    const context = await setup();
    const { provider, sandbox } = context;
    const created = await provider.createInvoice(invoice());
    expect(created).toMatchObject({ status: 'pending', expiresAt: new Date('2026-03-02T10:00:00.000Z'), merchantId: 'sandbox' });
    expect(created.paymentUrl).toBe(`${sandbox.server.url}/pay/${created.externalId}`);
    expect(await provider.fetchStatus({ externalId: created.externalId, orderId: null })).toMatchObject({
      outcome: 'pending',
      amountKopeks: 12_345,
      currency: 'RUB',
      orderId: invoice().orderId,
      paidAt: null,
    });

    await sandbox.act(created.externalId, 'pay');
    const verdict = await provider.receiveCallback(await lastCallback(context));
    expect(verdict).toMatchObject({
      accepted: true,
      reference: { externalId: created.externalId, orderId: null },
      eventKey: `payment.succeeded:${created.externalId}`,
      reply: { status: 200, body: '{"status":"ok"}' },
    });
    expect(await provider.fetchStatus({ externalId: created.externalId, orderId: null })).toMatchObject({
      status: 'succeeded',
      outcome: 'paid',
      paidAt: NOW,
    });
  });

  it('creates one payment per order id, however often it is requested', async () => {
    const { provider, sandbox } = await setup();
    const first = await provider.createInvoice(invoice());
    const second = await provider.createInvoice(invoice());
    expect(second.externalId).toBe(first.externalId);
    expect(await sandbox.list()).toHaveLength(1);
  });

  it('sends amount, receipt, metadata without nulls and the option', async () => {
    const seen = await startRecorder(() => ({ status: 500, contentType: 'application/json', body: '{}' }));
    open.push(seen.server);
    const { provider } = await setup({ baseUrl: seen.server.url, saveCard: true });
    await expect(provider.createInvoice(invoice({ option: 'sbp', payerEmail: 'payer@example.org' }))).rejects.toMatchObject({
      failure: 'unavailable',
    });
    await expect(provider.createInvoice(invoice({ option: 'card' }))).rejects.toMatchObject({ failure: 'unavailable' });
    const [sbp, card] = seen.requests.map((request) => JSON.parse(request.body));
    expect(seen.requests[0]?.headers).toMatchObject({
      'idempotence-key': invoice().orderId,
      authorization: `Basic ${Buffer.from(`sandbox:${SECRET}`).toString('base64')}`,
    });
    expect(sbp).toMatchObject({
      amount: { value: '123.45', currency: 'RUB' },
      capture: true,
      metadata: { order_id: invoice().orderId, user_id: '5', type: 'balance_topup' },
      payment_method_data: { type: 'sbp' },
      receipt: {
        customer: { email: 'payer@example.org' },
        items: [{ quantity: '1.00', amount: { value: '123.45', currency: 'RUB' }, vat_code: 1, payment_mode: 'full_payment' }],
      },
    });
    expect(Object.keys(sbp.metadata)).not.toContain('user_username');
    expect(sbp.save_payment_method).toBeUndefined();
    expect(card.save_payment_method).toBe(true);
    expect(card.receipt.customer.email).toBe('receipts@shop.example');
  });

  it.each([
    ['spec 03 H16: no receipt contact, for which no address is invented', { receiptEmail: null }, {}],
    ['below the minimum', {}, { amountKopeks: 4_999 }],
    ['above the maximum', {}, { amountKopeks: 1_000_001 }],
    ['no return URL', {}, { returnUrls: { result: null, success: null, failed: null } }],
    ['wrong secret', { secretKey: 'other' }, {}],
  ])('rejects: %s', async (_name, connection, request) => {
    const { provider, sandbox } = await setup(connection);
    await expect(provider.createInvoice(invoice(request))).rejects.toMatchObject({ name: 'ProviderError', failure: 'rejected' });
    expect(await sandbox.list()).toHaveLength(0);
  });

  it('is not configured without a connection, and refuses POST then', async () => {
    const { provider } = await setup(null);
    expect(provider.isConfigured()).toBe(false);
    await expect(provider.fetchStatus({ externalId: 'x', orderId: null })).rejects.toMatchObject({ failure: 'not_configured' });
    expect(await provider.receiveCallback(callback('{}'))).toMatchObject({ accepted: false, reply: { status: 503 } });
    const info = await provider.receiveCallback(callback('', { method: 'GET' }));
    expect(JSON.parse(info.reply.body)).toEqual({ status: 'ok', service: 'yookassa_webhook', enabled: false });
  });

  it('spec 03 H9: a forged success only causes a status request, which shows the payment still pending', async () => {
    const { provider } = await setup();
    const { externalId } = await provider.createInvoice(invoice());
    const forged = {
      event: 'payment.succeeded',
      object: { id: externalId, status: 'succeeded', paid: true, amount: { value: '1.00' } },
    };
    expect(await provider.receiveCallback(callback(JSON.stringify(forged)))).toMatchObject({
      accepted: true,
      reference: { externalId },
    });
    expect(await provider.fetchStatus({ externalId: externalId, orderId: null })).toMatchObject({
      outcome: 'pending',
      amountKopeks: 12_345,
    });
    await expect(provider.fetchStatus({ externalId: 'unknown-payment', orderId: null })).rejects.toMatchObject({
      failure: 'rejected',
    });
  });

  it('spec 03 H9: neither a missing nor an unreadable answer confirms a payment', async () => {
    const broken = await startRecorder((_request, count) => ({
      status: count === 1 ? 503 : 200,
      contentType: 'application/json',
      body: count === 2 ? '{' : '{"id":"other","status":"succeeded","paid":true,"amount":{"value":"1.00","currency":"RUB"}}',
    }));
    open.push(broken.server);
    const { provider } = await setup({ baseUrl: broken.server.url });
    for (let attempt = 0; attempt < 3; attempt++) {
      await expect(provider.fetchStatus({ externalId: 'mine', orderId: null })).rejects.toMatchObject({ failure: 'unavailable' });
    }
  });

  it('a refund is reported with its id and amount, a part of it too', async () => {
    const { provider, sandbox } = await setup();
    const first = await provider.createInvoice(invoice());
    await sandbox.act(first.externalId, 'pay');
    await sandbox.act(first.externalId, 'refund', 2_345);
    const stateOf = (externalId: string) => provider.fetchStatus({ externalId, orderId: null });
    expect(await stateOf(first.externalId)).toMatchObject({
      outcome: 'paid',
      reversals: [{ reversalId: expect.any(String), kind: 'refund', amountKopeks: 2_345 }],
    });
    await sandbox.act(first.externalId, 'refund');
    expect((await stateOf(first.externalId)).reversals).toHaveLength(2);
  });

  it('a canceled payment is failed', async () => {
    const { provider, sandbox } = await setup();
    const { externalId } = await provider.createInvoice(invoice());
    await sandbox.act(externalId, 'fail');
    expect(await provider.fetchStatus({ externalId, orderId: null })).toMatchObject({
      status: 'canceled',
      outcome: 'failed',
      reversals: [],
    });
  });

  it('spec 10 M9: all refunds of a payment are read, page by page, and no more pages than a limit', async () => {
    const refund = (id: string) => ({ id, payment_id: 'p', status: 'succeeded', amount: { value: '1.00', currency: 'RUB' } });
    const money = { value: '500.00', currency: 'RUB' };
    const pages: Record<string, object> = {
      '': { items: [refund('r1'), refund('r2')], next_cursor: 'second page' },
      'second page': { items: [refund('r3')] },
    };
    const asked: (string | null)[] = [];
    const seen = await startRecorder(({ path, query }) => {
      const payment = { id: 'p', status: 'succeeded', paid: true, amount: money, refunded_amount: { ...money, value: '3.00' } };
      if (path.startsWith('/refunds')) asked.push(query.get('cursor'));
      const body = path.startsWith('/refunds') ? (pages[query.get('cursor') ?? ''] ?? {}) : payment;
      return { status: 200, contentType: 'application/json', body: JSON.stringify(body) };
    });
    open.push(seen.server);
    const { provider } = await setup({ baseUrl: seen.server.url });
    const read = async () =>
      (await provider.fetchStatus({ externalId: 'p', orderId: null })).reversals!.map(({ reversalId }) => reversalId);
    expect(await read()).toEqual(['r1', 'r2', 'r3']);
    expect(asked).toEqual([null, 'second page']);
    pages['second page'] = { items: [refund('r3')], next_cursor: 'second page' };
    asked.length = 0;
    expect(await read()).toHaveLength(2 + 19);
    expect(asked).toHaveLength(20);
  });

  it('gives money back once per idempotency key, not more than was paid', async () => {
    const { provider, sandbox } = await setup();
    const { externalId } = await provider.createInvoice(invoice());
    await sandbox.act(externalId, 'pay');
    const request = { externalId, orderId: invoice().orderId, chargeId: null, isWhole: false };
    const refund = (amountKopeks: number, idempotencyKey: string) =>
      provider.refund!({ ...request, amountKopeks, idempotencyKey });
    const first = await refund(10_000, 'refund-1');
    expect(first.state).toBe('done');
    expect(await refund(10_000, 'refund-1')).toEqual(first);
    await expect(refund(10_000, 'refund-2')).rejects.toMatchObject({ failure: 'rejected' });
  });

  it('spec 03a section 5: the notification of a refund names the payment to ask about', async () => {
    const context = await setup();
    const { externalId } = await context.provider.createInvoice(invoice());
    await context.sandbox.act(externalId, 'pay');
    await context.sandbox.act(externalId, 'refund');
    expect(await context.provider.receiveCallback(await lastCallback(context))).toMatchObject({
      accepted: true,
      reference: { externalId },
      eventKey: expect.stringMatching(/^refund\.succeeded:/),
    });
  });

  it('spec 03a section 5: a payment in test mode is not one of a live shop', async () => {
    const { provider, sandbox } = await setup({ isTestShop: false });
    const { externalId } = await provider.createInvoice(invoice());
    await sandbox.act(externalId, 'pay');
    expect(await provider.fetchStatus({ externalId, orderId: null })).toMatchObject({ outcome: 'paid', isTest: true });
  });

  it.each([
    ['forbidden source', '{}', { ip: '8.8.8.8' }, 403, { reason: 'forbidden_ip' }],
    ['unreadable source', '{}', { ip: '?' }, 403, { reason: 'unknown_ip' }],
    ['empty', ' ', {}, 400, { reason: 'empty_body' }],
    ['no JSON', '{', {}, 400, { reason: 'invalid_json' }],
    ['a list', '[]', {}, 400, { reason: 'invalid_json' }],
    ['no event', '{"object":{"id":"a"}}', {}, 400, { reason: 'missing_event' }],
    [
      'id with a path in it',
      '{"event":"payment.succeeded","object":{"id":"../refunds"}}',
      {},
      400,
      { reason: 'missing_payment_id' },
    ],
    ['a repeated key', '{"event":"payment.succeeded","event":"x","object":{"id":"a"}}', {}, 400, { reason: 'invalid_json' }],
    ['refund without payment', '{"event":"refund.succeeded","object":{"id":"a"}}', {}, 400, { reason: 'missing_payment_id' }],
    ['other event', '{"event":"payout.succeeded","object":{"id":"a"}}', {}, 200, { status: 'ok', ignored: 'payout.succeeded' }],
    ['OPTIONS', '', { method: 'OPTIONS' }, 200, { status: 'ok' }],
    ['DELETE', '', { method: 'DELETE' }, 405, { detail: 'Method Not Allowed' }],
  ])('callback: %s', async (_name, body, change, status, expected) => {
    const { provider } = await setup();
    const verdict = await provider.receiveCallback(callback(body, change));
    expect(verdict.accepted).toBe(false);
    expect(verdict.reply.status).toBe(status);
    expect(JSON.parse(verdict.reply.body)).toMatchObject(expected);
  });

  it.each([
    [1, '0.01'],
    [100, '1.00'],
    [12_345, '123.45'],
    [1_000_009, '10000.09'],
  ])('writes and reads %i kopeks as %s', (kopeks, rubles) => {
    expect(rublesText(kopeks)).toBe(rubles);
    expect(kopeksFromText(rubles)).toBe(kopeks);
  });

  it.each(['', '-1.00', '1.001', '1e2', '1,00', 'NaN'])('reads no amount from %j', (value) => {
    expect(kopeksFromText(value)).toBeNull();
  });
});
