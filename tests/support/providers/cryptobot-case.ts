import { cryptobotSignature, receiveCryptobotCallback } from '../../../src/integrations/payments/cryptobot-provider.ts';
import type { ProviderCase, RawCallback } from './provider-case.ts';
import type { ProviderFixture } from './provider-fixture.ts';

const HEADER = 'crypto-pay-api-signature';

/** The genuine callback of a payment with other fields in its invoice, signed again. */
async function changed(fixture: ProviderFixture, change: Record<string, unknown>): Promise<RawCallback> {
  const genuine = await fixture.callbackOf('pay');
  const update = JSON.parse(String(genuine.body));
  const body = JSON.stringify({ ...update, payload: { ...update.payload, ...change } });
  return { ...genuine, body, headers: { ...genuine.headers, [HEADER]: cryptobotSignature(Buffer.from(body), fixture.secret) } };
}

const ACKNOWLEDGED = { status: 200, body: '{"status":"ok"}' };

/** CryptoBot (03a section 3). */
export const cryptobotCase: ProviderCase = {
  method: 'cryptobot',
  credentials: (secret) => ({ CRYPTOBOT_API_TOKEN: secret }),
  realUrl: 'https://pay.crypt.bot',
  acknowledges: ACKNOWLEDGED,
  reports: ['pay', 'overpay'],
  impossible: {
    underpay: 'the payer sends the whole sum, or the invoice stays open',
    fail: 'an invoice stays open until it is paid or expires',
    refund: 'the provider has no refunds',
    chargeback: 'the provider has no chargebacks',
  },
  forgeries: {
    F1: {
      status: 401,
      make: async (fixture) => {
        const genuine = await fixture.callbackOf('pay');
        return {
          ...genuine,
          headers: { ...genuine.headers, [HEADER]: cryptobotSignature(Buffer.from('other'), fixture.secret) },
        };
      },
    },
    F2: {
      status: 401,
      make: async (fixture) => {
        const { [HEADER]: _signature, ...headers } = (await fixture.callbackOf('pay')).headers;
        return { path: '/cryptobot-webhook', headers, body: '{}' };
      },
    },
    F3: {
      status: 401,
      make: async (fixture) => {
        const genuine = await fixture.callbackOf('pay');
        const signature = cryptobotSignature(Buffer.from(String(genuine.body)), '999:token-of-another-app');
        return { ...genuine, headers: { ...genuine.headers, [HEADER]: signature } };
      },
    },
    F4: { ...ACKNOWLEDGED, opens: 'amount_mismatch', make: (fixture) => changed(fixture, { amount: '499.99' }) },
    F5: { ...ACKNOWLEDGED, opens: 'amount_mismatch', make: (fixture) => changed(fixture, { fiat: 'USD' }) },
    F6: { ...ACKNOWLEDGED, afterCredit: true, make: (fixture) => replay(fixture) },
    F7: {
      ...ACKNOWLEDGED,
      opens: 'unknown_payment',
      make: (fixture) => changed(fixture, { invoice_id: 999_999_001, payload: 'an-order-of-nobody' }),
    },
    F8: { ...ACKNOWLEDGED, afterCredit: true, make: (fixture) => replay(fixture, { status: 'expired' }) },
    F9: {
      status: 413,
      make: async (fixture) => ({ ...(await fixture.callbackOf('pay')), body: Buffer.alloc(10 * 1024 * 1024, 0x20) }),
    },
    F10: {
      status: 415,
      make: async (fixture) => {
        const genuine = await fixture.callbackOf('pay');
        return { ...genuine, headers: { ...genuine.headers, 'content-type': 'text/plain' } };
      },
    },
    F11: { notApplicable: 'the provider publishes no addresses' },
    F12: { ...ACKNOWLEDGED, make: (fixture) => replay(fixture, { status: 'active' }) },
  },
  vector: ({ input, expected, keys }) =>
    receiveCryptobotCallback(
      {
        method: 'POST',
        subpath: '',
        query: {},
        ip: '127.0.0.1',
        rawBody: Buffer.from(String(input)),
        headers: { [HEADER]: String(expected) },
      },
      { baseUrl: '', token: keys.token!, acceptedAssets: [], expiresInSeconds: 3_600 },
    ).reply.status !== 401,
};

/** A callback about the current invoice, made here, since the fake posts one only when the invoice is paid. */
async function replay(fixture: ProviderFixture, change: Record<string, unknown> = {}): Promise<RawCallback> {
  const { invoice, orderId } = fixture.current;
  const payload = {
    invoice_id: invoice.number,
    status: 'paid',
    currency_type: 'fiat',
    fiat: 'RUB',
    amount: '500',
    payload: orderId,
  };
  const body = JSON.stringify({ update_id: 1, update_type: 'invoice_paid', payload: { ...payload, ...change } });
  const headers = { 'content-type': 'application/json', [HEADER]: cryptobotSignature(Buffer.from(body), fixture.secret) };
  return { path: '/cryptobot-webhook', headers, body };
}
