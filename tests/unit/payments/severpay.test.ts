import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { OutboundError } from '../../../src/core/http/http-client.ts';
import type { InvoiceRequest } from '../../../src/domain/payments/ports.ts';
import { phpJson, severpayProvider, severpaySignature } from '../../../src/integrations/payments/severpay-provider.ts';
import { parseWireObject } from '../../../src/integrations/payments/wire/json.ts';
import { bodyOf, recordedAccess } from '../../support/providers/adapter-access.ts';

const TOKEN = 'severpay-test-token';
const SHOP = { SEVERPAY_ENABLED: 'true', SEVERPAY_MID: '101', SEVERPAY_TOKEN: TOKEN };
const CREATED = {
  body: { status: true, msg: '', data: { id: 123, uid: '01KB', url: 'https://severpay.io/pay/1', expire_at: 1_790_000_000 } },
};
const invoice = (change: Partial<InvoiceRequest> = {}): InvoiceRequest => ({
  paymentId: 7,
  orderId: 'sp_u1',
  amountKopeks: 50_050,
  description: 'Top-up',
  payerEmail: 'u1@shop.example',
  returnUrls: { result: 'https://shop.example/back', success: null, failed: null },
  metadata: { user_id: 1, user_messenger_id: 55 },
  ...change,
});
const answerOf = (change: Record<string, unknown> = {}) => ({
  body: {
    status: true,
    msg: '',
    data: { id: 123, order_id: 'sp_u1', amount: 500.5, currency: 'RUB', status: 'success', ...change },
  },
});

describe('creating an invoice', () => {
  test('the body has the fields of 03a with a fresh salt, and is signed over its sorted fields', async () => {
    const { access, requests } = recordedAccess({ ...SHOP, SEVERPAY_LIFETIME: '60' }, [CREATED]);
    const provider = severpayProvider(access);
    expect(await provider.createInvoice(invoice())).toMatchObject({
      externalId: '123',
      paymentUrl: 'https://severpay.io/pay/1',
      status: 'new',
      merchantId: '101',
      expiresAt: new Date(1_790_000_000_000),
    });
    await provider.createInvoice(invoice());
    expect(requests[0]).toMatchObject({ url: 'https://severpay.io/api/merchant/payin/create', idempotent: false });
    const { sign, salt, ...fields } = bodyOf(requests[0]);
    expect(fields).toEqual({
      mid: 101,
      order_id: 'sp_u1',
      amount: 500.5,
      currency: 'RUB',
      client_email: 'u1@shop.example',
      client_id: '1',
      url_return: 'https://shop.example/back',
      lifetime: 60,
    });
    expect(salt).toMatch(/^[0-9a-f]{32}$/);
    expect(bodyOf(requests[1]).salt).not.toBe(salt);
    const { sign: _sign, ...signed } = parseWireObject(String(requests[0]!.body))!;
    expect(sign).toBe(severpaySignature(signed, TOKEN));
  });

  test.each([
    [50_000, '"amount":500,'],
    [50_050, '"amount":500.5,'],
    [50_055, '"amount":500.55,'],
  ])('%i kopeks are written as %s, since PHP drops zeros before it signs', async (amountKopeks, text) => {
    const { access, requests } = recordedAccess(SHOP, [CREATED]);
    await severpayProvider(access).createInvoice(invoice({ amountKopeks }));
    expect(String(requests[0]!.body)).toContain(text);
  });

  test.each([
    ['1', 30],
    ['1440', 1_440],
    ['99999', 4_320],
  ])('a lifetime of %s minutes is sent as %i', async (setting, minutes) => {
    const { access, requests } = recordedAccess({ ...SHOP, SEVERPAY_LIFETIME: setting }, [CREATED]);
    await severpayProvider(access).createInvoice(invoice());
    expect(bodyOf(requests[0]).lifetime).toBe(minutes);
  });

  test('spec 03 H16: a payer without e-mail is named by the messenger id, a guest by the order, nobody by an invented address', async () => {
    const { access, requests } = recordedAccess(SHOP, [CREATED]);
    const { payerEmail: _email, ...request } = invoice();
    await severpayProvider(access).createInvoice(request);
    await severpayProvider(access).createInvoice({ ...request, metadata: {} });
    expect(requests.map((sent) => bodyOf(sent)).map(({ client_email, client_id }) => [client_email, client_id])).toEqual([
      ['55@telegram.org', '1'],
      ['user_sp_u1@telegram.org', 'sp_u1'],
    ]);
  });

  test.each([9_999, 10_000_001])('%i kopeks are outside the limits', async (amountKopeks) => {
    const provider = severpayProvider(recordedAccess(SHOP, []).access);
    await expect(provider.createInvoice(invoice({ amountKopeks }))).rejects.toMatchObject({ failure: 'rejected' });
  });

  test.each([
    ['a refusal', { body: { status: false, msg: 'Invalid sign' } }, 'rejected'],
    ['a refusal by status', { status: 403, body: { status: false } }, 'rejected'],
    ['a status that is not the literal true', { body: { status: 'true', data: CREATED.body.data } }, 'rejected'],
    ['an answer without an invoice', { body: { status: true, data: {} } }, 'unavailable'],
    ['a failure of the provider', { status: 500, body: '' }, 'unavailable'],
    ['no answer', new OutboundError('severpay', 'timeout', 'no answer'), 'unavailable'],
  ])('%s is %s and is not repeated', async (_name, answer, failure) => {
    const { access, requests } = recordedAccess(SHOP, [answer]);
    const error = await severpayProvider(access)
      .createInvoice(invoice())
      .catch((reason: unknown) => reason as Error);
    expect(error).toMatchObject({ name: 'ProviderError', failure });
    expect((error as Error).message).not.toContain(TOKEN);
    expect(requests).toHaveLength(1);
  });
});

describe('asking about an invoice', () => {
  const reference = { externalId: '123', orderId: 'sp_u1' };

  test.each([
    ['new', 'pending'],
    ['process', 'pending'],
    ['success', 'paid'],
    ['decline', 'failed'],
    ['fail', 'failed'],
    ['something_new', 'pending'],
  ])('status %s is %s', async (status, outcome) => {
    const { access, requests } = recordedAccess(SHOP, [answerOf({ status })]);
    const state = await severpayProvider(access).fetchStatus(reference);
    expect(state).toMatchObject({ outcome, status, amountKopeks: 50_050, currency: 'RUB', orderId: 'sp_u1', externalId: '123' });
    expect(bodyOf(requests[0])).toMatchObject({ id: 123, mid: 101 });
  });

  test('an answer about another invoice, or without amount, currency or order, is not used', async () => {
    for (const change of [{ id: 124 }, { amount: '5e2' }, { currency: null }, { order_id: null }]) {
      const provider = severpayProvider(recordedAccess(SHOP, [answerOf(change)]).access);
      await expect(provider.fetchStatus(reference)).rejects.toMatchObject({ failure: 'unavailable' });
    }
  });
});

describe('callbacks', () => {
  const sign = (text: string) => createHmac('sha256', TOKEN).update(text).digest('hex');
  const post = (body: string, ip = '8.8.8.8') => ({
    method: 'POST',
    subpath: '',
    headers: {},
    query: {},
    ip,
    rawBody: Buffer.from(body),
  });
  const receive = (body: string, networks: string[] = [], ip?: string) =>
    severpayProvider(recordedAccess(SHOP, [], networks).access).receiveCallback(post(body, ip));
  const PAYIN = '{"type":"payin","data":{"id":5501,"order_id":"sp_u1","status":"success"},"salt":"aa"}';

  test('the received text is signed without its sign, wherever that stands and however it is spaced', async () => {
    const spaced = PAYIN.replaceAll(',', ', ');
    const bodies = [
      `${PAYIN.slice(0, -1)},"sign":"${sign(PAYIN)}"}`,
      `{"sign":"${sign(PAYIN)}",${PAYIN.slice(1)}`,
      `${spaced.slice(0, -1)}, "sign": "${sign(spaced)}"}`,
    ];
    for (const body of bodies) expect((await receive(body)).accepted).toBe(true);
  });

  test('a sign inside of the data is no signature, and two different ones are refused', async () => {
    const inner = `{"type":"payin","data":{"id":5501,"status":"success","sign":"${sign(PAYIN)}"},"salt":"aa"}`;
    expect((await receive(inner)).reply).toMatchObject({ status: 403, body: '{"status":false}' });
    const twice = `${PAYIN.slice(0, -1)},"sign":"${sign(PAYIN)}","sign":"${sign('other')}"}`;
    expect((await receive(twice)).reply.status).toBe(400);
  });

  test('a signature of another text in the data is refused', async () => {
    const body = `${PAYIN.replace('5501', '5502').slice(0, -1)},"sign":"${sign(PAYIN)}"}`;
    expect((await receive(body)).reply.status).toBe(403);
  });

  test.each(['test', 'payout', 'something_new'])('type %s is acknowledged and has no effect', async (type) => {
    const text = PAYIN.replace('payin', type);
    const verdict = await receive(`${text.slice(0, -1)},"sign":"${sign(text)}"}`);
    expect(verdict).toMatchObject({
      accepted: false,
      reply: { status: 200, body: '{"status":true}', contentType: 'application/json' },
    });
  });

  test('addresses are checked only where they are listed', async () => {
    const body = `${PAYIN.slice(0, -1)},"sign":"${sign(PAYIN)}"}`;
    expect((await receive(body, [])).accepted).toBe(true);
    expect((await receive(body, ['45.76.81.14'])).reply.status).toBe(403);
    expect((await receive(body, ['45.76.81.14'], '45.76.81.14')).accepted).toBe(true);
  });
});

describe('JSON as PHP writes it', () => {
  const value = parseWireObject(
    '{"b":179.0,"a":"Счёт 1/2 \\u2028\\u00e9","c":[1.50,{}],"d":"\\ud83d\\ude00\\n","n":null,"t":true}',
  )!;

  test('default flags escape slashes and all but ASCII, and drop zeros of numbers', () => {
    expect(phpJson(value, { isEscaped: true, keepsNumbers: false })).toBe(
      '{"b":179,"a":"\\u0421\\u0447\\u0451\\u0442 1\\/2 \\u2028\\u00e9","c":[1.5,[]],"d":"\\ud83d\\ude00\\n","n":null,"t":true}',
    );
  });

  test('without escapes only line separators are escaped', () => {
    expect(phpJson(value, { isEscaped: false, keepsNumbers: true })).toBe(
      '{"b":179.0,"a":"Счёт 1/2 \\u2028é","c":[1.50,[]],"d":"😀\\n","n":null,"t":true}',
    );
  });
});
