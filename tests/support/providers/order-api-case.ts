import { receiveNotification } from '../../../src/integrations/payments/freekassa/freekassa-provider.ts';
import {
  type FreekassaConnection,
  formSignature,
  notificationSignature,
  orderSignature,
} from '../../../src/integrations/payments/freekassa/orders.ts';
import { parseWireObject } from '../../../src/integrations/payments/wire/json.ts';
import type { Forgery, ForgeryId, ProviderCase, RawCallback, Vector } from './provider-case.ts';
import type { ProviderFixture } from './provider-fixture.ts';

const ACKNOWLEDGED = { status: 200, body: 'YES' };
const REFUSED = { status: 400, body: 'Error' };
const SHOP_ID = '7012';

/** A notification about the current invoice as the provider signs it, whatever the API says. */
export function notification(fixture: ProviderFixture, path: string, change: Record<string, string> = {}): RawCallback {
  const { orderId, invoice } = fixture.current;
  const fields = { MERCHANT_ID: SHOP_ID, AMOUNT: '500', intid: String(invoice.number), MERCHANT_ORDER_ID: orderId, ...change };
  const { MERCHANT_ID: merchantId, AMOUNT: amount, MERCHANT_ORDER_ID: signedOrder } = fields;
  const sign = notificationSignature({ merchantId, amount, orderId: signedOrder, word2: fixture.secret });
  const body = new URLSearchParams({ SIGN: sign, ...fields }).toString();
  return { path, headers: { 'content-type': 'application/x-www-form-urlencoded' }, body };
}

/** The API's answer about the current order with other fields. */
export function answerOrder(fixture: ProviderFixture, change: Record<string, unknown>): void {
  const { orderId, invoice } = fixture.current;
  const order = { merchant_order_id: orderId, fk_order_id: invoice.number, amount: 500, currency: 'RUB', status: 1, ...change };
  const body = JSON.stringify({ type: 'success', pages: 1, orders: [order] });
  fixture.intercept(({ path }) => (path === '/v1/orders' ? { status: 200, contentType: 'application/json', body } : null));
}

/** The twelve callbacks of 03a sections 10 and 11, which are the same but for the list of addresses. */
function forgeriesOf(path: string, F11: Forgery): Record<ForgeryId, Forgery> {
  const made = (change: Record<string, string> = {}) => ({
    make: async (fixture: ProviderFixture) => notification(fixture, path, change),
  });
  const answered = (change: Record<string, unknown>, fields: Record<string, string> = {}) => ({
    make: async (fixture: ProviderFixture) => {
      answerOrder(fixture, change);
      return notification(fixture, path, fields);
    },
  });
  return {
    F1: { ...REFUSED, ...made({ SIGN: '0'.repeat(32) }) },
    F2: { ...REFUSED, ...made({ SIGN: '' }) },
    F3: { ...REFUSED, ...made({ MERCHANT_ID: '7013' }) },
    F4: { ...ACKNOWLEDGED, opens: 'amount_mismatch', ...answered({ amount: 499.99 }, { AMOUNT: '499.99' }) },
    F5: { ...ACKNOWLEDGED, opens: 'amount_mismatch', ...answered({ currency: 'USD' }) },
    F6: { ...ACKNOWLEDGED, afterCredit: true, make: async (fixture) => fixture.posted('pay')[0]! },
    F7: { ...ACKNOWLEDGED, opens: 'unknown_payment', ...made({ MERCHANT_ORDER_ID: 'an-order-of-nobody', intid: '424242' }) },
    F8: { ...ACKNOWLEDGED, afterCredit: true, ...answered({ status: 9 }, { P_PHONE: '79990000000' }) },
    F9: {
      status: 413,
      make: async (fixture) => ({ ...notification(fixture, path), body: Buffer.alloc(10 * 1024 * 1024, 0x20) }),
    },
    F10: {
      status: 415,
      make: async (fixture) => ({ ...notification(fixture, path), headers: { 'content-type': 'application/json' }, body: '{}' }),
    },
    F11,
    F12: { ...ACKNOWLEDGED, ...made() },
  };
}

function runVector(wrongWord: string, shopId: string, { id, kind, input, signed_text, keys }: Vector): string | boolean {
  const signedParts = String(signed_text).split(':');
  if (id.includes('.form')) {
    const [shop, amount, word1, ...rest] = signedParts;
    const orderId = rest.at(-1)!;
    return formSignature({ shopId: shop!, amount: amount!, word1: word1!, currency: 'RUB', orderId });
  }
  if (kind === 'request') return orderSignature(parseWireObject(String(input))!, keys.api_key!);
  if (input === undefined) {
    const [merchantId, amount, word2, orderId] = signedParts;
    const ours = id.endsWith('notification-word1') ? wrongWord : word2!;
    return notificationSignature({ merchantId: merchantId!, amount: amount!, orderId: orderId!, word2: ours });
  }
  const callback = { method: 'POST', subpath: '', query: {}, headers: {}, ip: '127.0.0.1', rawBody: Buffer.from(String(input)) };
  const rules: FreekassaConnection['rules'] = { shopId, word2: keys.word2!, senders: null };
  return receiveNotification(callback, rules, { provider: '', answersOptions: false }).accepted;
}

/** A provider on the API of Freekassa. */
export function orderApiCase(options: {
  method: string;
  path: string;
  F11: Forgery;
  credentials: ProviderCase['credentials'];
  realEnvironment?: Record<string, string>;
  /** Shop and second secret word of the vectors. */
  vectors: { shopId: string; word2: string };
}): ProviderCase {
  const { method, path, F11, vectors, credentials, realEnvironment = {} } = options;
  return {
    method,
    credentials,
    realEnvironment,
    realUrl: 'https://api.fk.life',
    acknowledges: ACKNOWLEDGED,
    reports: ['pay'],
    impossible: {
      underpay: 'the provider takes the whole sum or nothing',
      overpay: 'the provider takes the whole sum or nothing',
      chargeback: 'the provider has no status of a chargeback',
    },
    forgeries: forgeriesOf(path, F11),
    vector: (vector) => runVector(vectors.word2, vectors.shopId, vector),
  };
}
