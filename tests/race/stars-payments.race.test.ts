import { beforeAll, describe, expect, test } from 'vitest';
import { checkLedger } from '../../src/domain/ledger/check-ledger.ts';
import { creditStars, receiveStarsUpdate, recordStarsRefund } from '../../src/domain/payments/credit-stars.ts';
import { creditDonation, processCallback } from '../../src/domain/payments/process-callback.ts';
import { reconcileStars } from '../../src/domain/payments/reconcile-stars.ts';
import { insertStarsInvoice } from '../../src/domain/payments/stars-repo.ts';
import { aUser, unique } from '../support/builders.ts';
import { callbackJobs, creditedOnce, moneyFacts } from '../support/payment-samples.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';

/** Money that is reported by messages alone: Stars and donations (03a sections 1 and 2). */
let t: TestApp;
beforeAll(async () => {
  if (!serverUrl) throw new Error('Races need a PostgreSQL server: set TEST_DATABASE_URL');
  t = await testApp();
});

async function anInvoice() {
  const user = await aUser(t.app);
  const payload = `race-${unique()}`;
  const draft = { userId: user.id, payload, stars: 116, amountKopeks: 15_000, purpose: 'balance_topup', description: 'Top-up' };
  await insertStarsInvoice(t.app.db, { ...draft, now: t.app.clock.now() });
  const paid = (chargeId: string) =>
    ({ updateId: unique(), kind: 'stars_paid', chargeId, payerMessengerId: user.messengerId, payload, stars: 116 }) as const;
  return { user, paid };
}

describe('at once', () => {
  test('thirty copies of one charge: one credit', async () => {
    const { user, paid } = await anInvoice();
    const chargeId = `race-${unique()}`;
    const results = await Promise.all(Array.from({ length: 30 }, () => creditStars(t.app, paid(chargeId))));
    expect(results.filter((result) => result === 'credited')).toHaveLength(1);
    expect(new Set(results)).toEqual(new Set(['credited', 'already_credited']));
    expect(await moneyFacts(t.app, user.id)).toEqual(creditedOnce(15_000));
  });

  test('a lost payment found by ten rounds, while its update comes after all: one credit', async () => {
    const { user, paid } = await anInvoice();
    const update = paid(`race-${unique()}`);
    const { chargeId, payload, stars, payerMessengerId } = update;
    const transfer = { kind: 'payment' as const, chargeId, payload, stars, payerMessengerId, at: t.app.clock.now() };
    const messenger = { ...t.app.ports.messenger, listStarsTransfers: async () => [transfer] };
    const app = { ...t.app, ports: { ...t.app.ports, messenger } };
    await Promise.all([
      ...Array.from({ length: 10 }, () => reconcileStars(app)),
      ...Array.from({ length: 5 }, () => receiveStarsUpdate(t.app, update, '{}')),
    ]);
    const ids = await callbackJobs(t.app, chargeId);
    expect(ids).toHaveLength(1);
    await Promise.all([...ids, ...ids, ...ids].map((callbackId) => processCallback(t.app, { callbackId })));
    expect(await moneyFacts(t.app, user.id)).toEqual(creditedOnce(15_000));
  });

  test('ten charges for one invoice: one credit, nine cases', async () => {
    const { user, paid } = await anInvoice();
    const charges = Array.from({ length: 10 }, () => `race-${unique()}`);
    const results = await Promise.all(charges.map((chargeId) => creditStars(t.app, paid(chargeId))));
    expect(results.filter((result) => result === 'credited')).toHaveLength(1);
    expect(await moneyFacts(t.app, user.id)).toEqual(creditedOnce(15_000));
    const cases = await t.app.db.sql("SELECT id FROM payment_cases WHERE user_id = $1::int AND kind = 'second_payment'", [
      user.id,
    ]);
    expect(cases).toHaveLength(9);
  });

  test('a charge and its refund: nothing is left, in whatever order they are processed', async () => {
    for (let round = 0; round < 10; round++) {
      const { user, paid } = await anInvoice();
      const charge = paid(`race-${unique()}`);
      await Promise.all([creditStars(t.app, charge), recordStarsRefund(t.app, { ...charge, kind: 'stars_refunded' })]);
      expect((await moneyFacts(t.app, user.id)).balance).toBe(0);
    }
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test('thirty deliveries of one donation: one credit', async () => {
    const user = await aUser(t.app);
    const donation: Parameters<typeof creditDonation>[2] = {
      externalId: `race:${unique()}`,
      orderId: null,
      status: 'new_donation',
      outcome: 'paid',
      amountKopeks: 50_000,
      currency: 'RUB',
      paidAt: t.app.clock.now(),
      donor: { messengerId: user.messengerId },
      raw: {},
    };
    const results = await Promise.all(Array.from({ length: 30 }, () => creditDonation(t.app, 'tribute', donation)));
    expect(results.filter((result) => result === 'credited')).toHaveLength(1);
    expect(await moneyFacts(t.app, user.id)).toEqual(creditedOnce(50_000));
  });
});
