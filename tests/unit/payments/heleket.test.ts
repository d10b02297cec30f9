import { describe, expect, it } from 'vitest';
import { heleketProvider, heleketSignature } from '../../../src/integrations/payments/heleket-provider.ts';
import { aCallback, anInvoice, recordedAccess } from '../../support/providers/adapter-access.ts';

const KEY = 'heleket-payment-key';
const SETTINGS = { HELEKET_ENABLED: 'true', HELEKET_MERCHANT_ID: 'merchant-1', HELEKET_API_KEY: KEY };
const UUID = '62f88b36-a9d5-4fa6-aa26-e040c3dbf26d';
const ORDER = anInvoice().orderId;

const wireInvoice = (change: object = {}) => ({
  uuid: UUID,
  order_id: ORDER,
  amount: '1000.50',
  currency: 'RUB',
  payment_status: 'check',
  payer_amount: '10.00500000',
  payment_amount: '0.00000000',
  url: 'https://pay.heleket.com/pay/1',
  expired_at: 1_772_362_800,
  ...change,
});
const answered = (change: object = {}) => ({ body: { state: 0, result: wireInvoice(change) } });

/** A callback whose members are signed as the provider's PHP does. */
function signed(members: object, key = KEY): string {
  const text = JSON.stringify(members).replaceAll('/', '\\/');
  return `${text.slice(0, -1)},"sign":"${heleketSignature(text, key)}"}`;
}
const members = (change: object = {}) => ({
  type: 'payment',
  ...wireInvoice(),
  payment_status: undefined,
  status: 'paid',
  ...change,
});

describe('Heleket: requests', () => {
  it('creates an invoice in rubles, signed over the bytes sent', async () => {
    const { access, requests } = recordedAccess(
      { ...SETTINGS, WEBHOOK_URL: 'https://shop.example/', HELEKET_DEFAULT_NETWORK: 'tron' },
      () => answered(),
    );
    const returnUrls = { result: 'https://cabinet.example/r', success: 'https://cabinet.example/s', failed: null };
    const created = await heleketProvider(access).createInvoice(anInvoice({ returnUrls }));
    expect(created).toMatchObject({
      externalId: UUID,
      paymentUrl: 'https://pay.heleket.com/pay/1',
      status: 'check',
      expiresAt: new Date('2026-03-01T11:00:00.000Z'),
    });
    const [request] = requests;
    expect(request).toMatchObject({ method: 'POST', url: 'https://api.heleket.com/v1/payment', idempotent: true });
    expect(request!.headers).toMatchObject({ merchant: 'merchant-1', sign: heleketSignature(String(request!.body), KEY) });
    expect(JSON.parse(String(request!.body))).toEqual({
      amount: '1000.50',
      currency: 'RUB',
      order_id: ORDER,
      lifetime: 3_600,
      to_currency: 'USDT',
      network: 'tron',
      is_payment_multiple: true,
      accuracy_payment_percent: 0,
      url_callback: 'https://shop.example/heleket-webhook',
      url_return: 'https://cabinet.example/r',
      url_success: 'https://cabinet.example/s',
    });
  });

  it.each([
    ['1.6', -2],
    ['-5', 5],
    ['100', -99],
    ['0.2', undefined],
  ])('a markup of %s percent is a discount of %s', async (markup, discount) => {
    const { access, requests } = recordedAccess({ ...SETTINGS, HELEKET_MARKUP_PERCENT: markup }, () => answered());
    await heleketProvider(access).createInvoice(anInvoice());
    expect(JSON.parse(String(requests[0]!.body)).discount_percent).toBe(discount);
  });

  it('leaves out an address that is longer than the provider takes', async () => {
    const { access, requests } = recordedAccess(SETTINGS, () => answered());
    const returnUrls = { result: `https://cabinet.example/${'r'.repeat(255)}`, success: null, failed: null };
    await heleketProvider(access).createInvoice(anInvoice({ returnUrls }));
    expect(JSON.parse(String(requests[0]!.body))).not.toHaveProperty('url_return');
  });

  it('asks by one id: its own, else the order', async () => {
    const { access, requests } = recordedAccess(SETTINGS, () => answered({ payment_status: 'paid' }));
    const provider = heleketProvider(access);
    expect(await provider.fetchStatus({ externalId: UUID, orderId: ORDER })).toMatchObject({
      outcome: 'paid',
      amountKopeks: 100_050,
      currency: 'RUB',
      orderId: ORDER,
    });
    await provider.fetchStatus({ externalId: null, orderId: ORDER });
    expect(requests.map(({ body }) => JSON.parse(String(body)))).toEqual([{ uuid: UUID }, { order_id: ORDER }]);
  });

  it.each([
    ['a refused field', { status: 422, body: { state: 1, errors: { amount: ['too small'] } } }, 'rejected'],
    ['a refusal in an answer of success', { body: { state: 1, message: 'no' } }, 'rejected'],
    ['wrong credentials', { status: 401, body: { state: 1 } }, 'rejected'],
    ['another invoice', answered({ order_id: 'another', uuid: 'another' }), 'unavailable'],
    ['a broken provider', { status: 502, body: '' }, 'unavailable'],
    ['no JSON', { body: '<html>' }, 'unavailable'],
  ])('%s', async (_name, answer, failure) => {
    const provider = heleketProvider(recordedAccess(SETTINGS, () => answer).access);
    await expect(provider.createInvoice(anInvoice())).rejects.toMatchObject({ failure });
    await expect(provider.fetchStatus({ externalId: UUID, orderId: ORDER })).rejects.toMatchObject({ failure });
  });

  it.each(['HELEKET_API_KEY', 'HELEKET_MERCHANT_ID', 'HELEKET_ENABLED'])('is not configured without %s', async (key) => {
    const provider = heleketProvider(recordedAccess({ ...SETTINGS, [key]: '' }).access);
    expect(provider.isConfigured()).toBe(false);
    await expect(provider.createInvoice(anInvoice())).rejects.toMatchObject({ failure: 'not_configured' });
  });
});

describe('Heleket: states (03a section 4)', () => {
  const stateOf = (change: object) => {
    const provider = heleketProvider(recordedAccess(SETTINGS).access);
    return provider.readCallback!(signed(members(change)), '')!;
  };

  it.each([
    ['process', 'pending'],
    ['confirm_check', 'pending'],
    ['wrong_amount_waiting', 'pending'],
    ['paid', 'paid'],
    ['wrong_amount', 'underpaid'],
    ['fail', 'failed'],
    ['cancel', 'failed'],
    ['system_fail', 'failed'],
    ['locked', 'blocked'],
    ['refund_process', 'pending'],
    ['refund_fail', 'blocked'],
    ['a word of tomorrow', 'pending'],
  ])('%s is %s', (status, outcome) => expect(stateOf({ status })).toMatchObject({ status, outcome, reversals: [] }));

  it('a refund is the reversal of the whole payment, once', () => {
    const reversals = [{ reversalId: `${UUID}:refund`, kind: 'refund', amountKopeks: null }];
    expect(stateOf({ status: 'refund_paid' })).toMatchObject({ reversals });
  });

  it('what came too much is its share in crypto currency, of which the amount of the invoice says nothing', () => {
    const paid = (change: object) => stateOf({ status: 'paid_over', ...change }).amountKopeks;
    expect(paid({ payer_amount: '10.005', payment_amount: '20.01000000' })).toBe(200_100);
    expect(paid({ payment_amount: null })).toBe(100_051);
    expect(paid({ payer_amount: '0' })).toBe(100_051);
  });

  it('the signature is not stored with the payment', () => {
    expect(JSON.stringify(stateOf({}).raw)).not.toContain('sign');
  });

  it('a test callback, whose order is not of this service, proves nothing', () => {
    const provider = heleketProvider(recordedAccess(SETTINGS).access);
    expect(provider.readCallback!(signed(members({ order_id: 'test-order-1' })), '')).toBeNull();
  });
});

describe('Heleket: callbacks', () => {
  const receive = (body: string, change = {}, networks: string[] = [], settings: Record<string, string> = SETTINGS) =>
    heleketProvider(recordedAccess(settings, undefined, networks).access).receiveCallback(aCallback(body, change));

  it('are distinguished by invoice and status', async () => {
    expect(await receive(signed(members()))).toMatchObject({
      accepted: true,
      reference: { externalId: UUID, orderId: ORDER },
      eventKey: `${UUID}:paid`,
      reply: { status: 200 },
    });
  });

  it('spec 03 H17: numbers and slashes are verified as received, also where slashes lost their escapes', async () => {
    const members = `"uuid":"${UUID}","order_id":"${ORDER}","amount":1000.50,"rate":1e2,"status":"paid","url":"https:\\/\\/x\\/1"`;
    const sign = heleketSignature(`{${members}}`, KEY);
    expect(await receive(`{${members},"sign":"${sign}"}`)).toMatchObject({ accepted: true });
    expect(await receive(`{"sign":"${sign.toUpperCase()}",${members}}`)).toMatchObject({ accepted: true });
    expect(await receive(`{${members.replaceAll('\\/', '/')},"sign":"${sign}"}`)).toMatchObject({ accepted: true });
    expect(await receive(`{${members.replace('1000.50', '1000.5')},"sign":"${sign}"}`)).toMatchObject({ reply: { status: 401 } });
  });

  it.each([
    ['empty', ' ', {}, 400, 'empty_body'],
    ['no JSON', '{', {}, 400, 'invalid_json'],
    ['a repeated key', signed(members()).replace('{', '{"status":"check",'), {}, 400, 'invalid_json'],
    ['no signature', JSON.stringify(members()), {}, 401, 'missing_signature'],
    ['a signature that is no text', JSON.stringify({ ...members(), sign: ['a'] }), {}, 401, 'missing_signature'],
    ['the signature of another key', signed(members(), 'payout-key'), {}, 401, 'invalid_signature'],
    ['no invoice', signed({ type: 'payment', status: 'paid' }), {}, 400, 'missing_invoice'],
    ['an amount that is none', signed(members({ amount: '-1' })), {}, 400, 'missing_invoice'],
  ])('%s', async (_name, body, change, status, reason) => {
    const verdict = await receive(body, change);
    expect(verdict).toMatchObject({ accepted: false, reply: { status } });
    expect(JSON.parse(verdict.reply.body)).toMatchObject({ reason });
  });

  it('about something else than an invoice are acknowledged and not stored', async () => {
    const verdict = await receive(signed(members({ type: 'wallet' })));
    expect(verdict).toMatchObject({ accepted: false, reply: { status: 200 } });
  });

  it('come from any address, or from the configured ones only', async () => {
    const from = (ip: string, networks: string[]) => receive(signed(members()), { ip }, networks);
    expect(await from('8.8.8.8', [])).toMatchObject({ accepted: true });
    expect(await from('31.133.220.8', ['31.133.220.8'])).toMatchObject({ accepted: true });
    expect(await from('8.8.8.8', ['31.133.220.8'])).toMatchObject({ accepted: false, reply: { status: 403 } });
  });

  it('are refused while there is no key', async () => {
    const verdict = await receive(signed(members(), ''), {}, [], { ...SETTINGS, HELEKET_API_KEY: '' });
    expect(verdict).toMatchObject({ accepted: false, reply: { status: 503 } });
  });
});
