import { afterEach, describe, expect, it } from 'vitest';
import type { InvoiceRequest, ProviderCallback } from '../../../src/domain/payments/ports.ts';
import { cutToBytes, plategaProvider, transactionState } from '../../../src/integrations/payments/platega-provider.ts';
import { parseWireObject } from '../../../src/integrations/payments/wire/json.ts';
import { failure, RECORDED_NOW, RECORDED_SECRET, recordingServerAccess } from '../../support/providers/adapter-access.ts';

const MERCHANT = '0f0e0d0c-1111-2222-3333-444455556666';
const SETTINGS = {
  PLATEGA_ENABLED: 'true',
  PLATEGA_MERCHANT_ID: MERCHANT,
  PLATEGA_SECRET: 'p-secret',
  PLATEGA_BASE_URL: '{url}/',
};
const CREATED = { transactionId: 'tx-1', redirect: 'https://pay.example/tx-1', status: 'PENDING', expiresIn: '00:15:00' };

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

async function setup(
  answer: Parameters<typeof recordingServerAccess>[0] = () => CREATED,
  environment: Record<string, string> | null = SETTINGS,
) {
  const recorded = await recordingServerAccess(answer, environment);
  open.push(recorded.server);
  return { ...recorded, provider: plategaProvider(recorded.access) };
}

const request = (change: Partial<InvoiceRequest> = {}): InvoiceRequest => ({
  paymentId: 7,
  orderId: 'abc123',
  amountKopeks: 50_050,
  description: 'Top-up',
  option: '11',
  returnUrls: { result: 'https://c.example/r', success: 'https://c.example/ok', failed: 'https://c.example/no' },
  metadata: { user_id: 5, user_messenger_id: null, user_username: 'ann' },
  ...change,
});

const callback = (body: string, headers: Record<string, string> = {}): ProviderCallback => ({
  method: 'POST',
  subpath: '',
  query: {},
  ip: '127.0.0.1',
  rawBody: Buffer.from(body),
  headers: { 'x-merchantid': MERCHANT.toUpperCase(), 'x-secret': 'p-secret', ...headers },
});

describe('Platega adapter (03a section 8)', () => {
  it('creates a transaction with exactly the documented body, and never an id', async () => {
    const { provider, requests } = await setup();
    expect(await provider.createInvoice(request())).toMatchObject({
      externalId: 'tx-1',
      paymentUrl: 'https://pay.example/tx-1',
      status: 'PENDING',
      merchantId: MERCHANT,
      expiresAt: new Date(RECORDED_NOW.getTime() + 15 * 60_000),
    });
    expect(requests[0]).toMatchObject({ method: 'POST', path: '/transaction/process' });
    expect(requests[0]!.headers).toMatchObject({ 'x-merchantid': MERCHANT, 'x-secret': 'p-secret' });
    expect(requests[0]!.body).toContain('"amount":500.5,');
    expect(JSON.parse(requests[0]!.body)).toEqual({
      paymentMethod: 11,
      paymentDetails: { amount: 500.5, currency: 'RUB' },
      description: 'Top-up',
      return: 'https://c.example/ok',
      failedUrl: 'https://c.example/no',
      payload: 'platega:abc123',
      metadata: { userId: '5', userName: 'ann' },
    });
  });

  it.each([
    ['the code 10, which does not exist', { option: '10' }],
    ['the code of subscriptions', { option: '6' }],
    ['below the minimum', { amountKopeks: 9_999 }],
    ['above the maximum', { amountKopeks: 100_000_001 }],
    ['without a page to return to', { returnUrls: { result: null, success: null, failed: null } }],
  ])('sends nothing: %s', async (_name, change) => {
    const { provider, requests } = await setup();
    await expect(provider.createInvoice(request(change))).rejects.toMatchObject({ failure: 'rejected' });
    expect(requests).toHaveLength(0);
  });

  it('03a section 0.6: a create that failed at the provider is not sent again', async () => {
    const { provider, requests } = await setup(() => failure(502));
    await expect(provider.createInvoice(request())).rejects.toMatchObject({ failure: 'unavailable' });
    expect(requests).toHaveLength(1);
  });

  it.each([
    [400, 'rejected'],
    [401, 'rejected'],
    [429, 'unavailable'],
    [500, 'unavailable'],
  ])('an answer of %i is %s, without our secret in the error', async (status, kind) => {
    const { provider } = await setup(() => failure(status, { message: ['bad'] }));
    const error = await provider.createInvoice(request()).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ failure: kind });
    expect(JSON.stringify(error) + String(error)).not.toContain('p-secret');
  });

  it('an answer without a web address is no invoice', async () => {
    const { provider } = await setup(() => ({ ...CREATED, redirect: 'javascript:alert(1)' }));
    await expect(provider.createInvoice(request())).rejects.toMatchObject({ failure: 'unavailable' });
  });

  it.each([
    ['PENDING', 'pending'],
    ['CONFIRMED', 'paid'],
    ['CANCELED', 'failed'],
    ['CHARGEBACKED', 'failed'],
    ['EXPIRED', 'pending'],
    ['SOMETHING_NEW', 'pending'],
  ])('the status %s is %s, and unknown words change nothing', (status, outcome) => {
    const answer = parseWireObject(
      `{"id":"tx-1","status":"${status}","paymentDetails":{"amount":500.00,"currency":"rub"},"mechantId":"${MERCHANT.toUpperCase()}","payload":"platega:abc123"}`,
    )!;
    const state = transactionState(answer);
    expect(state).toMatchObject({
      outcome,
      status,
      amountKopeks: 50_000,
      currency: 'RUB',
      orderId: 'abc123',
      merchantId: MERCHANT,
    });
    expect(state?.reversals).toEqual(
      status === 'CHARGEBACKED' ? [{ reversalId: 'tx-1:reversed', kind: 'refund', amountKopeks: null }] : [],
    );
  });

  it.each([
    '{"amount":"1e3","currency":"RUB"}',
    '{"amount":-5,"currency":"RUB"}',
    '{"amount":5.001,"currency":"RUB"}',
    '"5"',
    'null',
  ])('reads no state from the payment details %s', (details) => {
    expect(transactionState(parseWireObject(`{"id":"t","status":"CONFIRMED","paymentDetails":${details}}`)!)).toBeNull();
  });

  it('payment details may be a text', () => {
    const answer = parseWireObject('{"id":"t","status":"CONFIRMED","paymentDetails":"100.50 RUB"}')!;
    expect(transactionState(answer)).toMatchObject({ amountKopeks: 10_050, currency: 'RUB', orderId: null });
  });

  it('another transaction in the answer confirms nothing', async () => {
    const { provider } = await setup(() => ({ id: 'tx-2', status: 'CONFIRMED', paymentDetails: { amount: 1, currency: 'RUB' } }));
    await expect(provider.fetchStatus({ externalId: 'tx-1', orderId: null })).rejects.toMatchObject({ failure: 'unavailable' });
    await expect(provider.fetchStatus({ externalId: null, orderId: 'abc123' })).rejects.toMatchObject({ failure: 'rejected' });
  });

  it('a cancellation is pending until the status says it, and refused when it needs the support', async () => {
    const { provider, requests } = await setup((_request, count) => ({
      accepted: count === 1,
      manualControlRequired: count !== 1,
    }));
    const refund = {
      externalId: 'tx-1',
      orderId: 'abc123',
      chargeId: null,
      amountKopeks: 50_050,
      isWhole: true,
      idempotencyKey: 'k',
    };
    expect(await provider.refund!(refund)).toEqual({ reversalId: 'tx-1:reversed', state: 'pending' });
    expect(requests[0]).toMatchObject({ method: 'POST', path: '/transaction/tx-1/cancel' });
    await expect(provider.refund!(refund)).rejects.toMatchObject({ failure: 'rejected' });
    expect(provider.canRefundPartly ?? false).toBe(false);
  });

  it.each([
    ['an address check without headers and body', callback('', { 'x-merchantid': '', 'x-secret': '' }), 200],
    ['an empty body with headers', callback(''), 400],
    ['a body without headers', callback('{"id":"tx-1"}', { 'x-merchantid': '', 'x-secret': '' }), 401],
    ['a repeated key', callback('{"id":"a","id":"b"}'), 400],
    ['an event of a subscription', callback('{"Id":"a","Amount":5,"Status":"CONFIRMED","SubscriptionId":"s"}'), 200],
    ['an id with a path in it', callback('{"id":"../balance","status":"CONFIRMED"}'), 200],
    ['another method', { ...callback(''), method: 'OPTIONS' }, 405],
  ])('stores nothing of: %s', async (_name, received, status) => {
    const { provider } = await setup();
    expect(await provider.receiveCallback(received)).toMatchObject({ accepted: false, reply: { status } });
  });

  it('a callback names the transaction and our order, but proves nothing itself', async () => {
    const { provider } = await setup();
    expect(
      await provider.receiveCallback(callback('{"id":"tx-1","status":"CONFIRMED","payload":"platega:abc123"}')),
    ).toMatchObject({
      accepted: true,
      reference: { externalId: 'tx-1', orderId: 'abc123' },
      eventKey: 'tx-1:CONFIRMED',
      reply: { status: 200, body: '{"status":"ok"}' },
    });
    expect(provider.readCallback).toBeUndefined();
  });

  it.each(['PLATEGA_MERCHANT_ID', 'PLATEGA_SECRET'] as const)('is closed without %s', async (missing) => {
    const { [missing]: _left, ...rest } = SETTINGS;
    const { provider } = await setup(undefined, rest);
    expect(provider.isConfigured()).toBe(false);
    await expect(provider.createInvoice(request())).rejects.toMatchObject({ failure: 'not_configured' });
    expect(await provider.receiveCallback(callback('{"id":"tx-1"}'))).toMatchObject({ accepted: false, reply: { status: 503 } });
  });

  it('the sandbox replaces the credentials', async () => {
    const { provider, requests } = await setup(undefined, null);
    await provider.createInvoice(request());
    expect(requests[0]!.headers['x-secret']).toBe(RECORDED_SECRET);
  });

  it('cuts between characters, also those of four bytes', () => {
    expect(cutToBytes('a😀b', 4)).toBe('a');
    expect(cutToBytes('a😀b', 5)).toBe('a😀');
  });
});
