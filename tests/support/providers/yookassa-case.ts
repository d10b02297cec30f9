import type { InvoiceAction } from '../../../packages/sandbox/src/payments/invoice.ts';
import { loadEnv } from '../../../src/core/env.ts';
import { isInNetworks, resolveClientAddress } from '../../../src/integrations/payments/wire/client-address.ts';
import type { ProviderCase, RawCallback } from './provider-case.ts';
import type { ProviderFixture } from './provider-fixture.ts';

const YOOKASSA_NETWORKS = loadEnv({}).callbackNetworks.yookassa;
const ACKNOWLEDGED = { status: 200, body: '{"status":"ok"}' };

/** A notification about the current invoice without any action at the fake: whatever it says, the API says otherwise. */
function claimed(fixture: ProviderFixture, change: Record<string, unknown> = {}): RawCallback {
  const object = {
    id: fixture.current.invoice.id,
    status: 'succeeded',
    paid: true,
    amount: { value: '500.00', currency: 'RUB' },
  };
  const body = JSON.stringify({ type: 'notification', event: 'payment.succeeded', object: { ...object, ...change } });
  return { path: '/yookassa-webhook', headers: { 'content-type': 'application/json' }, body };
}

/** A genuine notification, with the API's answer about the payment changed. */
async function withAnswer(fixture: ProviderFixture, change: (payment: Record<string, unknown>) => object): Promise<RawCallback> {
  const genuine = await fixture.callbackOf('pay');
  const payment = JSON.parse(String(genuine.body)).object;
  fixture.intercept((request) =>
    request.method === 'GET' ? { status: 200, contentType: 'application/json', body: JSON.stringify(change(payment)) } : null,
  );
  return genuine;
}

const act = (action: InvoiceAction) => (fixture: ProviderFixture) => fixture.callbackOf(action);

/** YooKassa (03a section 5): nothing is signed, so that the address is checked and the API decides. */
export const yookassaCase: ProviderCase = {
  method: 'yookassa',
  credentials: (secret) => ({ YOOKASSA_SHOP_ID: 'sandbox', YOOKASSA_SECRET_KEY: secret }),
  realUrl: 'https://api.yookassa.ru/v3',
  realEnvironment: { YOOKASSA_CALLBACK_NETWORKS: '127.0.0.0/8' },
  acknowledges: ACKNOWLEDGED,
  reports: ['pay', 'fail', 'expire', 'refund'],
  impossible: {
    underpay: 'the provider takes the whole sum or nothing',
    overpay: 'the provider takes the whole sum or nothing',
    chargeback: 'the provider does not report chargebacks',
  },
  forgeries: {
    F1: { ...ACKNOWLEDGED, make: async (fixture) => claimed(fixture) },
    F2: { notApplicable: 'the provider signs nothing' },
    F3: {
      ...ACKNOWLEDGED,
      opens: 'other_merchant',
      make: (fixture) => withAnswer(fixture, (payment) => ({ ...payment, recipient: { account_id: 'another-shop' } })),
    },
    F4: {
      ...ACKNOWLEDGED,
      opens: 'amount_mismatch',
      make: (fixture) => withAnswer(fixture, (payment) => ({ ...payment, amount: { value: '499.99', currency: 'RUB' } })),
    },
    F5: {
      ...ACKNOWLEDGED,
      opens: 'amount_mismatch',
      make: (fixture) => withAnswer(fixture, (payment) => ({ ...payment, amount: { value: '500.00', currency: 'USD' } })),
    },
    F6: { ...ACKNOWLEDGED, afterCredit: true, make: async (fixture) => claimed(fixture) },
    F7: { ...ACKNOWLEDGED, make: async (fixture) => claimed(fixture, { id: 'payment-of-nobody' }) },
    F8: {
      ...ACKNOWLEDGED,
      afterCredit: true,
      make: async (fixture) => {
        const { body, ...callback } = claimed(fixture, { status: 'canceled', paid: false });
        return { ...callback, body: String(body).replace('payment.succeeded', 'payment.canceled') };
      },
    },
    F9: { status: 413, make: async (fixture) => ({ ...claimed(fixture), body: Buffer.alloc(10 * 1024 * 1024, 0x20) }) },
    F10: { status: 415, make: async (fixture) => ({ ...claimed(fixture), headers: { 'content-type': 'text/plain' } }) },
    F11: { status: 403, make: async (fixture) => ({ ...claimed(fixture), ip: '8.8.8.8' }) },
    F12: { ...ACKNOWLEDGED, make: act('underpay') },
  },
  vector: ({ id, input, keys }) => {
    if (id.startsWith('yookassa.basic-header'))
      return `Basic ${Buffer.from(`${keys.shop_id}:${keys.secret}`).toString('base64')}`;
    const isInside = (address: string | null) => address !== null && isInNetworks(address, YOOKASSA_NETWORKS);
    if (typeof input === 'string') return isInside(input);
    const {
      peer,
      x_forwarded_for: forwardedFor,
      trusted,
    } = input as { peer: string; x_forwarded_for: string; trusted: string[] };
    return isInside(resolveClientAddress(peer, { 'x-forwarded-for': forwardedFor }, trusted));
  },
};
