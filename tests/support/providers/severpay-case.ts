import { createHmac } from 'node:crypto';
import { receiveSeverpayCallback, severpaySignature } from '../../../src/integrations/payments/severpay-provider.ts';
import { parseWireObject } from '../../../src/integrations/payments/wire/json.ts';
import type { ProviderCase, RawCallback } from './provider-case.ts';
import type { ProviderFixture } from './provider-fixture.ts';

const PATH = '/severpay-webhook';
const ACKNOWLEDGED = { status: 200, body: '{"status":true}' };
const REFUSED = { status: 403, body: '{"status":false}' };

/** A callback about the current invoice as the provider signs it, whatever the API says. */
export function payinCallback(fixture: ProviderFixture, change: Record<string, unknown> = {}, sign?: string): RawCallback {
  const { invoice, orderId } = fixture.current;
  const data = { id: invoice.number, order_id: orderId, amount: 500, currency: 'RUB', status: 'success', ...change };
  const text = JSON.stringify({ type: 'payin', data, salt: 'aabb' });
  const signature = sign ?? createHmac('sha256', fixture.secret).update(text).digest('hex');
  const body = signature === '' ? text : `${text.slice(0, -1)},"sign":"${signature}"}`;
  return { path: PATH, headers: { 'content-type': 'application/json' }, body };
}

/** The answer of /payin/get about the current invoice with other fields. */
export function answerPayin(fixture: ProviderFixture, change: Record<string, unknown>): void {
  const { invoice, orderId } = fixture.current;
  const data = { id: invoice.number, order_id: orderId, amount: 500, currency: 'RUB', status: 'success', ...change };
  const body = JSON.stringify({ status: true, msg: '', data });
  fixture.intercept(({ path }) => (path === '/payin/get' ? { status: 200, contentType: 'application/json', body } : null));
}

/** A genuine callback while the API says something else about the invoice. */
const answered =
  (change: Record<string, unknown>, callback: Record<string, unknown> = {}) =>
  async (fixture: ProviderFixture): Promise<RawCallback> => {
    answerPayin(fixture, change);
    return payinCallback(fixture, callback);
  };

/** SeverPay (03a section 14). */
export const severpayCase: ProviderCase = {
  method: 'severpay',
  credentials: (secret) => ({ SEVERPAY_MID: '101', SEVERPAY_TOKEN: secret }),
  realUrl: 'https://severpay.io/api/merchant',
  realEnvironment: { SEVERPAY_CALLBACK_NETWORKS: '127.0.0.0/8' },
  // The list of addresses is off by default; with one the fake's own addresses are allowed.
  settings: { SEVERPAY_CALLBACK_NETWORKS: '45.76.81.14' },
  acknowledges: ACKNOWLEDGED,
  reports: ['pay', 'fail', 'expire'],
  impossible: {
    underpay: 'the provider takes the whole sum or nothing',
    overpay: 'the provider takes the whole sum or nothing',
    refund: 'the provider has no refunds',
    chargeback: 'the provider has no status of a chargeback',
  },
  forgeries: {
    F1: { ...REFUSED, make: async (fixture) => payinCallback(fixture, {}, 'ab'.repeat(32)) },
    F2: { ...REFUSED, make: async (fixture) => payinCallback(fixture, {}, '') },
    F3: { ...ACKNOWLEDGED, opens: 'order_mismatch', make: answered({ id: 990_001 }, { id: 990_001 }) },
    F4: { ...ACKNOWLEDGED, opens: 'amount_mismatch', make: answered({ amount: 499.99 }) },
    F5: { ...ACKNOWLEDGED, opens: 'amount_mismatch', make: answered({ currency: 'USD' }) },
    F6: { ...ACKNOWLEDGED, afterCredit: true, make: async (fixture) => fixture.posted('pay')[0]! },
    F7: { ...ACKNOWLEDGED, make: async (fixture) => payinCallback(fixture, { id: 990_002, order_id: 'an-order-of-nobody' }) },
    F8: { ...ACKNOWLEDGED, afterCredit: true, make: answered({ status: 'decline' }, { status: 'decline' }) },
    F9: { status: 413, make: async (fixture) => ({ ...payinCallback(fixture), body: Buffer.alloc(10 * 1024 * 1024, 0x20) }) },
    F10: { status: 415, make: async (fixture) => ({ ...payinCallback(fixture), headers: { 'content-type': 'text/plain' } }) },
    F11: { ...REFUSED, make: async (fixture) => ({ ...payinCallback(fixture), ip: '8.8.8.8' }) },
    F12: { ...ACKNOWLEDGED, make: async (fixture) => payinCallback(fixture, { status: 'process' }) },
  },
  vector: ({ kind, input, signed_text, keys }) => {
    if (kind === 'request') {
      const { sign: _sign, ...fields } = parseWireObject(String(input ?? signed_text))!;
      return severpaySignature(fields, keys.token!);
    }
    const callback = {
      method: 'POST',
      subpath: '',
      query: {},
      headers: {},
      ip: '127.0.0.1',
      rawBody: Buffer.from(String(input)),
    };
    const limits = { currency: 'RUB', minKopeks: 0, maxKopeks: 0, lifetimeMinutes: 30, returnUrl: null };
    const connection = { baseUrl: '', mid: '101', token: keys.token!, ...limits, proxies: [], allowedNetworks: [] };
    return receiveSeverpayCallback(callback, connection).reply.status === 200;
  },
};
