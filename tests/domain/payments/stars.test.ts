import { beforeAll, describe, expect, test } from 'vitest';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import type { MessengerUpdate } from '../../../src/domain/messaging/ports.ts';
import { createStarsInvoice } from '../../../src/domain/payments/create-stars-invoice.ts';
import { processCallback } from '../../../src/domain/payments/process-callback.ts';
import { receiveStarsUpdate } from '../../../src/domain/payments/receive-stars-update.ts';
import { aUser, unique } from '../../support/builders.ts';
import { callbackJobs, callbackResults, creditedOnce, moneyFacts } from '../../support/payment-samples.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});

const paidUpdate = (payerMessengerId: number, stars: number, chargeId = `charge-${unique()}`) =>
  ({ updateId: unique(), kind: 'stars_paid', chargeId, payerMessengerId, payload: 'balance_topup_1_1_1', stars }) as const;

async function deliver(update: MessengerUpdate & { chargeId: string }): Promise<void> {
  await receiveStarsUpdate(t.app, update, '{}');
  for (const callbackId of await callbackJobs(t.app, update.chargeId)) await processCallback(t.app, { callbackId });
}

/** Sends a pre-checkout query and returns the answer. */
async function preCheckout(payerMessengerId: number, payload: string) {
  const answers: { ok: boolean; text: string | undefined }[] = [];
  const messenger = {
    ...t.app.ports.messenger,
    answerPreCheckout: async (_id: string, ok: boolean, text?: string) => void answers.push({ ok, text }),
  };
  const app = { ...t.app, ports: { ...t.app.ports, messenger } };
  await receiveStarsUpdate(
    app,
    { updateId: 1, kind: 'pre_checkout', queryId: 'q', payerMessengerId, payload, amountStars: 5 },
    '{}',
  );
  return answers;
}

describe('a Stars payment', () => {
  test('credits the stars paid to the payer, once per charge, and leaves a record', async () => {
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
    await deliver(paidUpdate(user.messengerId, 1));
    expect((await moneyFacts(t.app, user.id)).balance).toBe(10_140);
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test('of an unknown payer is recorded and credits no user', async () => {
    const paid = paidUpdate(9_000_000_000 + unique(), 10);
    await deliver(paid);
    const rows = await t.app.db.sql('SELECT user_id, status, outcome, is_paid FROM payments WHERE external_id = $1', [
      paid.chargeId,
    ]);
    expect(rows).toEqual([{ userId: null, status: 'payer_unknown', outcome: 'failed', isPaid: false }]);
    expect(await callbackResults(t.app, paid.chargeId)).toEqual(['no_user']);
  });

  test('that is refunded is taken back, and a refund of an unknown charge is a case', async () => {
    const user = await aUser(t.app);
    const paid = paidUpdate(user.messengerId, 100);
    await deliver(paid);
    await deliver({ ...paid, kind: 'stars_refunded' });
    const [row] = await t.app.db.sql('SELECT outcome, is_paid FROM payments WHERE external_id = $1', [paid.chargeId]);
    expect(row).toEqual({ outcome: 'refunded', isPaid: true });
    expect((await moneyFacts(t.app, user.id)).balance).toBe(0);
    const unknown = { ...paid, kind: 'stars_refunded', chargeId: `charge-${unique()}` } as const;
    await deliver(unknown);
    expect(await callbackResults(t.app, unknown.chargeId)).toEqual(['order_mismatch']);
    const cases = await t.app.db.sql('SELECT kind FROM payment_cases WHERE reference = $1', [unknown.chargeId]);
    expect(cases).toEqual([{ kind: 'reversal_unknown' }]);
  });
});

describe('pre-checkout', () => {
  test('accepts a top-up of a known payer', async () => {
    const user = await aUser(t.app);
    expect(await preCheckout(user.messengerId, 'balance_topup_1_100_1')).toEqual([{ ok: true, text: undefined }]);
  });

  test('refuses unknown payers, other payloads and restricted or blocked accounts before the payment', async () => {
    const user = await aUser(t.app);
    const refused = [{ ok: false, text: expect.stringMatching(/\S/) }];
    expect(await preCheckout(9_000_000_000 + unique(), 'balance_topup_1_100_1')).toEqual(refused);
    for (const payload of ['wheel_spin_1', 'trial_5', 'Balance_1', ''])
      expect(await preCheckout(user.messengerId, payload)).toEqual(refused);
    await t.app.db.sql('UPDATE users SET restriction_topup = true WHERE id = $1::int RETURNING id', [user.id]);
    expect(await preCheckout(user.messengerId, 'balance_topup_1_100_1')).toEqual(refused);
    await t.app.db.sql("UPDATE users SET restriction_topup = false, status = 'blocked' WHERE id = $1::int RETURNING id", [
      user.id,
    ]);
    expect(await preCheckout(user.messengerId, 'balance_topup_1_100_1')).toEqual(refused);
  });
});

describe('createStarsInvoice', () => {
  const invoice = (userId: number, kopeks: number, key: string | null = null) =>
    createStarsInvoice(t.app, { kind: 'user', userId }, kopeks, key);

  test('asks for whole stars and returns their worth; a repeat with the key gets the same link', async () => {
    const user = await aUser(t.app);
    const link = await invoice(user.id, 10_000, 'stars');
    expect(link).toMatchObject({ stars: 77, amountKopeks: 10_010, invoiceUrl: expect.stringMatching(/^https?:\/\//) });
    expect(await invoice(user.id, 10_000, 'stars')).toEqual(link);
    await expect(invoice(user.id, 10_001, 'stars')).rejects.toMatchObject({ status: 422 });
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
  });
});
