import { receiveTributeCallback, tributeSignature } from '../../../src/integrations/payments/tribute-provider.ts';
import { aUser } from '../builders.ts';
import type { ProviderCase, RawCallback } from './provider-case.ts';
import type { ProviderFixture } from './provider-fixture.ts';

const HEADER = 'trbt-signature';
const ACKNOWLEDGED = { status: 200, body: '{"status":"ok"}' };

export interface DonationChange {
  name?: string;
  createdAt?: string;
  sentAt?: string;
  payload?: Readonly<Record<string, unknown>>;
}

/** An event about a donation of the current payer, signed with the key of the fake. */
export function donation(fixture: ProviderFixture, change: DonationChange = {}, key = fixture.secret): RawCallback {
  const payload = {
    donation_request_id: 1_042,
    donation_name: 'Support',
    period: 'once',
    amount: 50_000,
    currency: 'rub',
    anonymously: false,
    message: '',
    telegram_user_id: fixture.current.user.messengerId,
    trb_user_id: 4_321,
    ...change.payload,
  };
  const { name = 'new_donation', createdAt = '2026-03-20T01:15:58.33246Z', sentAt = '2026-03-20T01:15:58.542279448Z' } = change;
  const body = JSON.stringify({ name, created_at: createdAt, sent_at: sentAt, payload });
  const signature = tributeSignature(Buffer.from(body), key).toString('hex');
  return { path: '/tribute-webhook', headers: { 'content-type': 'application/json', [HEADER]: signature }, body };
}

const NOT_AT_DONATIONS = 'a donation is paid or does not exist';

/** Tribute (03a section 2): the fixture has no invoice, only a donation that is not paid yet. */
export const tributeCase: ProviderCase = {
  method: 'tribute',
  credentials: (secret) => ({ TRIBUTE_DONATE_LINK: 'https://t.me/tribute/app?startapp=donate', TRIBUTE_API_KEY: secret }),
  realUrl: null,
  pays: async ({ app, sandbox }, amountKopeks) => {
    const user = await aUser(app);
    const reply = await fetch(`${sandbox.server.url}/tribute/donate`, {
      method: 'POST',
      redirect: 'manual' as const,
      body: new URLSearchParams({ messenger_id: String(user.messengerId), amount: String(amountKopeks / 100) }),
    });
    const id = decodeURIComponent(reply.headers.get('location')!.split('/').at(-1)!);
    const invoice = (await sandbox.list()).find((known) => known.id === id)!;
    return { user, paymentId: 0, orderId: invoice.orderId, invoice };
  },
  acknowledges: ACKNOWLEDGED,
  reports: ['pay'],
  impossible: {
    underpay: 'the donor chooses the sum',
    overpay: 'the donor chooses the sum',
    fail: NOT_AT_DONATIONS,
    expire: NOT_AT_DONATIONS,
    refund: 'refunds of donations are not reported',
    chargeback: 'chargebacks of donations are not reported',
  },
  forgeries: {
    F1: {
      status: 401,
      make: async (fixture) => {
        const genuine = donation(fixture);
        return { ...genuine, body: String(genuine.body).replace('50000', '5000000') };
      },
    },
    F2: {
      status: 401,
      make: async (fixture) => ({ ...donation(fixture), headers: { 'content-type': 'application/json' } }),
    },
    F3: { status: 401, make: async (fixture) => donation(fixture, {}, 'key-of-another-account') },
    F4: { notApplicable: 'the donor chooses the sum, so that there is no amount to compare it with' },
    F5: {
      ...ACKNOWLEDGED,
      opens: 'amount_mismatch',
      make: async (fixture) => donation(fixture, { payload: { currency: 'usd' } }),
    },
    F6: { ...ACKNOWLEDGED, afterCredit: true, make: async (fixture) => fixture.posted('pay')[0]! },
    F7: {
      ...ACKNOWLEDGED,
      opens: 'unknown_payment',
      make: async (fixture) => donation(fixture, { payload: { telegram_user_id: 9_100_000_000 + fixture.current.user.id } }),
    },
    F8: { ...ACKNOWLEDGED, afterCredit: true, make: async (fixture) => donation(fixture, { name: 'cancelled_donation' }) },
    F9: { status: 413, make: async (fixture) => ({ ...donation(fixture), body: Buffer.alloc(10 * 1024 * 1024, 0x20) }) },
    F10: {
      status: 415,
      make: async (fixture) => {
        const genuine = donation(fixture);
        return { ...genuine, headers: { ...genuine.headers, 'content-type': 'text/plain' } };
      },
    },
    F11: { notApplicable: 'the provider publishes no addresses' },
    F12: {
      ...ACKNOWLEDGED,
      make: async (fixture) => donation(fixture, { name: 'shop_order', payload: { status: 'prepaid', uuid: 'order-of-a-shop' } }),
    },
  },
  vector: ({ input, expected, keys }) =>
    receiveTributeCallback(
      {
        method: 'POST',
        subpath: '',
        query: {},
        ip: '127.0.0.1',
        rawBody: Buffer.from(String(input)),
        headers: { [HEADER]: String(expected) },
      },
      { donateLink: 'https://tribute.example/d', apiKey: keys.api_key! },
    ).accepted,
};
