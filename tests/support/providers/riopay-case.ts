import { receiveRiopayCallback, riopaySignature } from '../../../src/integrations/payments/riopay-provider.ts';
import type { ProviderCase, RawCallback } from './provider-case.ts';
import type { ProviderFixture } from './provider-fixture.ts';

const HEADER = 'x-signature';
const ACKNOWLEDGED = { status: 200, body: '{"status":"ok"}' };
const WHOLE_SUM = 'the provider has no status for another sum: the payer pays the whole or nothing';

/** An order of the current invoice as the provider would report it, signed with its key; made here, without any action at the fake. */
export function reported(fixture: ProviderFixture, change: Record<string, unknown> = {}, secret = fixture.secret): RawCallback {
  const { invoice, orderId } = fixture.current;
  const order = {
    id: invoice.id,
    status: 'COMPLETED',
    amount: '500',
    currency: 'RUB',
    paymentType: 'SBP',
    externalId: orderId,
    shopId: 'sandbox-shop',
    merchantId: 'sandbox-merchant',
    isTest: false,
  };
  const body = JSON.stringify({ ...order, ...change });
  const headers = { 'content-type': 'application/json', 'x-type': 'ORDER_UPDATE', [HEADER]: riopaySignature(body, secret) };
  return { path: '/riopay-webhook', headers, body };
}

/** RioPay (03a section 13): the whole body is signed, so that it is credited from the callback. */
export const riopayCase: ProviderCase = {
  method: 'riopay',
  credentials: (secret) => ({ RIOPAY_API_TOKEN: secret }),
  realUrl: 'https://api.riopay.online',
  acknowledges: ACKNOWLEDGED,
  reports: ['pay', 'fail', 'expire', 'refund', 'chargeback'],
  impossible: { underpay: WHOLE_SUM, overpay: WHOLE_SUM },
  forgeries: {
    F1: { status: 403, body: 'Error', make: async (fixture) => reported(fixture, {}, 'token-of-another-shop') },
    F2: {
      status: 403,
      body: 'Error',
      make: async (fixture) => {
        const { [HEADER]: _signature, ...headers } = reported(fixture).headers;
        return { ...reported(fixture), headers };
      },
    },
    F3: { ...ACKNOWLEDGED, opens: 'other_merchant', make: async (fixture) => reported(fixture, { shopId: 'another-shop' }) },
    F4: { ...ACKNOWLEDGED, opens: 'amount_mismatch', make: async (fixture) => reported(fixture, { amount: '499.99' }) },
    F5: { ...ACKNOWLEDGED, opens: 'amount_mismatch', make: async (fixture) => reported(fixture, { currency: 'USD' }) },
    F6: { ...ACKNOWLEDGED, afterCredit: true, make: async (fixture) => reported(fixture) },
    F7: {
      ...ACKNOWLEDGED,
      opens: 'unknown_payment',
      make: async (fixture) => reported(fixture, { id: '0199a1b2-ffff-7e5f-8a9b-0c1d2e3f4a5c', externalId: 'order-of-nobody' }),
    },
    F8: { ...ACKNOWLEDGED, afterCredit: true, make: async (fixture) => reported(fixture, { status: 'CANCELED' }) },
    F9: { status: 413, make: async (fixture) => ({ ...reported(fixture), body: Buffer.alloc(10 * 1024 * 1024, 0x20) }) },
    F10: {
      status: 415,
      make: async (fixture) => ({
        ...reported(fixture),
        headers: { ...reported(fixture).headers, 'content-type': 'text/plain' },
      }),
    },
    F11: { notApplicable: 'the only address that is known comes from one shop (03a section 0.7)' },
    F12: { ...ACKNOWLEDGED, make: async (fixture) => reported(fixture, { status: 'PENDING' }) },
  },
  vector: ({ input, expected, keys }) =>
    receiveRiopayCallback(
      {
        method: 'POST',
        subpath: '',
        query: {},
        ip: '127.0.0.1',
        rawBody: Buffer.from(String(input)),
        headers: { [HEADER]: String(expected) },
      },
      {
        baseUrl: '',
        token: keys.api_token!,
        webhookSecret: keys.api_token!,
        callbackUrl: null,
        successUrl: null,
        failUrl: null,
        minKopeks: 0,
        maxKopeks: 0,
      },
    ).accepted,
};
