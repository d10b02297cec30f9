import { beforeAll, describe, expect, test } from 'vitest';
import { checkLedger } from '../../src/domain/ledger/check-ledger.ts';
import { postMovement } from '../../src/domain/ledger/post-movement.ts';
import { mergeAccounts } from '../../src/domain/merge/merge-accounts.ts';
import { purchaseTariff } from '../../src/domain/subscriptions/purchase-tariff.ts';
import { aPair, tokenFor, userRow } from '../support/merge-samples.ts';
import { aTariff, rowOf, topUp } from '../support/sale-samples.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';

let t: TestApp;
beforeAll(async () => {
  if (!serverUrl) throw new Error('Races need a PostgreSQL server: set TEST_DATABASE_URL');
  t = await testApp();
});

const reasonsOf = (results: PromiseSettledResult<unknown>[]) =>
  results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));

describe('merges at once', () => {
  test('twenty with one token: one merges, nineteen are refused', async () => {
    const pair = await aPair(t.app);
    await topUp(t.app, pair.secondaryId, 9_000);
    const token = await tokenFor(t.app, pair);
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, () => mergeAccounts(t.app, { token, keepSubscriptionFrom: pair.primaryId })),
    );
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
    expect(reasonsOf(results).map((reason) => reason.detail)).toEqual(
      Array(19).fill('Merge token is invalid, expired, or already consumed'),
    );
    expect(await userRow(t.app, pair.primaryId)).toMatchObject({ balanceKopeks: 9_000 });
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test('both directions at once: one succeeds, no request waits forever, no kopek is lost', async () => {
    for (let round = 1; round <= 10; round++) {
      const pair = await aPair(t.app);
      await topUp(t.app, pair.primaryId, 100);
      await topUp(t.app, pair.secondaryId, 20);
      const back = { primaryId: pair.secondaryId, secondaryId: pair.primaryId };
      const tokens = [await tokenFor(t.app, pair), await tokenFor(t.app, back)];
      const results = await Promise.allSettled(
        tokens.map((token) => mergeAccounts(t.app, { token, keepSubscriptionFrom: pair.primaryId })),
      );
      expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
      expect(reasonsOf(results).map((reason) => reason.code)).toEqual(['merge_impossible']);
      const found = await rowOf<{ total: number; active: number }>(
        t.app,
        `SELECT sum(balance_kopeks)::bigint AS total, count(*) FILTER (WHERE status = 'active' AND balance_kopeks = 120)::int AS active
         FROM users WHERE id IN ($1::int, $2::int)`,
        [pair.primaryId, pair.secondaryId],
      );
      expect(found).toEqual({ total: 120, active: 1 });
    }
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test('money that moves and a purchase during the merge end on one side or the other, and the ledger is clean', async () => {
    const tariffId = await aTariff(t.app);
    for (let round = 1; round <= 8; round++) {
      const pair = await aPair(t.app);
      await topUp(t.app, pair.primaryId, 30_000);
      await topUp(t.app, pair.secondaryId, 30_000);
      const token = await tokenFor(t.app, pair);
      const credit = (userId: number) =>
        postMovement(t.app, {
          userId,
          type: 'deposit',
          amountKopeks: 7,
          contra: { kind: 'manual_adjustment' },
          paymentMethod: 'manual',
          description: 'race',
        });
      const order = { tariffId, periodDays: 30, trafficGb: null, idempotencyKey: null };
      const [merged] = await Promise.allSettled([
        mergeAccounts(t.app, { token, keepSubscriptionFrom: pair.primaryId }),
        ...Array.from({ length: 6 }, (_, index) => credit(index % 2 === 0 ? pair.primaryId : pair.secondaryId)),
        purchaseTariff(t.app, { kind: 'user', userId: pair.secondaryId }, order),
      ]);
      expect(merged?.status).toBe('fulfilled');
      const found = await rowOf<{ total: number; subscriptions: number; paid: number }>(
        t.app,
        `SELECT (SELECT sum(balance_kopeks)::bigint FROM users WHERE id IN ($1::int, $2::int)) AS total,
           (SELECT count(*)::int FROM subscriptions WHERE user_id IN ($1::int, $2::int)) AS subscriptions,
           (SELECT count(*)::int FROM transactions WHERE user_id IN ($1::int, $2::int) AND type = 'subscription_payment') AS paid`,
        [pair.primaryId, pair.secondaryId],
      );
      expect(found.total).toBe(60_000 + 6 * 7 - found.paid * 30_000);
      expect(found.subscriptions).toBe(found.paid);
    }
    expect(await checkLedger(t.app)).toEqual([]);
  });
});
