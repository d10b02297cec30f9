import { describe, expect, test, vi } from 'vitest';
import { OutboundError } from '../../../src/core/http/http-client.ts';
import type { InvoiceRequest, RefundRequest } from '../../../src/domain/payments/ports.ts';
import { freekassaProvider } from '../../../src/integrations/payments/freekassa/freekassa-provider.ts';
import { notificationSignature, orderSignature } from '../../../src/integrations/payments/freekassa/orders.ts';
import { kassaAiProvider } from '../../../src/integrations/payments/kassa-ai-provider.ts';
import { parseWireObject } from '../../../src/integrations/payments/wire/json.ts';
import { bodyOf, recordedAccess } from '../../support/providers/adapter-access.ts';

const SHOP = {
  FREEKASSA_ENABLED: 'true',
  FREEKASSA_SHOP_ID: '7012',
  FREEKASSA_API_KEY: 'fk-api-key',
  FREEKASSA_SECRET_WORD_1: 'word-one',
  FREEKASSA_SECRET_WORD_2: 'word-two',
};
const KASSA_AI = {
  KASSA_AI_ENABLED: 'true',
  KASSA_AI_SHOP_ID: '33',
  KASSA_AI_API_KEY: 'kassa-api-key',
  KASSA_AI_SECRET_WORD_2: 'kw-two',
};
const CREATED = { body: { type: 'success', orderId: 123, orderHash: 'h', location: 'https://pay.fk.money/form/123' } };
const SECRETS = ['fk-api-key', 'word-one', 'word-two'];

const invoice = (change: Partial<InvoiceRequest> = {}): InvoiceRequest => ({
  paymentId: 7,
  orderId: 'a1b2c3',
  amountKopeks: 19_894,
  description: 'Top-up',
  option: 'sbp',
  payerEmail: 'u1@shop.example',
  payerIp: '203.0.113.10',
  returnUrls: { result: 'https://c.example/r', success: 'https://c.example/s', failed: 'https://c.example/f' },
  metadata: { user_messenger_id: 55 },
  ...change,
});
const order = (change: Record<string, unknown> = {}) => ({
  merchant_order_id: 'a1b2c3',
  fk_order_id: 123,
  amount: 198.94,
  currency: 'RUB',
  date: '2026-10-02 13:00:00',
  status: 1,
  ...change,
});
const orders = (...list: Record<string, unknown>[]) => ({ body: { type: 'success', pages: 1, orders: list } });
const refused = (message: string, status = 400) => ({ status, body: { type: 'error', message } });
const reference = { externalId: '123', orderId: 'a1b2c3' };

describe('creating an order', () => {
  test('the body has the fields of 03a, whole and fractional amounts in their shortest form, and its own signature', async () => {
    const { access, requests } = recordedAccess(SHOP, [CREATED]);
    const created = await freekassaProvider(access).createInvoice(invoice());
    expect(created).toMatchObject({
      externalId: '123',
      paymentUrl: 'https://pay.fk.money/form/123',
      status: 'pending',
      merchantId: '7012',
      expiresAt: new Date('2026-03-01T11:00:00.000Z'),
    });
    expect(requests[0]).toMatchObject({ method: 'POST', url: 'https://api.fk.life/v1/orders/create', idempotent: false });
    const { signature, ...fields } = bodyOf(requests[0]);
    expect(fields).toEqual({
      shopId: 7012,
      nonce: 1_790_000_000,
      paymentId: 'a1b2c3',
      i: 44,
      email: 'u1@shop.example',
      ip: '203.0.113.10',
      amount: 198.94,
      currency: 'RUB',
      success_url: 'https://c.example/s',
      failure_url: 'https://c.example/f',
    });
    const { signature: _removed, ...signed } = parseWireObject(String(requests[0]!.body))!;
    expect(signature).toBe(orderSignature(signed, 'fk-api-key'));
  });

  test.each([
    [19_900, '"amount":199,'],
    [19_890, '"amount":198.9,'],
  ])('%i kopeks are written as %s', async (amountKopeks, text) => {
    const { access, requests } = recordedAccess(SHOP, [CREATED]);
    await freekassaProvider(access).createInvoice(invoice({ amountKopeks }));
    expect(String(requests[0]!.body)).toContain(text);
  });

  test.each([
    ['card', {}, 36],
    ['sbp', { FREEKASSA_PAYMENT_SYSTEM_ID: '43' }, 44],
    [undefined, { FREEKASSA_PAYMENT_SYSTEM_ID: '43' }, 43],
  ])('option %s with %j is payment system %i', async (option, settings, system) => {
    const { access, requests } = recordedAccess({ ...SHOP, ...settings }, [CREATED]);
    const { option: _option, ...request } = invoice();
    await freekassaProvider(access).createInvoice(option === undefined ? request : { ...request, option });
    expect(bodyOf(requests[0]).i).toBe(system);
  });

  test('the payment system is required: there is no default', async () => {
    const { access } = recordedAccess({ ...SHOP, FREEKASSA_USE_API: 'true' }, []);
    const { option: _option, ...request } = invoice();
    await expect(freekassaProvider(access).createInvoice(request)).rejects.toMatchObject({ failure: 'rejected' });
  });

  test('spec 03 H16: a payer without e-mail is named by the messenger id, a guest by the order, nobody by an invented address', async () => {
    const { access, requests } = recordedAccess(SHOP, [CREATED]);
    const { payerEmail: _email, ...request } = invoice();
    await freekassaProvider(access).createInvoice(request);
    await freekassaProvider(access).createInvoice({ ...request, metadata: {} });
    expect(requests.map((sent) => bodyOf(sent).email)).toEqual(['55@telegram.org', 'user_a1b2c3@telegram.org']);
  });

  test.each(['127.0.0.1', '::1', '172.18.0.4', 'nonsense', undefined])(
    'spec 03 H16: no address is invented: the provider refuses %s, so the payer gets the form, where it sees the address itself',
    async (payerIp) => {
      const { access } = recordedAccess(SHOP, []);
      const { payerIp: _ip, ...request } = invoice();
      const created = await freekassaProvider(access).createInvoice(payerIp === undefined ? request : { ...request, payerIp });
      expect(created.paymentUrl).toMatch(/^https:\/\/pay\.fk\.money\/\?/);
    },
  );

  test.each([9_999, 100_000_001])('%i kopeks are outside the limits', async (amountKopeks) => {
    const { access } = recordedAccess(SHOP, []);
    await expect(freekassaProvider(access).createInvoice(invoice({ amountKopeks }))).rejects.toMatchObject({
      failure: 'rejected',
    });
  });
});

describe('the payment form', () => {
  test('its address is signed with word 1 and names our order, and nothing is requested', async () => {
    const { access } = recordedAccess(SHOP, []);
    const { option: _option, ...request } = invoice({ orderId: 'fk_u1', amountKopeks: 10_011 });
    const created = await freekassaProvider(access).createInvoice(request);
    const url = new URL(created.paymentUrl);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      m: '7012',
      oa: '100.11',
      currency: 'RUB',
      o: 'fk_u1',
      lang: 'ru',
      em: 'u1@shop.example',
      // V:form
      s: '8a714da1f5c1c5dbca6017a2d4bc9ae1',
    });
    expect(created.externalId).toBe('fk_u1');
  });

  test('before anybody opens it the payment waits, then its order is the charge, which our order id alone finds', async () => {
    const { access } = recordedAccess(SHOP, [orders(), orders(order())]);
    const form = { externalId: 'a1b2c3', orderId: 'a1b2c3' };
    const provider = freekassaProvider(access);
    expect(await provider.fetchStatus(form)).toMatchObject({ outcome: 'pending', externalId: 'a1b2c3' });
    expect(await provider.fetchStatus(form)).toMatchObject({
      outcome: 'paid',
      externalId: null,
      orderId: 'a1b2c3',
      chargeId: '123',
    });
  });
});

describe('asking about an order', () => {
  test.each([
    [0, 'pending', 'pending'],
    [1, 'paid', 'success'],
    [8, 'failed', 'error'],
    [9, 'failed', 'canceled'],
    [7, 'pending', 'pending'],
  ])('status %i is %s', async (status, outcome, word) => {
    const { access, requests } = recordedAccess(SHOP, [orders(order({ status }))]);
    const state = await freekassaProvider(access).fetchStatus(reference);
    expect(state).toMatchObject({ outcome, status: word, amountKopeks: 19_894, currency: 'RUB', orderId: 'a1b2c3' });
    expect(bodyOf(requests[0])).toMatchObject({ paymentId: 'a1b2c3', shopId: 7012 });
  });

  test('status 6 is a refund of the whole order', async () => {
    const { access } = recordedAccess(SHOP, [orders(order({ status: 6 }))]);
    expect(await freekassaProvider(access).fetchStatus(reference)).toMatchObject({
      outcome: 'paid',
      reversals: [{ reversalId: '123:refund', kind: 'refund', amountKopeks: null }],
    });
  });

  test('orders of other ids in the answer are not ours, and of several of ours each paid one is reported, the earliest first', async () => {
    const failed = order({ fk_order_id: 125, status: 9 });
    const { access } = recordedAccess(SHOP, [
      orders(order({ merchant_order_id: 'other', status: 1 })),
      orders(failed, order({ fk_order_id: 124 }), order({ status: 0 })),
      orders(order({ fk_order_id: 124 }), order()),
      orders(order({ status: 9 }), order({ fk_order_id: 124, status: 77 })),
    ]);
    const provider = freekassaProvider(access);
    await expect(provider.fetchStatus(reference)).rejects.toMatchObject({ failure: 'rejected' });
    expect(await provider.fetchStatus(reference)).toMatchObject({ chargeId: '124', outcome: 'paid', others: [] });
    expect(await provider.fetchStatus(reference)).toMatchObject({
      chargeId: '123',
      others: [{ chargeId: '124', outcome: 'paid' }],
    });
    // A status that we do not know may still end well.
    expect((await provider.fetchStatus(reference)).outcome).toBe('pending');
  });

  test('an amount that is no exact decimal is not read', async () => {
    const body = JSON.stringify({ type: 'success', orders: [order()] }).replace('198.94', '1.9894e2');
    await expect(freekassaProvider(recordedAccess(SHOP, [{ body }]).access).fetchStatus(reference)).rejects.toMatchObject({
      failure: 'unavailable',
    });
  });
});

describe('errors', () => {
  test('an overtaken nonce is refused without effect: the request is sent again with the next one', async () => {
    const { access, requests } = recordedAccess(SHOP, [refused('Nonce must be greater'), refused('nonce'), CREATED]);
    await freekassaProvider(access).createInvoice(invoice());
    expect(requests.map((sent) => bodyOf(sent).nonce)).toEqual([1_790_000_000, 1_790_000_001, 1_790_000_002]);
    expect(new Set(requests.map((sent) => bodyOf(sent).signature)).size).toBe(3);
  });

  test('requests of one instance are sent one after the other, so that none is overtaken, also after a failed one', async () => {
    const { access } = recordedAccess(SHOP, [refused('Unavailable', 500), orders(order())]);
    const events: string[] = [];
    const request: typeof access.http.request = async (sent) => {
      const { nonce } = bodyOf(sent);
      events.push(`sent ${nonce}`);
      // Allows the other request every chance to begin.
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
      events.push(`answered ${nonce}`);
      return access.http.request(sent);
    };
    const provider = freekassaProvider({ ...access, http: { request } });
    const [failed, read] = await Promise.allSettled([provider.fetchStatus(reference), provider.fetchStatus(reference)]);
    expect([failed.status, read.status]).toEqual(['rejected', 'fulfilled']);
    expect(events).toEqual(['sent 1790000000', 'answered 1790000000', 'sent 1790000001', 'answered 1790000001']);
  });

  test('behind a request that is not answered the others end with it, unsent, while later ones are sent again', async () => {
    const { access, requests } = recordedAccess(SHOP, [orders(order())]);
    let [elapsedMs, isStalled] = [0, true];
    const now = vi.spyOn(performance, 'now').mockImplementation(() => elapsedMs);
    let lose: ((error: Error) => void) | null = null;
    const request: typeof access.http.request = (sent) =>
      isStalled
        ? new Promise((_resolve, reject) => {
            lose = reject;
          })
        : access.http.request(sent);
    const provider = freekassaProvider({ ...access, http: { request } });
    const asked = [provider.fetchStatus(reference), provider.fetchStatus(reference), provider.fetchStatus(reference)];
    const settled = Promise.allSettled(asked);
    await expect.poll(() => lose).not.toBeNull();
    [elapsedMs, isStalled] = [30_000, false];
    lose!(new OutboundError('freekassa', 'timeout', 'no answer'));
    for (const result of await settled) expect(result).toMatchObject({ reason: { failure: 'unavailable' } });
    expect(requests).toHaveLength(0);
    expect(await provider.fetchStatus(reference)).toMatchObject({ outcome: 'paid' });
    now.mockRestore();
  });

  test('a key whose nonces are always refused names the remedy', async () => {
    const { access, requests } = recordedAccess(SHOP, [refused('Invalid nonce')]);
    await expect(freekassaProvider(access).createInvoice(invoice())).rejects.toThrow(/new API key.*FREEKASSA_NONCE_START/);
    expect(requests).toHaveLength(5);
  });

  test.each([
    ['an error', refused('Merchant API access denied', 401), 'rejected'],
    ['an error with status 200', { body: { type: 'error', error: 'Unavailable payment system' } }, 'rejected'],
    ['a failure of the provider', { status: 502, body: '<html>' }, 'unavailable'],
    ['an unreadable answer', { body: '<html>' }, 'unavailable'],
    ['an answer without an order', { body: { type: 'success' } }, 'unavailable'],
    ['no answer', new OutboundError('freekassa', 'timeout', 'no answer'), 'unavailable'],
  ])('%s is %s, is not repeated and shows no secret', async (_name, answer, failure) => {
    const { access, requests } = recordedAccess(SHOP, [answer]);
    const error = await freekassaProvider(access)
      .createInvoice(invoice())
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: 'ProviderError', failure });
    expect(requests).toHaveLength(1);
    for (const secret of SECRETS) expect(String((error as Error).message)).not.toContain(secret);
  });

  test.each(Object.keys(SHOP).slice(1))('without %s it is not configured', (name) => {
    const { [name as keyof typeof SHOP]: _removed, ...rest } = SHOP;
    const provider = freekassaProvider(recordedAccess(rest as Record<string, string>, []).access);
    expect(provider.isConfigured()).toBe(false);
  });
});

describe('refunds', () => {
  const ids = { externalId: '123', orderId: 'a1b2c3', chargeId: '124' };
  const refund: RefundRequest = { ...ids, amountKopeks: 19_894, isWhole: true, idempotencyKey: 'k' };
  const paid = orders(order({ fk_order_id: 124 }));
  const done = orders(order({ fk_order_id: 124, status: 6 }));

  test('the charged order is refunded and read again', async () => {
    const { access, requests } = recordedAccess(SHOP, [paid, { body: { type: 'success', id: 9 } }, done]);
    expect(await freekassaProvider(access).refund!(refund)).toEqual({ reversalId: '124:refund', state: 'done' });
    expect(requests[1]!.url).toBe('https://api.fk.life/v1/orders/refund');
    expect(bodyOf(requests[1])).toMatchObject({ orderId: 124, shopId: 7012 });
  });

  test('one whose answer was lost is not requested again', async () => {
    const { access, requests } = recordedAccess(SHOP, [done]);
    expect(await freekassaProvider(access).refund!(refund)).toEqual({ reversalId: '124:refund', state: 'done' });
    expect(requests).toHaveLength(1);
  });

  test('one that the provider has not carried out is pending, while a part and an unpaid order are refused', async () => {
    const { access } = recordedAccess(SHOP, [
      paid,
      { body: { type: 'success' } },
      paid,
      orders(order({ fk_order_id: 124, status: 0 })),
    ]);
    const provider = freekassaProvider(access);
    expect((await provider.refund!(refund)).state).toBe('pending');
    await expect(provider.refund!(refund)).rejects.toMatchObject({ failure: 'rejected' });
    await expect(provider.refund!({ ...refund, isWhole: false })).rejects.toMatchObject({ failure: 'rejected' });
  });
});

describe('notifications', () => {
  const signed = (change: Record<string, string> = {}) => {
    const sign = notificationSignature({ merchantId: '7012', amount: '198.94', orderId: 'a1b2c3', word2: 'word-two' });
    const fields = { MERCHANT_ID: '7012', AMOUNT: '198.94', MERCHANT_ORDER_ID: 'a1b2c3', SIGN: sign, ...change };
    return new URLSearchParams(fields).toString();
  };
  const request = { method: 'POST', subpath: '', headers: {}, query: {}, ip: '168.119.157.136' };
  const post = (body: string) => ({ ...request, rawBody: Buffer.from(body) });
  const access = () => recordedAccess(SHOP, [], ['168.119.157.136']).access;

  test('only what is signed names the payment', async () => {
    const verdict = await freekassaProvider(access()).receiveCallback(post(signed({ intid: '999' })));
    expect(verdict).toMatchObject({ accepted: true, reference: { externalId: null, orderId: 'a1b2c3' }, reply: { body: 'YES' } });
  });

  test.each([
    ['a repeated field', `${signed()}&AMOUNT=1`],
    ['an amount with an exponent', signed({ AMOUNT: '1e5' })],
    ['an empty body', ''],
    ['bytes that are not UTF-8', '%ff'],
  ])('%s is answered with 400 Error', async (_name, body) => {
    expect((await freekassaProvider(access()).receiveCallback(post(body))).reply).toMatchObject({ status: 400, body: 'Error' });
  });

  test('by GET it is refused, while a GET without one tells whether the method is on', async () => {
    const get = { ...post(''), method: 'GET' };
    const provider = freekassaProvider(access());
    expect((await provider.receiveCallback({ ...get, query: { SIGN: 'x' } })).reply.status).toBe(405);
    expect(JSON.parse((await provider.receiveCallback(get)).reply.body)).toMatchObject({ enabled: true });
  });

  test('it is to be confirmed, and names the charge and our order', () => {
    const provider = freekassaProvider(access());
    expect(provider.readCallback!(signed({ intid: '5' }), '')).toMatchObject({
      outcome: 'paid',
      chargeId: '5',
      externalId: null,
      isUnconfirmed: true,
    });
  });
});

describe('Kassa.ai', () => {
  test('its body names the failure page differently and has its own sequence of nonces', async () => {
    const { access, requests } = recordedAccess({ ...SHOP, ...KASSA_AI }, [CREATED]);
    const scopes: string[] = [];
    const counted = { ...access, nextNonce: async (scope: string) => BigInt(scopes.push(scope)) };
    const { option: _option, ...request } = invoice();
    await kassaAiProvider(counted).createInvoice(request);
    await freekassaProvider(counted).createInvoice(invoice());
    expect(bodyOf(requests[0])).toMatchObject({ shopId: 33, i: 44, fail_url: 'https://c.example/f' });
    expect(bodyOf(requests[0])).not.toHaveProperty('failure_url');
    expect(scopes[0]).toMatch(/^kassa_ai:33:[0-9a-f]{16}$/);
    expect(scopes[1]).toMatch(/^freekassa:7012:[0-9a-f]{16}$/);
    for (const scope of scopes) expect(scope).not.toMatch(/api-key/);
  });

  test('another key has another sequence', async () => {
    const scopes: string[] = [];
    for (const key of ['one', 'two']) {
      const { access } = recordedAccess({ ...KASSA_AI, KASSA_AI_API_KEY: key }, [CREATED]);
      await kassaAiProvider({ ...access, nextNonce: async (scope) => BigInt(scopes.push(scope)) }).createInvoice(invoice());
    }
    expect(new Set(scopes).size).toBe(2);
  });

  test("it needs the payer's address, and has no refunds", async () => {
    const provider = kassaAiProvider(recordedAccess(KASSA_AI, []).access);
    await expect(provider.createInvoice(invoice({ payerIp: '127.0.0.1' }))).rejects.toMatchObject({ failure: 'rejected' });
    expect(provider.refund).toBeUndefined();
  });
});
