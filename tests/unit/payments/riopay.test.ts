import { afterEach, describe, expect, it } from 'vitest';
import type { InvoiceRequest, ProviderCallback } from '../../../src/domain/payments/ports.ts';
import {
  orderBody,
  orderState,
  riopayConnection,
  riopayProvider,
  riopaySignature,
} from '../../../src/integrations/payments/riopay-provider.ts';
import { parseWireObject } from '../../../src/integrations/payments/wire/json.ts';
import { failure, RECORDED_SECRET, recordingServerAccess } from '../../support/providers/adapter-access.ts';

const ORDER = {
  id: 'order-1',
  status: 'CREATED',
  amount: '1000.5',
  currency: 'RUB',
  externalId: 'abc123',
  paymentLink: 'https://pay.example/order-1',
  shopId: 's1',
  merchantId: 'm1',
};

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

async function setup(answer: Parameters<typeof recordingServerAccess>[0] = () => ORDER) {
  const recorded = await recordingServerAccess(answer);
  open.push(recorded.server);
  return { ...recorded, provider: riopayProvider(recorded.access) };
}

const request = (change: Partial<InvoiceRequest> = {}): InvoiceRequest => ({
  paymentId: 7,
  orderId: 'abc123',
  amountKopeks: 100_050,
  description: 'x'.repeat(300),
  returnUrls: { result: null, success: 'https://c.example/ok', failed: 'https://c.example/no' },
  metadata: { user_id: 5 },
  ...change,
});

function callback(body: string, headers: Record<string, string> = {}, signed = body): ProviderCallback {
  return {
    method: 'POST',
    subpath: '',
    query: {},
    ip: '127.0.0.1',
    rawBody: Buffer.from(body),
    headers: { 'x-signature': riopaySignature(signed, RECORDED_SECRET), ...headers },
  };
}

describe('RioPay adapter (03a section 13)', () => {
  it('creates an order by PUT with exactly the documented body', async () => {
    const { provider, requests } = await setup();
    expect(await provider.createInvoice(request())).toMatchObject({
      externalId: 'order-1',
      paymentUrl: 'https://pay.example/order-1',
      status: 'CREATED',
      merchantId: 'm1/s1',
      expiresAt: null,
    });
    expect(requests[0]).toMatchObject({ method: 'PUT', path: '/v1/orders', headers: { 'x-api-token': RECORDED_SECRET } });
    expect(requests[0]!.headers.authorization).toBeUndefined();
    expect(JSON.parse(requests[0]!.body)).toEqual({
      amount: '1000.50',
      currency: 'RUB',
      externalId: 'abc123',
      externalUserId: '5',
      isFeeOnUser: false,
      purpose: 'x'.repeat(255),
      successUrl: 'https://c.example/ok',
      failUrl: 'https://c.example/no',
    });
  });

  const connectionOf = async (environment: Record<string, string>) => {
    const { access, server } = await recordingServerAccess(() => ORDER, environment);
    open.push(server);
    return riopayConnection(access);
  };
  const ON = { RIOPAY_ENABLED: 'true', RIOPAY_API_TOKEN: 't' };

  it('names our callback address where the service knows its own', async () => {
    const connection = await connectionOf({ ...ON, WEBHOOK_URL: 'https://service.example/' });
    expect(connection).toMatchObject({ baseUrl: 'https://api.riopay.online', token: 't' });
    expect(JSON.parse(orderBody(request(), connection!))).toMatchObject({
      callbackUrl: 'https://service.example/riopay-webhook',
    });
  });

  it('the key of callbacks is the token unless another one is set, and without a token the provider is closed', async () => {
    expect(await connectionOf({ ...ON, RIOPAY_WEBHOOK_SECRET: 'w' })).toMatchObject({ webhookSecret: 'w', token: 't' });
    expect(await connectionOf({ ...ON, RIOPAY_WEBHOOK_SECRET: '' })).toMatchObject({ webhookSecret: 't' });
    expect(await connectionOf({ RIOPAY_ENABLED: 'true', RIOPAY_WEBHOOK_SECRET: 'w' })).toBeNull();
  });

  it.each([
    ['below the minimum', { amountKopeks: 9_999 }],
    ['above the maximum', { amountKopeks: 100_000_001 }],
  ])('sends nothing: %s', async (_name, change) => {
    const { provider, requests } = await setup();
    await expect(provider.createInvoice(request(change))).rejects.toMatchObject({ failure: 'rejected' });
    expect(requests).toHaveLength(0);
  });

  it.each([
    [400, 'rejected'],
    [401, 'rejected'],
    [429, 'unavailable'],
    [503, 'unavailable'],
  ])('an answer of %i is %s, without our token in the error', async (status, kind) => {
    const { provider } = await setup(() => failure(status, { statusCode: status, message: 'no', error: 'Error' }));
    const error = await provider.createInvoice(request()).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ failure: kind });
    expect(JSON.stringify(error) + String(error)).not.toContain(RECORDED_SECRET);
  });

  it('asks by the id of the provider, and by ours where that was lost', async () => {
    const { provider, requests } = await setup();
    expect(await provider.fetchStatus({ externalId: 'order-1', orderId: 'abc123' })).toMatchObject({ outcome: 'pending' });
    expect(await provider.fetchStatus({ externalId: null, orderId: 'abc123' })).toMatchObject({ externalId: 'order-1' });
    expect(requests.map(({ path }) => path)).toEqual(['/v1/orders/order-1', '/v1/orders/external/abc123']);
    await expect(provider.fetchStatus({ externalId: 'order-2', orderId: null })).rejects.toMatchObject({
      failure: 'unavailable',
    });
    await expect(provider.fetchStatus({ externalId: null, orderId: 'other' })).rejects.toMatchObject({ failure: 'unavailable' });
  });

  it.each([
    ['CREATED', 'pending', []],
    ['PENDING', 'pending', []],
    ['COMPLETED', 'paid', []],
    ['FAILED', 'failed', []],
    ['CANCELED', 'failed', []],
    ['EXPIRED', 'failed', []],
    ['BLOCKED', 'blocked', []],
    ['REFUND', 'failed', [{ reversalId: 'order-1:refund', kind: 'refund', amountKopeks: null }]],
    ['CHARGEBACK', 'failed', [{ reversalId: 'order-1:chargeback', kind: 'chargeback', amountKopeks: null }]],
    ['SOMETHING_NEW', 'pending', []],
  ])('the status %s is %s', (status, outcome, reversals) => {
    const order = parseWireObject(JSON.stringify({ ...ORDER, status, payedAt: '2026-03-01T10:00:00Z', received: '950.5' }))!;
    expect(orderState(order)).toMatchObject({
      outcome,
      reversals,
      amountKopeks: 100_050,
      currency: 'RUB',
      orderId: 'abc123',
      merchantId: 'm1/s1',
      isTest: false,
      feeKopeks: outcome === 'paid' ? 5_000 : null,
      paidAt: outcome === 'paid' ? new Date('2026-03-01T10:00:00Z') : null,
    });
  });

  it.each([
    ['no currency', { currency: undefined }],
    ['a sign', { amount: '-5' }],
    ['a fraction of a kopek', { amount: '5.001' }],
    ['an exponent', { amount: '1e3' }],
  ])('reads no state from an order with %s', (_name, change) => {
    expect(orderState(parseWireObject(JSON.stringify({ ...ORDER, ...change }))!)).toBeNull();
  });

  it('an order that has ended is credited from the callback, while an open one and an unknown word are asked about', async () => {
    const { provider } = await setup();
    const read = (change: object) => provider.readCallback!(JSON.stringify({ ...ORDER, ...change }), '');
    expect(read({ status: 'COMPLETED' })).toMatchObject({ outcome: 'paid', externalId: 'order-1' });
    expect(read({ status: 'COMPLETED', isTest: true })).toMatchObject({ isTest: true });
    expect(read({ status: 'PENDING' })).toBeNull();
    expect(read({ status: 'SOMETHING_NEW' })).toBeNull();
    expect(read({ status: 'COMPLETED', orderId: 'order-1', id: 'refund-1' })).toBeNull();
  });

  it('the signature may be over the body as it is written again, and over nothing else', async () => {
    const { provider } = await setup();
    const spaced = '{ "id": "order-1", "status": "COMPLETED", "externalId": "abc123" }';
    const compact = '{"id":"order-1","status":"COMPLETED","externalId":"abc123"}';
    expect(await provider.receiveCallback(callback(spaced, {}, compact))).toMatchObject({ accepted: true });
    expect(await provider.receiveCallback(callback(compact, {}, spaced))).toMatchObject({
      accepted: false,
      reply: { status: 403, body: 'Error' },
    });
  });

  it('the report of a refund names the order to ask about', async () => {
    const { provider } = await setup();
    const body = '{"id":"refund-1","orderId":"order-1","externalId":"abc123","status":"COMPLETED","amount":"1000.5"}';
    expect(await provider.receiveCallback(callback(body, { 'x-type': 'REFUND_UPDATE' }))).toMatchObject({
      accepted: true,
      reference: { externalId: 'order-1', orderId: 'abc123' },
      eventKey: 'refund-1:COMPLETED',
    });
  });

  it.each([
    ['a payout', callback('{"id":"p","externalId":"abc123","status":"COMPLETED"}', { 'x-type': 'PAYOUT_UPDATE' }), 200],
    ['a body without an id', callback('{"status":"COMPLETED"}'), 200],
    ['an id with a path in it', callback('{"id":"../services"}'), 200],
    ['a repeated key', callback('{"id":"a","id":"b"}'), 400],
    ['no JSON', callback('{'), 400],
    ['no signature', callback('{"id":"a"}', { 'x-signature': '' }), 403],
    ['another method', { ...callback(''), method: 'OPTIONS' }, 405],
  ])('stores nothing of: %s', async (_name, received, status) => {
    const { provider } = await setup();
    expect(await provider.receiveCallback(received)).toMatchObject({ accepted: false, reply: { status } });
  });

  it('returns whole payments, which the status of the order then says', async () => {
    const { provider, requests } = await setup();
    const refund = { externalId: 'order-1', orderId: 'abc123', chargeId: null, amountKopeks: 100_050, idempotencyKey: 'k' };
    expect(await provider.refund!({ ...refund, isWhole: true })).toEqual({ reversalId: 'order-1:refund', state: 'pending' });
    expect(requests[0]).toMatchObject({ method: 'POST', path: '/v1/refunds' });
    expect(JSON.parse(requests[0]!.body)).toEqual({ orderId: 'order-1', externalId: 'abc123' });
    await expect(provider.refund!({ ...refund, isWhole: false })).rejects.toMatchObject({ failure: 'rejected' });
    expect(requests).toHaveLength(1);
  });
});
