import { createSignature, receiveMulenpayCallback } from '../../../src/integrations/payments/mulenpay-provider.ts';
import { rublesText } from '../../../src/integrations/payments/wire/money.ts';
import type { ProviderCase, RawCallback } from './provider-case.ts';
import type { ProviderFixture } from './provider-fixture.ts';

const ACKNOWLEDGED = { status: 200, body: '{"status":"ok"}' };

/** A callback about the current payment without any action at the fake: whatever it says, the API says otherwise. */
function claimed(fixture: ProviderFixture, change: Record<string, unknown> = {}): RawCallback {
  const { invoice, orderId } = fixture.current;
  const members = { id: invoice.number, amount: 500, currency: 'RUB', uuid: orderId, payment_status: 'success', ...change };
  return { path: '/mulenpay-webhook', headers: { 'content-type': 'application/json' }, body: JSON.stringify(members) };
}

/** A genuine callback, with the API's answer about the payment changed. */
async function withAnswer(fixture: ProviderFixture, change: Record<string, unknown>): Promise<RawCallback> {
  const genuine = await fixture.callbackOf('pay');
  const { invoice, orderId } = fixture.current;
  const payment = { id: invoice.number, uuid: orderId, amount: '500.00', currency: 'rub', status: 3, ...change };
  const body = JSON.stringify({ success: true, payment });
  fixture.intercept(() => ({ status: 200, contentType: 'application/json', body }));
  return genuine;
}

/** MulenPay (03a section 6): callbacks need no signature, so that the API decides. */
export const mulenpayCase: ProviderCase = {
  method: 'mulenpay',
  credentials: (secret) => ({ MULENPAY_API_KEY: secret, MULENPAY_SECRET_KEY: secret, MULENPAY_SHOP_ID: '1' }),
  realUrl: 'https://mulenpay.ru/api',
  acknowledges: ACKNOWLEDGED,
  reports: ['pay', 'fail', 'expire'],
  impossible: {
    underpay: 'the provider has no status for another sum than that of the payment',
    overpay: 'the provider has no status for another sum than that of the payment',
    refund: 'the provider does not document how it reports a refund',
    chargeback: 'the provider does not document how it reports a chargeback',
  },
  forgeries: {
    F1: { status: 401, make: async (fixture) => claimed(fixture, { sign: '0'.repeat(40) }) },
    F2: { ...ACKNOWLEDGED, make: async (fixture) => claimed(fixture) },
    F3: { ...ACKNOWLEDGED, opens: 'order_mismatch', make: (fixture) => withAnswer(fixture, { uuid: 'an-order-of-another' }) },
    F4: { ...ACKNOWLEDGED, opens: 'amount_mismatch', make: (fixture) => withAnswer(fixture, { amount: '499.99' }) },
    F5: { ...ACKNOWLEDGED, opens: 'amount_mismatch', make: (fixture) => withAnswer(fixture, { currency: 'usd' }) },
    F6: { ...ACKNOWLEDGED, afterCredit: true, make: async (fixture) => fixture.posted('pay')[0]! },
    F7: { ...ACKNOWLEDGED, make: async (fixture) => claimed(fixture, { uuid: 'an-order-of-nobody' }) },
    F8: { ...ACKNOWLEDGED, afterCredit: true, make: async (fixture) => claimed(fixture, { payment_status: 'cancel' }) },
    F9: { status: 413, make: async (fixture) => ({ ...claimed(fixture), body: Buffer.alloc(10 * 1024 * 1024, 0x20) }) },
    F10: { status: 415, make: async (fixture) => ({ ...claimed(fixture), headers: { 'content-type': 'text/plain' } }) },
    // The provider publishes no addresses; the callback path may have a random segment instead.
    F11: { status: 404, make: async (fixture) => ({ ...claimed(fixture), path: '/mulenpay-webhook/another-segment' }) },
    F12: { ...ACKNOWLEDGED, make: async (fixture) => claimed(fixture, { payment_status: 'processing' }) },
  },
  vector: ({ id, kind, input, expected, keys }) => {
    // The vector without a signature has no keys.
    const secretKey = keys?.secret ?? 'mulen-test-secret';
    if (kind === 'request') {
      const { amount, shopId } = (input ?? { amount: rublesText(10_000), shopId: 42 }) as { amount: string; shopId: number };
      return createSignature(amount, { shopId, secretKey });
    }
    const headers: Record<string, string> = id === 'mulenpay.callback-header-sha1' ? { 'x-signature': String(expected) } : {};
    const callback = { method: 'POST', subpath: '', query: {}, headers, ip: '127.0.0.1', rawBody: Buffer.from(String(input)) };
    const receipt = { language: 'ru', vatCode: 0, paymentSubject: 4, paymentMode: 4, websiteUrl: null };
    const connection = { baseUrl: '', apiKey: '', secretKey, shopId: 42, ...receipt };
    return receiveMulenpayCallback(callback, connection).accepted;
  },
};
