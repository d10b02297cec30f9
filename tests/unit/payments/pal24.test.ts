import { describe, expect, it } from 'vitest';
import { pal24Provider, pal24Signature } from '../../../src/integrations/payments/pal24-provider.ts';
import { aCallback, anInvoice, recordedAccess } from '../../support/providers/adapter-access.ts';

const TOKEN = '17|pal24-token';
const SETTINGS = { PAL24_ENABLED: 'true', PAL24_API_TOKEN: TOKEN, PAL24_SHOP_ID: 'shop-1' };
const BILL = 'GkLWvKx3';
const ORDER = anInvoice().orderId;
const created = {
  body: { success: 'true', link_url: 'https://pal24.pro/l/1', link_page_url: 'https://pal24.pro/p/1', bill_id: BILL },
};
const bill = (change: object = {}) => ({
  body: { id: BILL, order_id: ORDER, status: 'SUCCESS', amount: 1000.5, currency_in: 'RUB', success: true, ...change },
});

describe('PAL24: requests', () => {
  it.each([
    [undefined, 'SBP'],
    ['sbp', 'SBP'],
    ['card', 'BANK_CARD'],
  ])('creates a bill by form, with the option %s', async (option, paymentMethod) => {
    const { access, requests } = recordedAccess(SETTINGS, () => created);
    const invoice = anInvoice({ payerEmail: 'payer@example.com', ...(option ? { option } : {}) });
    expect(await pal24Provider(access).createInvoice(invoice)).toMatchObject({
      externalId: BILL,
      paymentUrl: 'https://pal24.pro/p/1',
      status: 'NEW',
      expiresAt: null,
      merchantId: 'shop-1',
    });
    const [request] = requests;
    // 03a section 0.6: a repeat would create a second bill.
    expect(request).toMatchObject({ method: 'POST', url: 'https://pal24.pro/api/v1/bill/create', idempotent: false });
    expect(request!.headers).toMatchObject({
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/x-www-form-urlencoded',
    });
    expect(Object.fromEntries(new URLSearchParams(String(request!.body)))).toEqual({
      amount: '1000.50',
      shop_id: 'shop-1',
      order_id: ORDER,
      description: 'Service - top-up',
      type: 'normal',
      currency_in: 'RUB',
      custom: ORDER,
      payment_method: paymentMethod,
      payer_email: 'payer@example.com',
    });
  });

  it('gives a request the time of the setting', async () => {
    const { access, requests } = recordedAccess({ ...SETTINGS, PAL24_REQUEST_TIMEOUT: '1' }, () => created);
    await pal24Provider(access).createInvoice(anInvoice());
    expect(requests[0]!.signal).toBeInstanceOf(AbortSignal);
  });

  it.each([
    ['wrong credentials', { status: 401, body: { message: 'Unauthenticated.' } }, 'rejected'],
    ['a refused amount', { status: 422, body: { error_key: 'api:error.invalid_amount' } }, 'rejected'],
    ['a refusal as a boolean', { body: { success: false } }, 'rejected'],
    ['a refusal as a text', { body: { success: 'false' } }, 'rejected'],
    ['an answer without its content', { body: { success: 'true' } }, 'unavailable'],
    ['a broken provider', { status: 500, body: '' }, 'unavailable'],
  ])('%s', async (_name, answer, failure) => {
    const provider = pal24Provider(recordedAccess(SETTINGS, () => answer).access);
    await expect(provider.createInvoice(anInvoice())).rejects.toMatchObject({ failure });
    await expect(provider.fetchStatus({ externalId: BILL, orderId: ORDER })).rejects.toMatchObject({ failure });
  });

  it.each(['PAL24_API_TOKEN', 'PAL24_SHOP_ID'])('is not configured without %s', async (key) => {
    const provider = pal24Provider(recordedAccess({ ...SETTINGS, [key]: '' }).access);
    expect(provider.isConfigured()).toBe(false);
    const verdict = await provider.receiveCallback(aCallback('InvId=1'));
    expect(verdict).toMatchObject({ accepted: false, reply: { status: 503 } });
  });
});

describe('PAL24: bills (03a section 7)', () => {
  const stateOf = (change: object) =>
    pal24Provider(recordedAccess(SETTINGS, () => bill(change)).access).fetchStatus({ externalId: BILL, orderId: ORDER });

  it.each([
    ['NEW', 'pending'],
    ['PROCESS', 'pending'],
    ['UNDERPAID', 'underpaid'],
    ['SUCCESS', 'paid'],
    ['FAIL', 'failed'],
    ['PAID', 'pending'],
    ['CANCELLED', 'pending'],
  ])('%s is %s', async (status, outcome) => {
    expect(await stateOf({ status })).toMatchObject({ status, outcome, amountKopeks: 100_050, currency: 'RUB', orderId: ORDER });
  });

  it('says what it has of the shop, and nothing of an answer about another bill', async () => {
    expect(await stateOf({ shop_id: 'shop-2' })).toMatchObject({ merchantId: 'shop-2' });
    expect(await stateOf({})).toMatchObject({ merchantId: null });
    await expect(stateOf({ id: 'another' })).rejects.toMatchObject({ failure: 'unavailable' });
  });

  it.each([
    [
      'the sum of its payments',
      { body: { data: [payment('SUCCESS', '1000.50'), payment('FAIL', '7'), payment('SUCCESS', '10')] } },
      101_050,
    ],
    ['at least a kopek too much', { body: { data: [] } }, 100_051],
    ['the same when payments cannot be read', { status: 404, body: {} }, 100_051],
  ])('an overpaid bill got %s', async (_name, payments, kopeks) => {
    const answer = ({ url }: { url: string }) => (url.includes('bill/payments?id=') ? payments : bill({ status: 'OVERPAID' }));
    const provider = pal24Provider(recordedAccess(SETTINGS, answer).access);
    expect(await provider.fetchStatus({ externalId: BILL, orderId: ORDER })).toMatchObject({
      outcome: 'paid',
      amountKopeks: kopeks,
    });
  });
});

function payment(status: string, amount: string) {
  return { id: 'PAY1', bill_id: BILL, status, amount };
}

/** A postback signed over the fields of these names, in their order. */
function signed(fields: Record<string, string>, names: readonly string[], token = TOKEN): string {
  const signature = pal24Signature(
    names.map((name) => fields[name]!),
    token,
  );
  return new URLSearchParams({ ...fields, SignatureValue: signature }).toString();
}
const PAYMENT = { InvId: ORDER, OutSum: '1000.50', TrsId: BILL, Status: 'SUCCESS', CurrencyIn: 'RUB' };
const REVERSAL = { BillId: BILL, PaymentId: 'PAY1', Id: 'R1', InvId: 'another-order', Status: 'SUCCESS' };
const REFUND = { ...REVERSAL, Amount: '100.25', Currency: 'RUB' };
const [PAYMENT_SIGNED, CHARGEBACK_SIGNED] = [
  ['OutSum', 'InvId'],
  ['BillId', 'PaymentId', 'Id'],
];
const REFUND_SIGNED = ['Amount', 'Currency', ...CHARGEBACK_SIGNED];

describe('PAL24: postbacks', () => {
  const receive = (body: string, settings: Record<string, string> = SETTINGS) =>
    pal24Provider(recordedAccess(settings).access).receiveCallback(aCallback(body));
  const read = (body: string) => pal24Provider(recordedAccess(SETTINGS).access).readCallback!(body, '');

  it('of a payment name the order and the bill, and prove nothing themselves', async () => {
    const body = signed(PAYMENT, PAYMENT_SIGNED);
    expect(await receive(body)).toMatchObject({
      accepted: true,
      reference: { externalId: BILL, orderId: ORDER },
      eventKey: `${ORDER}:SUCCESS`,
    });
    expect(read(body)).toBeNull();
  });

  it('may be JSON, whose numbers are verified as received', async () => {
    const { OutSum: _sum, ...rest } = PAYMENT;
    const signature = pal24Signature(['1000.50', ORDER], TOKEN).toLowerCase();
    const body = (sum: string) => JSON.stringify({ ...rest, SignatureValue: signature }).replace('{', `{"OutSum":${sum},`);
    expect(await receive(body('1000.50'))).toMatchObject({ accepted: true });
    expect(await receive(body('1000.5'))).toMatchObject({ accepted: false });
  });

  it('are signed with the signature token where there is one, and only with it', async () => {
    const settings = { ...SETTINGS, PAL24_SIGNATURE_TOKEN: 'another-token' };
    expect(await receive(signed(PAYMENT, PAYMENT_SIGNED, 'another-token'), settings)).toMatchObject({ accepted: true });
    expect(await receive(signed(PAYMENT, PAYMENT_SIGNED), settings)).toMatchObject({ accepted: false });
  });

  it('of a refund prove its amount, by the bill and not by the order, which is not signed', async () => {
    const body = signed(REFUND, REFUND_SIGNED);
    expect(await receive(body)).toMatchObject({
      accepted: true,
      reference: { externalId: BILL, orderId: null },
      eventKey: 'refund:R1:SUCCESS',
    });
    expect(read(body)).toMatchObject({
      externalId: BILL,
      orderId: null,
      outcome: 'pending',
      reversals: [{ reversalId: 'refund:R1', kind: 'refund', amountKopeks: 10_025, currency: 'RUB' }],
    });
    // Whether it is the currency of the payment is not for the adapter to say.
    expect(read(signed({ ...REFUND, Currency: 'USD' }, REFUND_SIGNED))).toMatchObject({ reversals: [{ currency: 'USD' }] });
  });

  it('of a chargeback are about the whole payment, also where they have an amount that is not signed', async () => {
    const reversals = [{ reversalId: 'chargeback:R1', kind: 'chargeback', amountKopeks: null, currency: null }];
    expect(read(signed(REVERSAL, CHARGEBACK_SIGNED))).toMatchObject({ reversals });
    expect(await receive(signed(REFUND, CHARGEBACK_SIGNED))).toMatchObject({ accepted: true });
    expect(read(signed(REFUND, CHARGEBACK_SIGNED))).toMatchObject({ reversals });
  });

  it.each(['NEW', 'PROCESS', 'FAIL'])('of a refund in the state %s prove none', async (Status) => {
    const body = signed({ ...REFUND, Status }, REFUND_SIGNED);
    expect(await receive(body)).toMatchObject({ accepted: true });
    expect(read(body)).toBeNull();
  });

  it.each([
    ['nothing', ' ', 'empty_payload'],
    ['a repeated field', `${signed(PAYMENT, PAYMENT_SIGNED)}&Status=FAIL`, 'invalid_payload'],
    ['no order', 'OutSum=1&Status=SUCCESS', 'missing_fields'],
    ['no status', signed({ InvId: ORDER, OutSum: '1' }, PAYMENT_SIGNED), 'missing_fields'],
    ['no signature', new URLSearchParams(PAYMENT).toString(), 'missing_signature'],
    ['another sum', signed(PAYMENT, PAYMENT_SIGNED).replace('1000.50', '1000.51'), 'invalid_signature'],
    [
      'the signed text of a refund as that of a payment',
      signed({ ...PAYMENT, InvId: 'RUB:a:b:c' }, PAYMENT_SIGNED),
      'invalid_fields',
    ],
    ['a refund without a signature', new URLSearchParams(REFUND).toString(), 'missing_signature'],
    ['a refund signed as a payment', signed(REFUND, ['Amount', 'InvId']), 'invalid_signature'],
    ['a refund whose amount cannot be read', signed({ ...REFUND, Amount: '1e2' }, REFUND_SIGNED), 'invalid_fields'],
  ])('%s', async (_name, body, reason) => {
    const verdict = await receive(body);
    expect(verdict).toMatchObject({ accepted: false, reply: { status: 400 } });
    expect(JSON.parse(verdict.reply.body)).toMatchObject({ reason });
  });
});
