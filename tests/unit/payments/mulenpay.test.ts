import { describe, expect, it } from 'vitest';
import { OutboundError } from '../../../src/core/http/http-client.ts';
import { createSignature, headerSignature, mulenpayProvider } from '../../../src/integrations/payments/mulenpay-provider.ts';
import { aCallback, anInvoice, recordedAccess } from '../../support/providers/adapter-access.ts';

const SECRET = 'mulen-secret';
const SETTINGS = { MULENPAY_ENABLED: 'true', MULENPAY_API_KEY: 'api-key', MULENPAY_SECRET_KEY: SECRET, MULENPAY_SHOP_ID: '42' };
const ORDER = anInvoice().orderId;
const created = { status: 201, body: { success: true, paymentUrl: 'https://mulenpay.ru/pay/777', id: 777 } };
const payment = (change: object = {}) => ({
  body: { success: true, payment: { id: 777, uuid: ORDER, amount: '1000.50', currency: 'rub', status: 3, ...change } },
});
const reference = { externalId: '777', orderId: ORDER };

describe('MulenPay: requests', () => {
  it('creates a payment once, signed, with a receipt of the whole amount', async () => {
    const { access, requests } = recordedAccess({ ...SETTINGS, MULENPAY_WEBSITE_URL: 'https://shop.example' }, () => created);
    const description = 'd'.repeat(200);
    expect(await mulenpayProvider(access).createInvoice(anInvoice({ description }))).toMatchObject({
      externalId: '777',
      paymentUrl: 'https://mulenpay.ru/pay/777',
      status: 'created',
      expiresAt: null,
    });
    const [request] = requests;
    // 03a section 0.6: a repeat would create a second payment.
    expect(request).toMatchObject({ method: 'POST', url: 'https://mulenpay.ru/api/v2/payments', idempotent: false });
    expect(request!.headers).toMatchObject({ authorization: 'Bearer api-key', 'content-type': 'application/json' });
    expect(JSON.parse(String(request!.body))).toEqual({
      currency: 'rub',
      amount: '1000.50',
      uuid: ORDER,
      shopId: 42,
      description,
      language: 'ru',
      website_url: 'https://shop.example',
      items: [{ description: 'd'.repeat(128), quantity: 1, price: 1000.5, vat_code: 0, payment_subject: 4, payment_mode: 4 }],
      sign: createSignature('1000.50', { shopId: 42, secretKey: SECRET }),
    });
  });

  it.each([
    [1_999, '"price":19.99'],
    [100_000, '"price":1000,'],
    [29, '"price":0.29'],
  ])('writes %i kopeks as %s', async (amountKopeks, price) => {
    const { access, requests } = recordedAccess(SETTINGS, () => created);
    await mulenpayProvider(access).createInvoice(anInvoice({ amountKopeks }));
    expect(requests[0]!.body).toContain(price);
  });

  it.each([
    ['wrong credentials', { status: 401, body: { error: 'x', status: 401 } }, 'rejected'],
    ['a refused field', { status: 422, body: { error: 'x', status: 422 } }, 'rejected'],
    ['a broken provider', { status: 500, body: '' }, 'unavailable'],
    ['no JSON', { body: '<html>' }, 'unavailable'],
    ['a lost answer', new OutboundError('mulenpay', 'timeout', 'no answer'), 'unavailable'],
  ])('%s', async (_name, answer, failure) => {
    const provider = mulenpayProvider(recordedAccess(SETTINGS, () => answer).access);
    await expect(provider.createInvoice(anInvoice())).rejects.toMatchObject({ failure });
    await expect(provider.fetchStatus(reference)).rejects.toMatchObject({ failure });
    await expect(provider.fetchStatus({ externalId: null, orderId: ORDER })).rejects.toMatchObject({ failure: 'rejected' });
  });

  it.each(Object.keys(SETTINGS).slice(1))('is not configured without %s', async (key) => {
    const provider = mulenpayProvider(recordedAccess({ ...SETTINGS, [key]: '' }).access);
    expect(provider.isConfigured()).toBe(false);
    expect(await provider.receiveCallback(aCallback('{}'))).toMatchObject({ accepted: false, reply: { status: 503 } });
  });

  it.each([
    [0, 'created', 'pending'],
    [1, 'processing', 'pending'],
    [2, 'canceled', 'failed'],
    [3, 'success', 'paid'],
    [4, 'error', 'failed'],
    [5, 'hold', 'pending'],
    [6, 'hold', 'pending'],
    [7, 'unknown', 'pending'],
  ])('status %i is %s', async (status, word, outcome) => {
    const { access, requests } = recordedAccess(SETTINGS, () => payment({ status }));
    expect(await mulenpayProvider(access).fetchStatus(reference)).toMatchObject({
      externalId: '777',
      orderId: ORDER,
      status: word,
      outcome,
      amountKopeks: 100_050,
      currency: 'RUB',
    });
    expect(requests[0]).toMatchObject({ method: 'GET', url: 'https://mulenpay.ru/api/v2/payments/777' });
  });

  it('an answer about another payment decides nothing', async () => {
    const provider = mulenpayProvider(recordedAccess(SETTINGS, () => payment({ id: 778 })).access);
    await expect(provider.fetchStatus(reference)).rejects.toMatchObject({ failure: 'unavailable' });
  });
});

describe('MulenPay: refunds', () => {
  const refund = (put: { status?: number; body: unknown }, status: number) => {
    const { access, requests } = recordedAccess(SETTINGS, ({ method }) => (method === 'PUT' ? put : payment({ status })));
    const request = { ...reference, chargeId: null, amountKopeks: 100_050, isWhole: true, idempotencyKey: 'refund-1' };
    return { answer: mulenpayProvider(access).refund!(request), requests };
  };
  const done = { reversalId: '777:refund', state: 'done' };
  const refusal = { status: 422, body: { error: 'x', status: 422 } };

  it('give back the whole payment, by a request that is not repeated', async () => {
    const { answer, requests } = refund({ body: { success: true } }, 3);
    expect(await answer).toEqual(done);
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({ url: 'https://mulenpay.ru/api/v2/payments/777/refund', idempotent: false });
  });

  it('that were carried out, with a lost answer, are not taken for refused', async () => {
    expect(await refund(refusal, 2).answer).toEqual(done);
  });

  it('are refused while the payment is still paid', async () => {
    await expect(refund(refusal, 3).answer).rejects.toMatchObject({ failure: 'rejected' });
    await expect(refund({ body: { success: false } }, 3).answer).rejects.toMatchObject({ failure: 'rejected' });
    await expect(refund({ status: 502, body: '' }, 3).answer).rejects.toMatchObject({ failure: 'unavailable' });
  });
});

describe('MulenPay: callbacks', () => {
  const body = `{"id":777,"amount":1000.50,"currency":"RUB","uuid":"${ORDER}","payment_status":"success"}`;
  const receive = (text: string, headers: Record<string, string> = {}) =>
    mulenpayProvider(recordedAccess(SETTINGS).access).receiveCallback(aCallback(text, { headers }));

  it('name our order only: the id of the body is not used', async () => {
    expect(await receive(body)).toMatchObject({
      accepted: true,
      reference: { externalId: null, orderId: ORDER },
      eventKey: `${ORDER}:success`,
    });
    expect(mulenpayProvider(recordedAccess(SETTINGS).access).readCallback).toBeUndefined();
  });

  it('are refused for a signature that is there and wrong, whatever another one is', async () => {
    const right = { 'x-signature': headerSignature(Buffer.from(body), SECRET) };
    expect(await receive(body, right)).toMatchObject({ accepted: true });
    expect(await receive(`${body} `, right)).toMatchObject({ reply: { status: 401 } });
    expect(await receive(body, { 'x-signature': '' })).toMatchObject({ reply: { status: 401 } });
    const withSign = body.replace('}', ',"sign":null}');
    const header = { 'x-signature': headerSignature(Buffer.from(withSign), SECRET) };
    expect(await receive(withSign, header)).toMatchObject({ reply: { status: 401 } });
  });

  it.each([
    ['nothing', ' ', 'empty_body'],
    ['no JSON', '{', 'invalid_json'],
    ['a repeated key', body.replace('{', '{"uuid":"another",'), 'invalid_json'],
    ['no order', '{"id":777,"payment_status":"success"}', 'missing_uuid'],
  ])('%s', async (_name, text, reason) => {
    const verdict = await receive(text);
    expect(verdict).toMatchObject({ accepted: false, reply: { status: 400 } });
    expect(JSON.parse(verdict.reply.body)).toMatchObject({ reason });
  });
});
