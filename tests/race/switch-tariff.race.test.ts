import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { checkLedger } from '../../src/domain/ledger/check-ledger.ts';
import { readSubscription } from '../../src/domain/subscriptions/read-subscription.ts';
import { renewSubscription } from '../../src/domain/subscriptions/renew-subscription.ts';
import { switchTariff } from '../../src/domain/subscriptions/switch-tariff.ts';
import { settled } from '../support/parallel.ts';
import { aBuyer, aStoredSubscription, aTariff, rowOf } from '../support/sale-samples.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';

let t: TestApp;
beforeAll(async () => {
  if (!serverUrl) throw new Error('Races need a PostgreSQL server: set TEST_DATABASE_URL');
  t = await testApp();
});

const reasonsOf = (results: PromiseSettledResult<unknown>[]) =>
  results.flatMap((result) => (result.status === 'rejected' ? [result.reason.detail.code ?? result.reason.detail] : []));
const order = (tariffId: number, idempotencyKey: string | null = null) => ({
  tariffId,
  periodDays: 30,
  trafficGb: null,
  idempotencyKey,
});

/** Ten days left of 300 roubles a month; the dearer tariff costs 600, so a switch costs 100 roubles. */
async function aHolder(balanceKopeks: number) {
  const buyer = await aBuyer(t.app, balanceKopeks);
  const oldId = await aTariff(t.app, { period_prices: { 30: 30_000 } });
  await aStoredSubscription(t.app, buyer.userId, { tariff_id: oldId });
  return { buyer, oldId, newId: await aTariff(t.app, { period_prices: { 30: 60_000 } }) };
}

const chargesOf = (userId: number) =>
  rowOf<{ charged: number; payments: number; balance: number; tariff: number }>(
    t.app,
    `SELECT u.balance_kopeks AS balance, s.tariff_id AS tariff, count(x.id)::int AS payments, COALESCE(sum(-x.amount_kopeks), 0)::int AS charged
     FROM users u JOIN subscriptions s ON s.user_id = u.id
       LEFT JOIN transactions x ON x.user_id = u.id AND x.type = 'subscription_payment'
     WHERE u.id = $1::int GROUP BY u.id, s.id`,
    [userId],
  );

describe('switches at once', () => {
  test('20 to one tariff: one charge, nineteen are there already', async () => {
    const { buyer, newId } = await aHolder(1_000_000);
    const results = await settled(20, () => switchTariff(t.app, buyer, order(newId)));
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
    expect(reasonsOf(results)).toEqual(Array(19).fill('Already on this tariff'));
    expect(await chargesOf(buyer.userId)).toEqual({ balance: 990_000, payments: 1, charged: 10_000, tariff: newId });
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test('20 with one key: one charge, 20 equal answers', async () => {
    const { buyer, newId } = await aHolder(1_000_000);
    const results = await settled(20, () => switchTariff(t.app, buyer, order(newId, 'one switch')));
    const answers = results.map((result) => (result.status === 'fulfilled' ? result.value : String(result.reason)));
    expect(answers[0]).toMatchObject({ success: true, chargedKopeks: 10_000 });
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(await chargesOf(buyer.userId)).toMatchObject({ payments: 1, charged: 10_000 });
  });

  test('to two tariffs with money for one: the balance is never overdrawn', async () => {
    const { buyer, newId } = await aHolder(10_000);
    const otherId = await aTariff(t.app, { period_prices: { 30: 60_000 } });
    const results = await settled(2, (index) => switchTariff(t.app, buyer, order(index === 0 ? newId : otherId)));
    // The second switch is computed from the tariff of the first, which costs the same, so it is free.
    expect(reasonsOf(results)).toEqual([]);
    expect(await chargesOf(buyer.userId)).toMatchObject({ balance: 0, charged: 10_000 });
    expect(await checkLedger(t.app)).toEqual([]);
  });
});

test('a switch against a renewal: in either order, each is charged for the current state and no day is lost', async () => {
  for (let round = 0; round < 6; round++) {
    const { buyer, newId } = await aHolder(1_000_000);
    const [switched, renewed] = await Promise.all(
      round % 2 === 0
        ? [switchTariff(t.app, buyer, order(newId)), renewSubscription(t.app, buyer, { periodDays: 30, idempotencyKey: null })]
        : [
            nextTurn().then(() => switchTariff(t.app, buyer, order(newId))),
            renewSubscription(t.app, buyer, { periodDays: 30, idempotencyKey: null }),
          ],
    );
    // Switched first: 10 days of difference and a renewal at the new price; renewed first: 40 days of difference.
    const costs = `${switched.chargedKopeks} + ${renewed.amountPaidKopeks}`;
    expect(['10000 + 60000', '40000 + 30000']).toContain(costs);
    expect(await chargesOf(buyer.userId)).toEqual({ balance: 930_000, payments: 2, charged: 70_000, tariff: newId });
    expect((await readSubscription(t.app, buyer))!.daysLeft).toBe(40);
  }
  expect(await checkLedger(t.app)).toEqual([]);
});
