import type { InvoiceAction } from '../../../packages/sandbox/src/payments/invoice.ts';
import { loadEnv } from '../../../src/core/env.ts';
import { isInNetworks, resolveClientAddress } from '../../../src/integrations/payments/wire/client-address.ts';
import type { ProviderCase, RawCallback } from './provider-case.ts';
import type { ProviderStage } from './provider-stage.ts';

const YOOKASSA_NETWORKS = loadEnv({}).callbackNetworks.yookassa;
const ACKNOWLEDGED = { status: 200, body: '{"status":"ok"}' };

/** A notification about the current invoice without any action at the fake: whatever it says, the API says otherwise. */
function claimed(stage: ProviderStage, change: Record<string, unknown> = {}): RawCallback {
  const object = { id: stage.current.invoice.id, status: 'succeeded', paid: true, amount: { value: '500.00', currency: 'RUB' } };
  const body = JSON.stringify({ type: 'notification', event: 'payment.succeeded', object: { ...object, ...change } });
  return { path: '/yookassa-webhook', headers: { 'content-type': 'application/json' }, body };
}

/** A genuine notification, with the API's answer about the payment changed. */
async function withAnswer(stage: ProviderStage, change: (payment: Record<string, unknown>) => object): Promise<RawCallback> {
  const genuine = await stage.callbackOf('pay');
  const payment = JSON.parse(String(genuine.body)).object;
  stage.intercept((request) =>
    request.method === 'GET' ? { status: 200, contentType: 'application/json', body: JSON.stringify(change(payment)) } : null,
  );
  return genuine;
}

const act = (action: InvoiceAction) => (stage: ProviderStage) => stage.callbackOf(action);

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
    F1: { ...ACKNOWLEDGED, make: async (stage) => claimed(stage) },
    F2: { notApplicable: 'the provider signs nothing' },
    F3: {
      ...ACKNOWLEDGED,
      opens: 'other_merchant',
      make: (stage) => withAnswer(stage, (payment) => ({ ...payment, recipient: { account_id: 'another-shop' } })),
    },
    F4: {
      ...ACKNOWLEDGED,
      opens: 'amount_mismatch',
      make: (stage) => withAnswer(stage, (payment) => ({ ...payment, amount: { value: '499.99', currency: 'RUB' } })),
    },
    F5: {
      ...ACKNOWLEDGED,
      opens: 'amount_mismatch',
      make: (stage) => withAnswer(stage, (payment) => ({ ...payment, amount: { value: '500.00', currency: 'USD' } })),
    },
    F6: { ...ACKNOWLEDGED, afterCredit: true, make: async (stage) => claimed(stage) },
    F7: { ...ACKNOWLEDGED, make: async (stage) => claimed(stage, { id: 'payment-of-nobody' }) },
    F8: {
      ...ACKNOWLEDGED,
      afterCredit: true,
      make: async (stage) => {
        const { body, ...callback } = claimed(stage, { status: 'canceled', paid: false });
        return { ...callback, body: String(body).replace('payment.succeeded', 'payment.canceled') };
      },
    },
    F9: { status: 413, make: async (stage) => ({ ...claimed(stage), body: Buffer.alloc(10 * 1024 * 1024, 0x20) }) },
    F10: { status: 415, make: async (stage) => ({ ...claimed(stage), headers: { 'content-type': 'text/plain' } }) },
    F11: { status: 403, make: async (stage) => ({ ...claimed(stage), ip: '8.8.8.8' }) },
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
