import { pal24Signature, receivePal24Callback } from '../../../src/integrations/payments/pal24-provider.ts';
import type { ProviderCase, RawCallback } from './provider-case.ts';
import type { ProviderFixture } from './provider-fixture.ts';

const ACKNOWLEDGED = { status: 200, body: '{"status":"ok"}' };

/** A postback about the current bill without any action at the fake: whatever it says, the API says otherwise. */
function claimed(fixture: ProviderFixture, change: Record<string, string> = {}): RawCallback {
  const { invoice, orderId } = fixture.current;
  const fields = { InvId: orderId, OutSum: '500.00', TrsId: invoice.id, Status: 'SUCCESS', CurrencyIn: 'RUB', ...change };
  const signature = pal24Signature([fields.OutSum, fields.InvId], fixture.secret);
  const body = new URLSearchParams({ ...fields, SignatureValue: signature, ...change }).toString();
  return { path: '/pal24-webhook', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body };
}

/** PAL24 (03a section 7): the status of a postback is not signed, so that the bill decides. */
export const pal24Case: ProviderCase = {
  method: 'pal24',
  credentials: (secret) => ({ PAL24_API_TOKEN: secret, PAL24_SHOP_ID: 'sandbox' }),
  realUrl: 'https://pal24.pro/api/v1',
  acknowledges: ACKNOWLEDGED,
  reports: ['pay', 'overpay', 'underpay', 'fail', 'expire', 'refund', 'chargeback'],
  forgeries: {
    F1: {
      status: 400,
      make: async (fixture) => claimed(fixture, { SignatureValue: pal24Signature(['500.00'], fixture.secret) }),
    },
    F2: { status: 400, make: async (fixture) => claimed(fixture, { SignatureValue: '' }) },
    F3: { ...ACKNOWLEDGED, opens: 'order_mismatch', make: async (fixture) => claimed(fixture, { TrsId: 'GkLWvKx3' }) },
    F4: {
      status: 400,
      make: async (fixture) => claimed(fixture, { OutSum: '499.99', SignatureValue: signatureOf(claimed(fixture)) }),
    },
    F5: {
      ...ACKNOWLEDGED,
      opens: 'amount_mismatch',
      make: async (fixture) => {
        const genuine = await fixture.callbackOf('pay');
        const bill = { id: fixture.current.invoice.id, status: 'SUCCESS', amount: '500.00', currency_in: 'USD', success: 'true' };
        fixture.intercept(() => ({ status: 200, contentType: 'application/json', body: JSON.stringify(bill) }));
        return { ...genuine, body: String(genuine.body).replace('CurrencyIn=RUB', 'CurrencyIn=USD') };
      },
    },
    F6: { ...ACKNOWLEDGED, afterCredit: true, make: async (fixture) => fixture.posted('pay')[0]! },
    F7: { ...ACKNOWLEDGED, make: async (fixture) => claimed(fixture, { InvId: 'an-order-of-nobody', TrsId: 'GkLWvKx3' }) },
    F8: { ...ACKNOWLEDGED, afterCredit: true, make: async (fixture) => claimed(fixture, { Status: 'FAIL' }) },
    F9: { status: 413, make: async (fixture) => ({ ...claimed(fixture), body: Buffer.alloc(10 * 1024 * 1024, 0x20) }) },
    F10: { status: 415, make: async (fixture) => ({ ...claimed(fixture), headers: { 'content-type': 'text/plain' } }) },
    F11: { notApplicable: 'the provider publishes no addresses' },
    F12: { ...ACKNOWLEDGED, make: async (fixture) => claimed(fixture, { Status: 'PROCESS' }) },
  },
  vector: ({ input, signed_text: signedText, keys }) => {
    const token = keys.token!;
    if (input === undefined) return pal24Signature(String(signedText).replace(`:${token}`, '').split(':'), token);
    const callback = {
      method: 'POST',
      subpath: '',
      query: {},
      headers: {},
      ip: '127.0.0.1',
      rawBody: Buffer.from(String(input)),
    };
    const connection = { baseUrl: '', token, shopId: '', signatureToken: token, timeoutMs: 1_000 };
    return receivePal24Callback(callback, connection).reply.status === 200;
  },
};

function signatureOf({ body }: RawCallback): string {
  return new URLSearchParams(String(body)).get('SignatureValue')!;
}
