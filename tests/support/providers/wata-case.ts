import { createPublicKey } from 'node:crypto';
import { signAsWata } from '../../../packages/sandbox/src/payments/wires/wata-wire.ts';
import { isSigned, strictBase64 } from '../../../src/integrations/payments/wata/transaction-wire.ts';
import type { ProviderCase, RawCallback } from './provider-case.ts';
import type { ProviderFixture } from './provider-fixture.ts';

const HEADER = 'x-signature';
const ACKNOWLEDGED = { status: 200, body: '{"status":"ok"}' };
const WHOLE_SUM = 'a link is paid with its sum or not at all';

/** A transaction of the current invoice as the provider would report it, with its signature; made here, without any action at the fake. */
export function reported(fixture: ProviderFixture, change: Record<string, unknown> = {}): RawCallback {
  const { invoice, orderId } = fixture.current;
  const body = JSON.stringify({
    transactionType: 'SBP',
    kind: 'Payment',
    transactionStatus: 'Paid',
    amount: 500.0,
    currency: 'RUB',
    orderId,
    transactionId: `7a6a${invoice.id.slice(4)}`,
    paymentLinkId: invoice.id,
    paymentTime: '2026-03-01T10:00:00Z',
    terminalPublicId: '3a16a4ef-0000-4000-8000-000000000001',
    commission: 17.5,
    email: null,
    ...change,
  });
  return { path: '/wata-webhook', headers: { 'content-type': 'application/json', [HEADER]: signAsWata(body) }, body };
}

function withHeaders(fixture: ProviderFixture, headers: Record<string, string>): RawCallback {
  const genuine = reported(fixture);
  return { ...genuine, headers: { ...genuine.headers, ...headers } };
}

/** WATA (03a section 9): the whole body is signed, so that it is credited from the callback; one key signs for every merchant. */
export const wataCase: ProviderCase = {
  method: 'wata',
  credentials: (secret) => ({ WATA_ACCESS_TOKEN: secret }),
  realUrl: 'https://api.wata.pro/api/h2h',
  realEnvironment: { WATA_CALLBACK_NETWORKS: '127.0.0.0/8' },
  settings: { WATA_CALLBACK_NETWORKS: '62.84.126.140,51.250.106.150' },
  acknowledges: ACKNOWLEDGED,
  reports: ['pay', 'fail', 'refund'],
  impossible: { underpay: WHOLE_SUM, overpay: WHOLE_SUM, chargeback: 'the provider reports refunds only, by the kind Refund' },
  forgeries: {
    F1: { status: 401, make: async (fixture) => withHeaders(fixture, { [HEADER]: signAsWata('{"another":"body"}') }) },
    F2: {
      status: 401,
      make: async (fixture) => ({ ...reported(fixture), headers: { 'content-type': 'application/json' } }),
    },
    F3: {
      ...ACKNOWLEDGED,
      opens: 'other_merchant',
      make: async (fixture) => reported(fixture, { terminalPublicId: '3a16a4ef-0000-4000-8000-00000000ffff' }),
    },
    F4: { ...ACKNOWLEDGED, opens: 'amount_mismatch', make: async (fixture) => reported(fixture, { amount: 499.99 }) },
    F5: { ...ACKNOWLEDGED, opens: 'amount_mismatch', make: async (fixture) => reported(fixture, { currency: 'USD' }) },
    F6: { ...ACKNOWLEDGED, afterCredit: true, make: async (fixture) => reported(fixture) },
    F7: {
      ...ACKNOWLEDGED,
      opens: 'unknown_payment',
      make: async (fixture) => reported(fixture, { orderId: null, paymentLinkId: '3a16a4f0-aaaa-4000-8000-00000000ffff' }),
    },
    F8: { ...ACKNOWLEDGED, afterCredit: true, make: async (fixture) => reported(fixture, { transactionStatus: 'Declined' }) },
    F9: { status: 413, make: async (fixture) => ({ ...reported(fixture), body: Buffer.alloc(10 * 1024 * 1024, 0x20) }) },
    F10: { status: 415, make: async (fixture) => withHeaders(fixture, { 'content-type': 'text/plain' }) },
    F11: { status: 403, make: async (fixture) => ({ ...reported(fixture), ip: '8.8.8.8' }) },
    F12: { ...ACKNOWLEDGED, make: async (fixture) => reported(fixture, { transactionStatus: 'Pending' }) },
  },
  vector: ({ input, expected, keys }) => {
    const signature = strictBase64(String(expected));
    return signature !== null && isSigned(Buffer.from(String(input)), signature, createPublicKey(keys.public_key_pem!));
  },
};
