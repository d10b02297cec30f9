import { cutMember, heleketSignature, receiveHeleketCallback } from '../../../src/integrations/payments/heleket-provider.ts';
import type { ProviderCase, RawCallback } from './provider-case.ts';
import type { ProviderFixture } from './provider-fixture.ts';

const ACKNOWLEDGED = { status: 200, body: '{"status":"ok"}' };

/** A callback with the signature of its members among them. */
export function signed(members: Record<string, unknown>, key: string): RawCallback {
  const text = JSON.stringify(members).replaceAll('/', '\\/');
  const body = `${text.slice(0, -1)},"sign":"${heleketSignature(text, key)}"}`;
  return { path: '/heleket-webhook', headers: { 'content-type': 'application/json' }, body };
}

/** The callback of the current invoice being paid, with other members, signed again. */
function claimed(fixture: ProviderFixture, change: Record<string, unknown> = {}): RawCallback {
  const { invoice, orderId } = fixture.current;
  const members = { type: 'payment', uuid: invoice.id, order_id: orderId, amount: '500.00', payment_amount: '5.00000000' };
  return signed({ ...members, is_final: true, status: 'paid', currency: 'RUB', ...change }, fixture.secret);
}

/** A connection for vectors; nothing of it but the key matters to them. */
const vectorConnection = (apiKey: string) => ({
  baseUrl: '',
  merchantId: '',
  apiKey,
  toCurrency: null,
  network: null,
  lifetimeSeconds: 3_600,
  markupPercent: 0,
  callbackUrl: null,
  returnUrl: null,
  successUrl: null,
  proxies: [],
  allowedNetworks: [],
});

/** Heleket (03a section 4). */
export const heleketCase: ProviderCase = {
  method: 'heleket',
  credentials: (secret) => ({ HELEKET_MERCHANT_ID: 'sandbox', HELEKET_API_KEY: secret }),
  realUrl: 'https://api.heleket.com/v1',
  realEnvironment: { HELEKET_CALLBACK_NETWORKS: '127.0.0.0/8' },
  settings: { HELEKET_CALLBACK_NETWORKS: '31.133.220.8' },
  acknowledges: ACKNOWLEDGED,
  reports: ['pay', 'overpay', 'underpay', 'fail', 'expire', 'refund'],
  impossible: { chargeback: 'transfers of crypto currency cannot be taken back' },
  forgeries: {
    F1: {
      status: 401,
      make: async (fixture) => ({ ...claimed(fixture), body: String(claimed(fixture).body).replace('"500.00"', '"500.01"') }),
    },
    F2: {
      status: 401,
      make: async (fixture) => ({ ...claimed(fixture), body: cutMember(String(claimed(fixture).body), 'sign')! }),
    },
    F3: {
      ...ACKNOWLEDGED,
      opens: 'order_mismatch',
      make: async (fixture) => claimed(fixture, { uuid: '00000000-0000-4000-8000-000000000001' }),
    },
    F4: { ...ACKNOWLEDGED, opens: 'amount_mismatch', make: async (fixture) => claimed(fixture, { amount: '499.99' }) },
    F5: { ...ACKNOWLEDGED, opens: 'amount_mismatch', make: async (fixture) => claimed(fixture, { currency: 'USDT' }) },
    F6: { ...ACKNOWLEDGED, afterCredit: true, make: async (fixture) => fixture.posted('pay')[0]! },
    F7: {
      ...ACKNOWLEDGED,
      make: async (fixture) => claimed(fixture, { uuid: '00000000-0000-4000-8000-000000000002', order_id: 'an-order-of-nobody' }),
    },
    F8: { ...ACKNOWLEDGED, afterCredit: true, make: async (fixture) => claimed(fixture, { status: 'cancel' }) },
    F9: { status: 413, make: async (fixture) => ({ ...claimed(fixture), body: Buffer.alloc(10 * 1024 * 1024, 0x20) }) },
    F10: { status: 415, make: async (fixture) => ({ ...claimed(fixture), headers: { 'content-type': 'text/plain' } }) },
    F11: { status: 403, make: async (fixture) => ({ ...claimed(fixture), ip: '8.8.8.8' }) },
    F12: { ...ACKNOWLEDGED, make: async (fixture) => claimed(fixture, { status: 'confirm_check', is_final: false }) },
  },
  vector: ({ id, kind, input, keys }) => {
    const text = String(input);
    if (kind === 'request') return heleketSignature(text, keys.payment_key!);
    if (id === 'heleket.webhook-slash-unescaped') return heleketSignature(cutMember(text, 'sign')!, keys.payment_key!);
    const callback = { method: 'POST', subpath: '', query: {}, headers: {}, ip: '127.0.0.1', rawBody: Buffer.from(text) };
    return receiveHeleketCallback(callback, vectorConnection(keys.payment_key!)).reply.status === 200;
  },
};
