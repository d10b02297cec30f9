import {
  type CloudpaymentsConnection,
  cloudpaymentsSignature,
  receiveCloudpaymentsCallback,
} from '../../../src/integrations/payments/cloudpayments/cloudpayments-provider.ts';
import type { ProviderCase, RawCallback } from './provider-case.ts';
import type { ProviderFixture } from './provider-fixture.ts';

const PATH = '/cloudpayments-webhook';
const HEADER = 'content-hmac';
/** Ids of transactions that are made here differ from those of the fake. */
const FIRST_TRANSACTION = 5_900_000_000;
const ACKNOWLEDGED = { status: 200, body: '{"code":0}' };
const REFUSED = { status: 200, body: '{"code":13}' };

/** A notification about the current order, signed with the secret of the fake. A null takes a field away. */
export function notification(
  fixture: ProviderFixture,
  kind: string,
  change: Readonly<Record<string, string | null>> = {},
  secret = fixture.secret,
): RawCallback {
  const { user, orderId, paymentId } = fixture.current;
  const fields = {
    TransactionId: String(FIRST_TRANSACTION + paymentId),
    Amount: '500.00',
    Currency: 'RUB',
    DateTime: '2026-10-02 10:00:00',
    TestMode: '0',
    Status: 'Completed',
    OperationType: 'Payment',
    GatewayName: 'Sandbox',
    InvoiceId: orderId,
    AccountId: String(user.id),
    ...change,
  };
  const known = Object.entries(fields).filter((field): field is [string, string] => field[1] !== null);
  const body = new URLSearchParams(known).toString();
  const signature = cloudpaymentsSignature(Buffer.from(body), secret).toString('base64');
  return {
    path: `${PATH}${kind === '' ? '' : `/${kind}`}`,
    headers: { 'content-type': 'application/x-www-form-urlencoded', [HEADER]: signature },
    body,
  };
}

export const aConnection = (change: Partial<CloudpaymentsConnection> = {}): CloudpaymentsConnection => ({
  baseUrl: 'https://api.cloudpayments.example',
  publicId: 'pk_test',
  apiSecret: 'test_api_secret',
  currency: 'RUB',
  returnUrl: null,
  isTestTerminal: false,
  requiresEmail: false,
  minKopeks: 100,
  maxKopeks: 10_000_000,
  proxies: [],
  allowedNetworks: [],
  ...change,
});

/** CloudPayments (03a section 12). */
export const cloudpaymentsCase: ProviderCase = {
  method: 'cloudpayments',
  credentials: (secret) => ({ CLOUDPAYMENTS_PUBLIC_ID: 'pk_sandbox', CLOUDPAYMENTS_API_SECRET: secret }),
  realUrl: 'https://api.cloudpayments.ru',
  settings: { CLOUDPAYMENTS_CALLBACK_NETWORKS: '127.0.0.0/8' },
  acknowledges: ACKNOWLEDGED,
  reports: ['pay', 'fail', 'refund'],
  impossible: {
    underpay: 'the provider takes the whole sum or nothing',
    overpay: 'the provider takes the whole sum or nothing',
    expire: 'an order has no expiry',
    chargeback: 'the provider does not report chargebacks',
  },
  forgeries: {
    F1: { ...REFUSED, make: async (fixture) => ({ ...notification(fixture, 'pay'), body: 'TransactionId=1&Amount=500.00' }) },
    F2: {
      ...REFUSED,
      make: async (fixture) => ({
        ...notification(fixture, 'pay'),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }),
    },
    F3: {
      ...ACKNOWLEDGED,
      opens: 'other_merchant',
      make: async (fixture) => notification(fixture, 'pay', { AccountId: '999999' }),
    },
    F4: {
      ...ACKNOWLEDGED,
      opens: 'amount_mismatch',
      make: async (fixture) => notification(fixture, 'pay', { Amount: '499.99' }),
    },
    F5: { ...ACKNOWLEDGED, opens: 'amount_mismatch', make: async (fixture) => notification(fixture, 'pay', { Currency: 'USD' }) },
    F6: { ...ACKNOWLEDGED, afterCredit: true, make: async (fixture) => fixture.posted('pay')[0]! },
    F7: {
      ...ACKNOWLEDGED,
      opens: 'unknown_payment',
      make: async (fixture) => notification(fixture, 'pay', { InvoiceId: 'an-order-of-nobody' }),
    },
    F8: {
      ...ACKNOWLEDGED,
      afterCredit: true,
      make: async (fixture) => notification(fixture, 'cancel', { Status: null, GatewayName: null, OperationType: null }),
    },
    F9: {
      status: 413,
      make: async (fixture) => ({ ...notification(fixture, 'pay'), body: Buffer.alloc(10 * 1024 * 1024, 0x20) }),
    },
    F10: {
      status: 415,
      make: async (fixture) => {
        const genuine = notification(fixture, 'pay');
        return { ...genuine, headers: { ...genuine.headers, 'content-type': 'application/json' } };
      },
    },
    F11: { status: 403, make: async (fixture) => ({ ...notification(fixture, 'pay'), ip: '8.8.8.8' }) },
    F12: { ...ACKNOWLEDGED, make: async (fixture) => notification(fixture, 'pay', { Status: 'Authorized' }) },
  },
  vector: ({ input, expected, keys, header }) =>
    receiveCloudpaymentsCallback(
      {
        method: 'POST',
        subpath: 'pay',
        query: {},
        ip: '127.0.0.1',
        rawBody: Buffer.from(String(input)),
        headers: { [String(header).toLowerCase()]: String(expected) },
      },
      aConnection({ apiSecret: keys.api_secret! }),
    ).accepted,
};
