import { cutToBytes, receivePlategaCallback } from '../../../src/integrations/payments/platega-provider.ts';
import type { ProviderCase, RawCallback } from './provider-case.ts';
import type { ProviderFixture } from './provider-fixture.ts';

const ACKNOWLEDGED = { status: 200, body: '{"status":"ok"}' };
const MERCHANT = 'x-merchantid';
const SECRET = 'x-secret';

/** A callback with the right headers, made without any action at the fake: whatever it says, the API says otherwise. */
export function claimed(fixture: ProviderFixture, change: Record<string, unknown> = {}): RawCallback {
  const { invoice, orderId } = fixture.current;
  const body = { id: invoice.id, amount: 500, currency: 'RUB', status: 'CONFIRMED', payload: `platega:${orderId}`, ...change };
  const headers = {
    'content-type': 'application/json',
    [MERCHANT]: '5a4db0c5-0000-4000-8000-000000000001',
    [SECRET]: fixture.secret,
  };
  return { path: '/platega-webhook', headers, body: JSON.stringify(body) };
}

/** The genuine callback of a payment with other headers; undefined = left out. */
async function withHeaders(fixture: ProviderFixture, change: Record<string, string | undefined>): Promise<RawCallback> {
  const genuine = await fixture.callbackOf('pay');
  const headers = Object.entries({ ...genuine.headers, ...change }).filter((entry): entry is [string, string] => !!entry[1]);
  return { ...genuine, headers: Object.fromEntries(headers) };
}

/** A genuine callback, with the API's answer about the transaction changed. */
async function withAnswer(fixture: ProviderFixture, paymentDetails: object): Promise<RawCallback> {
  const genuine = await fixture.callbackOf('pay');
  const { id, status, payload } = JSON.parse(String(genuine.body));
  const body = JSON.stringify({ id, status, payload, paymentDetails });
  fixture.intercept((request) => (request.method === 'GET' ? { status: 200, contentType: 'application/json', body } : null));
  return genuine;
}

const WHOLE_SUM = 'the provider has no status for another sum: the payer pays the whole or nothing';

/** Platega (03a section 8): the credentials in the headers, and the API decides. */
export const plategaCase: ProviderCase = {
  method: 'platega',
  credentials: (secret) => ({ PLATEGA_MERCHANT_ID: '5a4db0c5-0000-4000-8000-000000000001', PLATEGA_SECRET: secret }),
  realUrl: 'https://app.platega.io',
  acknowledges: ACKNOWLEDGED,
  reports: ['pay', 'fail', 'expire', 'refund', 'chargeback'],
  impossible: { underpay: WHOLE_SUM, overpay: WHOLE_SUM },
  forgeries: {
    F1: { status: 401, make: (fixture) => withHeaders(fixture, { [SECRET]: 'another-secret' }) },
    F2: { status: 401, make: (fixture) => withHeaders(fixture, { [SECRET]: undefined, [MERCHANT]: undefined }) },
    F3: { status: 401, make: (fixture) => withHeaders(fixture, { [MERCHANT]: '5a4db0c5-0000-4000-8000-000000000002' }) },
    F4: {
      ...ACKNOWLEDGED,
      opens: 'amount_mismatch',
      make: (fixture) => withAnswer(fixture, { amount: 499.99, currency: 'RUB' }),
    },
    F5: { ...ACKNOWLEDGED, opens: 'amount_mismatch', make: (fixture) => withAnswer(fixture, { amount: 500, currency: 'USD' }) },
    F6: { ...ACKNOWLEDGED, afterCredit: true, make: async (fixture) => claimed(fixture) },
    F7: {
      ...ACKNOWLEDGED,
      make: async (fixture) =>
        claimed(fixture, { id: '9a4db0c5-0000-4000-8000-00000000ffff', payload: 'platega:order-of-nobody' }),
    },
    F8: { ...ACKNOWLEDGED, afterCredit: true, make: async (fixture) => claimed(fixture, { status: 'CANCELED' }) },
    F9: { status: 413, make: async (fixture) => ({ ...claimed(fixture), body: Buffer.alloc(10 * 1024 * 1024, 0x20) }) },
    F10: {
      status: 415,
      make: async (fixture) => ({ ...claimed(fixture), headers: { ...claimed(fixture).headers, 'content-type': 'text/plain' } }),
    },
    F11: { notApplicable: 'the provider publishes no addresses' },
    F12: { ...ACKNOWLEDGED, make: async (fixture) => claimed(fixture, { status: 'PENDING' }) },
  },
  vector: ({ kind, input, keys }) => {
    if (kind === 'request') return cutToBytes(String(input), 64);
    const names = Object.entries(input as Record<string, string | null>);
    const headers = Object.fromEntries(names.flatMap(([name, value]) => (value === null ? [] : [[name.toLowerCase(), value]])));
    const verdict = receivePlategaCallback(
      { method: 'POST', subpath: '', query: {}, ip: '127.0.0.1', rawBody: Buffer.from('{"id":"a"}'), headers },
      {
        baseUrl: '',
        returnUrl: null,
        failedUrl: null,
        minKopeks: 0,
        maxKopeks: 0,
        merchantId: keys.merchant_id!,
        secret: keys.secret!,
      },
    );
    return verdict.accepted;
  },
};
