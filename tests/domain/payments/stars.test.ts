import { beforeAll, describe, expect, test } from 'vitest';
import { DAY_MS } from '../../../src/core/clock.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import type { MessengerUpdate } from '../../../src/domain/messaging/ports.ts';
import { MessengerError } from '../../../src/domain/messaging/ports.ts';
import { receiveStarsUpdate } from '../../../src/domain/payments/credit-stars.ts';
import { processCallback } from '../../../src/domain/payments/process-callback.ts';
import { readStarsCharge } from '../../../src/domain/payments/purpose-payment.ts';
import { createStarsInvoice } from '../../../src/domain/payments/stars-invoices.ts';
import { insertStarsInvoice } from '../../../src/domain/payments/stars-repo.ts';
import { createStarsProvider } from '../../../src/integrations/payments/stars-provider.ts';
import { aUser, type BuiltUser, unique } from '../../support/builders.ts';
import { callbackJobs, callbackResults, creditedOnce, moneyFacts } from '../../support/payment-samples.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});

type Paid = Extract<MessengerUpdate, { kind: 'stars_paid' }>;
const OLD_PAYLOAD = 'balance_topup_1_1_1';

const paidUpdate = (payerMessengerId: number, stars: number, change: Partial<Paid> = {}): Paid => ({
  updateId: unique(),
  kind: 'stars_paid',
  chargeId: `charge-${unique()}`,
  payerMessengerId,
  payload: OLD_PAYLOAD,
  stars,
  ...change,
});

async function deliver(update: MessengerUpdate & { chargeId: string }): Promise<void> {
  await receiveStarsUpdate(t.app, update, '{}');
  for (const callbackId of await callbackJobs(t.app, update.chargeId)) await processCallback(t.app, { callbackId });
}

const invoice = (userId: number, kopeks: number, key: string | null = null) =>
  createStarsInvoice(t.app, { kind: 'user', userId }, kopeks, key);

/** A user with an open invoice: 150 rubles at 1.3 are 116 stars. */
async function anInvoice(kopeks = 15_000) {
  const user = await aUser(t.app);
  return { user, ...(await invoice(user.id, kopeks)) };
}

const recordOf = async (payload: string) =>
  (
    await t.app.db.sql<Record<string, unknown>>(
      `SELECT id, user_id, amount_kopeks, (metadata ->> 'stars')::int AS stars, outcome, is_paid, charge_id, payment_url
       FROM payments WHERE order_id = $1`,
      [payload],
    )
  )[0]!;

const casesOf = (reference: string | number) =>
  t.app.db.sql<{ kind: string; details: object }>(
    'SELECT kind, details FROM payment_cases WHERE reference = $1 OR payment_id::text = $1 ORDER BY id',
    [String(reference)],
  );

/** Sends a pre-checkout query and returns the answers. */
async function preCheckout(payerMessengerId: number, payload: string, amountStars = 5, otherCurrency?: string) {
  const answers: { ok: boolean; text: string | undefined }[] = [];
  const messenger = {
    ...t.app.ports.messenger,
    answerPreCheckout: async (_id: string, ok: boolean, text?: string) => void answers.push({ ok, text }),
  };
  const app = { ...t.app, ports: { ...t.app.ports, messenger } };
  const query = { updateId: 1, kind: 'pre_checkout', queryId: 'q', payerMessengerId, payload, amountStars } as const;
  await receiveStarsUpdate(app, { ...query, ...(otherCurrency ? { otherCurrency } : {}) }, '{}');
  return answers;
}

const ACCEPTED = [{ ok: true, text: undefined }];
const REFUSED = [{ ok: false, text: expect.stringMatching(/\S/) }];

describe('an invoice in Stars (03a section 1)', () => {
  test('is stored with its price and kopeks before the link is made, and its payload is a random id and no amount', async () => {
    const user = await aUser(t.app);
    const seen: unknown[] = [];
    const messenger = {
      ...t.app.ports.messenger,
      createStarsInvoiceLink: async ({ payload, stars }: { payload: string; stars: number }) => {
        seen.push(await recordOf(payload), stars);
        return 'https://messenger.example/$x';
      },
    };
    const stars = createStarsProvider({ messenger, connection: () => ({ enabled: true, title: 'Top-up' }) });
    const payments = { ...t.app.ports.payments, byMethod: () => stars };
    const app = { ...t.app, ports: { ...t.app.ports, payments } };
    const link = await createStarsInvoice(app, { kind: 'user', userId: user.id }, 15_000, null);
    expect(link).toMatchObject({ stars: 116, amountKopeks: 15_000, payload: expect.stringMatching(/^[0-9a-f]{30}$/) });
    const stored = { userId: user.id, amountKopeks: 15_000, stars: 116, outcome: 'pending', isPaid: false };
    expect(seen).toEqual([expect.objectContaining({ ...stored, paymentUrl: null }), 116]);
    expect(await recordOf(link.payload)).toMatchObject({ ...stored, paymentUrl: 'https://messenger.example/$x' });
  });

  test('a repeat with the key gets the same link', async () => {
    const user = await aUser(t.app);
    const link = await invoice(user.id, 10_000, 'stars');
    expect(link).toMatchObject({ stars: 77, amountKopeks: 10_000, invoiceUrl: expect.stringMatching(/^https?:\/\//) });
    expect(await invoice(user.id, 10_000, 'stars')).toEqual(link);
    await expect(invoice(user.id, 10_001, 'stars')).rejects.toMatchObject({ status: 422 });
  });

  test('that the messenger did not make leaves a failed record, which cannot be paid', async () => {
    const user = await aUser(t.app);
    const payments = {
      ...t.app.ports.payments,
      byMethod: (method: string) => ({
        ...t.app.ports.payments.byMethod(method)!,
        createInvoice: async () => Promise.reject(new MessengerError({ kind: 'unavailable' }, 'down')),
      }),
    };
    const app = { ...t.app, ports: { ...t.app.ports, payments } };
    const made = createStarsInvoice(app, { kind: 'user', userId: user.id }, 15_000, null);
    await expect(made).rejects.toMatchObject({ status: 500, detail: 'Failed to create Stars invoice' });
    const [row] = await t.app.db.sql<{ orderId: string; outcome: string }>(
      'SELECT order_id, outcome FROM payments WHERE user_id = $1::int',
      [user.id],
    );
    expect(row!.outcome).toBe('failed');
    expect(await preCheckout(user.messengerId, row!.orderId, 116)).toEqual(REFUSED);
  });

  test('refuses with the texts of the specification', async () => {
    const user = await aUser(t.app);
    await expect(invoice(user.id, 99)).rejects.toMatchObject({ status: 400, detail: 'Minimum amount is 1.00 RUB' });
    await expect(invoice(user.id, 1_000_001)).rejects.toMatchObject({ status: 400, detail: 'Maximum amount is 10,000.00 RUB' });
    await t.app.db.sql('UPDATE users SET restriction_topup = true WHERE id = $1::int RETURNING id', [user.id]);
    await expect(invoice(user.id, 10_000)).rejects.toMatchObject({ status: 403 });
    const off = await testApp({ environment: { MESSENGER_STARS_ENABLED: 'false' } });
    const other = await aUser(t.app);
    await expect(createStarsInvoice(off.app, { kind: 'user', userId: other.id }, 10_000, null)).rejects.toMatchObject({
      status: 400,
      detail: 'Messenger Stars payments are not enabled',
    });
    const cheap = await testApp({ environment: { MESSENGER_STARS_RATE_RUB: '0.5' } });
    await expect(createStarsInvoice(cheap.app, { kind: 'user', userId: other.id }, 500_001, null)).rejects.toMatchObject({
      status: 400,
      detail: expect.stringMatching(/^Maximum amount is 5,?000\.00 RUB$/),
    });
  });
});

describe('a payment of an invoice', () => {
  test('credits the stored kopeks once per charge, whatever the rate is by then', async () => {
    const { user, payload, stars } = await anInvoice();
    const paid = paidUpdate(user.messengerId, stars, { payload });
    const other = await testApp({ environment: { MESSENGER_STARS_RATE_RUB: '7' } });
    await receiveStarsUpdate(other.app, paid, '{}');
    for (const callbackId of await callbackJobs(other.app, paid.chargeId)) await processCallback(other.app, { callbackId });
    for (let copy = 0; copy < 3; copy++) await deliver({ ...paid, updateId: unique() });
    expect(await moneyFacts(t.app, user.id)).toEqual(creditedOnce(15_000));
    expect(await recordOf(payload)).toMatchObject({ outcome: 'paid', isPaid: true, chargeId: paid.chargeId });
    const rows = await t.app.db.sql("SELECT external_id FROM transactions WHERE user_id = $1::int AND type = 'deposit'", [
      user.id,
    ]);
    expect(rows).toEqual([{ externalId: paid.chargeId }]);
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test('F4: fewer stars than stored are a case and credit nothing, while the right payment still credits', async () => {
    const { user, payload, stars } = await anInvoice();
    const short = paidUpdate(user.messengerId, stars - 1, { payload });
    await deliver(short);
    expect((await moneyFacts(t.app, user.id)).balance).toBe(0);
    const record = await recordOf(payload);
    expect(await casesOf(record.id as number)).toMatchObject([
      { kind: 'amount_mismatch', details: { chargeId: short.chargeId } },
    ]);
    expect(await readStarsCharge(t.app, record.id as number)).toEqual({
      chargeId: short.chargeId,
      payerMessengerId: user.messengerId,
    });
    await deliver(paidUpdate(user.messengerId, stars, { payload }));
    expect(await moneyFacts(t.app, user.id)).toEqual(creditedOnce(15_000));
  });

  test('F5: another currency is a case and credits nothing', async () => {
    const { user, payload, stars } = await anInvoice();
    await deliver(paidUpdate(user.messengerId, stars, { payload, otherCurrency: 'USD' }));
    expect((await moneyFacts(t.app, user.id)).balance).toBe(0);
    expect(await casesOf((await recordOf(payload)).id as number)).toMatchObject([{ kind: 'amount_mismatch' }]);
    await deliver(paidUpdate(user.messengerId, stars, { payload }));
    expect(await moneyFacts(t.app, user.id)).toEqual(creditedOnce(15_000));
  });

  test('F6: a second charge for the same invoice is a case', async () => {
    const { user, payload, stars } = await anInvoice();
    await deliver(paidUpdate(user.messengerId, stars, { payload }));
    const second = paidUpdate(user.messengerId, stars, { payload });
    await deliver(second);
    expect(await moneyFacts(t.app, user.id)).toEqual(creditedOnce(15_000));
    const { id } = await recordOf(payload);
    expect(await casesOf(id as number)).toMatchObject([{ kind: 'second_payment', details: { chargeId: second.chargeId } }]);
    await deliver({ ...second, kind: 'stars_refunded' });
    expect(await moneyFacts(t.app, user.id)).toEqual(creditedOnce(15_000));
  });

  test('F7: an unknown payload is a case with its charge, which can be given back, and credits nothing', async () => {
    const user = await aUser(t.app);
    const paid = paidUpdate(user.messengerId, 10, { payload: 'no-invoice-of-ours' });
    for (let copy = 0; copy < 2; copy++) await deliver({ ...paid, updateId: unique() });
    expect((await moneyFacts(t.app, user.id)).balance).toBe(0);
    const cases = await t.app.db.sql<{ kind: string; paymentId: number; details: object }>(
      'SELECT kind, payment_id, details FROM payment_cases WHERE reference = $1',
      [paid.chargeId],
    );
    expect(cases).toMatchObject([
      { kind: 'unknown_payment', details: { chargeId: paid.chargeId, payload: paid.payload, stars: 10 } },
    ]);
    expect(await readStarsCharge(t.app, cases[0]!.paymentId)).toEqual({
      chargeId: paid.chargeId,
      payerMessengerId: user.messengerId,
    });
  });

  test('F8: a refund after it is taken back once', async () => {
    const { user, payload, stars } = await anInvoice();
    const paid = paidUpdate(user.messengerId, stars, { payload });
    await deliver(paid);
    for (let copy = 0; copy < 2; copy++) await deliver({ ...paid, kind: 'stars_refunded', updateId: unique() });
    expect((await moneyFacts(t.app, user.id)).balance).toBe(0);
    expect(await recordOf(payload)).toMatchObject({ outcome: 'refunded', isPaid: true });
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test('a refund that is processed before it leaves nothing to credit', async () => {
    const { user, payload, stars } = await anInvoice();
    const paid = paidUpdate(user.messengerId, stars, { payload });
    await deliver({ ...paid, kind: 'stars_refunded', updateId: unique() });
    await deliver(paid);
    expect((await moneyFacts(t.app, user.id)).balance).toBe(0);
    expect(await recordOf(payload)).toMatchObject({ outcome: 'refunded', isPaid: false });
  });

  test('by another person than its owner is a case', async () => {
    const { user, payload, stars } = await anInvoice();
    const other = await aUser(t.app);
    await deliver(paidUpdate(other.messengerId, stars, { payload }));
    expect([(await moneyFacts(t.app, user.id)).balance, (await moneyFacts(t.app, other.id)).balance]).toEqual([0, 0]);
    expect(await casesOf((await recordOf(payload)).id as number)).toMatchObject([{ kind: 'order_mismatch' }]);
  });

  test('of more stars credits the stored kopeks, and the rest is a case', async () => {
    const { user, payload, stars } = await anInvoice();
    await deliver(paidUpdate(user.messengerId, stars + 10, { payload }));
    expect(await moneyFacts(t.app, user.id)).toEqual(creditedOnce(15_000));
    expect(await casesOf((await recordOf(payload)).id as number)).toMatchObject([{ kind: 'overpaid' }]);
  });
});

describe('an invoice of earlier software, without a record', () => {
  test('credits the worth of the stars to the payer, once per charge, and leaves a record', async () => {
    const user = await aUser(t.app);
    const paid = paidUpdate(user.messengerId, 77);
    for (let copy = 0; copy < 3; copy++) await deliver({ ...paid, updateId: unique() });
    expect(await moneyFacts(t.app, user.id)).toEqual(creditedOnce(10_010));
    const rows = await t.app.db.sql(
      'SELECT method, external_id, amount_kopeks, is_paid, outcome FROM payments WHERE user_id = $1::int',
      [user.id],
    );
    expect(rows).toEqual([
      { method: 'messenger_stars', externalId: paid.chargeId, amountKopeks: 10_010, isPaid: true, outcome: 'paid' },
    ]);
    await deliver({ ...paid, kind: 'stars_refunded' });
    expect((await moneyFacts(t.app, user.id)).balance).toBe(0);
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test.each(['trial_5', 'simple_sub_1_2_30', 'simple_subscription_1_100', 'guest_purchase_token'])(
    'that was to pay for %s goes to the balance, since it is not sold by Stars here (07 4.2)',
    async (payload) => {
      const user = await aUser(t.app);
      await deliver(paidUpdate(user.messengerId, 10, { payload }));
      expect(await moneyFacts(t.app, user.id)).toEqual(creditedOnce(1_300));
    },
  );

  test('of an unknown payer is recorded and credits no user', async () => {
    const paid = paidUpdate(9_000_000_000 + unique(), 10);
    await deliver(paid);
    const rows = await t.app.db.sql('SELECT user_id, status, outcome, is_paid FROM payments WHERE external_id = $1', [
      paid.chargeId,
    ]);
    expect(rows).toEqual([{ userId: null, status: 'payer_unknown', outcome: 'failed', isPaid: false }]);
    expect(await callbackResults(t.app, paid.chargeId)).toEqual(['no_user']);
  });

  test('a refund of an unknown charge is a case', async () => {
    const user = await aUser(t.app);
    const unknown = { ...paidUpdate(user.messengerId, 10), kind: 'stars_refunded' } as const;
    await deliver(unknown);
    expect(await callbackResults(t.app, unknown.chargeId)).toEqual(['order_mismatch']);
    const cases = await t.app.db.sql('SELECT kind FROM payment_cases WHERE reference = $1', [unknown.chargeId]);
    expect(cases).toEqual([{ kind: 'reversal_unknown' }]);
  });
});

describe('pre-checkout', () => {
  test('F12: accepts an open invoice of its owner and credits nothing', async () => {
    const { user, payload, stars } = await anInvoice();
    expect(await preCheckout(user.messengerId, payload, stars)).toEqual(ACCEPTED);
    expect((await moneyFacts(t.app, user.id)).balance).toBe(0);
    expect(await recordOf(payload)).toMatchObject({ outcome: 'pending', isPaid: false });
  });

  test('refuses other stars, another currency and another payer', async () => {
    const { user, payload, stars } = await anInvoice();
    const other = await aUser(t.app);
    expect(await preCheckout(user.messengerId, payload, stars - 1)).toEqual(REFUSED);
    expect(await preCheckout(user.messengerId, payload, stars + 1)).toEqual(REFUSED);
    expect(await preCheckout(user.messengerId, payload, stars, 'USD')).toEqual(REFUSED);
    expect(await preCheckout(other.messengerId, payload, stars)).toEqual(REFUSED);
  });

  test('refuses a paid and an expired invoice', async () => {
    const paid = await anInvoice();
    await deliver(paidUpdate(paid.user.messengerId, paid.stars, { payload: paid.payload }));
    expect(await preCheckout(paid.user.messengerId, paid.payload, paid.stars)).toEqual(REFUSED);
    const { user, payload, stars } = await anInvoice();
    t.clock.advance(DAY_MS + 1_000);
    expect(await preCheckout(user.messengerId, payload, stars)).toEqual(REFUSED);
  });

  test('accepts any payer for the invoice of a guest, whom the service need not know', async () => {
    const payload = `guest${unique()}`;
    const draft = { userId: null, payload, stars: 7, amountKopeks: 900, purpose: 'guest_purchase', description: 'Gift' };
    await insertStarsInvoice(t.app.db, { ...draft, now: t.app.clock.now() });
    expect(await preCheckout(9_000_000_000 + unique(), payload, 7)).toEqual(ACCEPTED);
    expect(await preCheckout(9_000_000_000 + unique(), payload, 6)).toEqual(REFUSED);
  });

  test('accepts a top-up of earlier software of a known payer', async () => {
    const user = await aUser(t.app);
    expect(await preCheckout(user.messengerId, OLD_PAYLOAD)).toEqual(ACCEPTED);
  });

  test('refuses unknown payers, other payloads and restricted or blocked accounts before the payment', async () => {
    const user: BuiltUser = await aUser(t.app);
    expect(await preCheckout(9_000_000_000 + unique(), OLD_PAYLOAD)).toEqual(REFUSED);
    for (const payload of ['wheel_spin_1', 'trial_5', 'Balance_1', ''])
      expect(await preCheckout(user.messengerId, payload)).toEqual(REFUSED);
    await t.app.db.sql('UPDATE users SET restriction_topup = true WHERE id = $1::int RETURNING id', [user.id]);
    expect(await preCheckout(user.messengerId, OLD_PAYLOAD)).toEqual(REFUSED);
    await t.app.db.sql("UPDATE users SET restriction_topup = false, status = 'blocked' WHERE id = $1::int RETURNING id", [
      user.id,
    ]);
    expect(await preCheckout(user.messengerId, OLD_PAYLOAD)).toEqual(REFUSED);
  });
});
