import { beforeAll, describe, expect, test } from 'vitest';
import type { AdminActor } from '../../src/core/actor.ts';
import type { App } from '../../src/core/app.ts';
import { runOutsideTransaction } from '../../src/core/db/root-guard.ts';
import { inTransaction } from '../../src/core/db/transaction.ts';
import { checkLedger } from '../../src/domain/ledger/check-ledger.ts';
import {
  approveWithdrawal,
  completeWithdrawal,
  exportPayouts,
  rejectWithdrawal,
} from '../../src/domain/referrals/withdrawals/decide.ts';
import {
  cancelMyWithdrawal,
  listMyWithdrawals,
  requestWithdrawal,
} from '../../src/domain/referrals/withdrawals/my-withdrawals.ts';
import { purchaseTariff } from '../../src/domain/subscriptions/purchase-tariff.ts';
import { unique } from '../support/builders.ts';
import { someoneWaitsForALock } from '../support/lock-wait.ts';
import { merge } from '../support/merge-samples.ts';
import { count, detailOf, settled, times, won } from '../support/parallel.ts';
import { aTariff, topUp } from '../support/sale-samples.ts';
import { storeRows } from '../support/stored-rows.ts';
import { testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';
import {
  anAdmin,
  anEarner,
  aRequest,
  aRequestOfBefore,
  moneyOf,
  requestRow,
  reservedOf,
  spend,
  WITHDRAWALS_ON,
} from '../support/withdrawal-samples.ts';

let app: App;
let strict: App;
let admins: AdminActor[];
beforeAll(async () => {
  if (!serverUrl) throw new Error('Races need a PostgreSQL server: set TEST_DATABASE_URL');
  app = (await testApp({ environment: WITHDRAWALS_ON })).app;
  strict = (await testApp({ environment: { ...WITHDRAWALS_ON, REFERRAL_WITHDRAWAL_SECOND_APPROVAL_KOPEKS: '1' } })).app;
  admins = await times(10, () => anAdmin(app));
});

const PENDING = 'You already have a request under review';
const PROCESSED = 'The request has already been processed';
const LOW = "The user's balance is too low";

const create = (userId: number, amountKopeks: number, key: string | null = null) =>
  requestWithdrawal(app, { kind: 'user', userId }, { amountKopeks, paymentDetails: 'Card 2200' }, key);
const approve = (id: number, by = admins[0]!, inApp = app) => approveWithdrawal(inApp, by, { id }, null);
const reject = (id: number, by = admins[0]!) => rejectWithdrawal(app, by, { id }, null);
const tariff = () => aTariff(app);
const buy = (userId: number, tariffId: number) =>
  purchaseTariff(app, { kind: 'user', userId }, { tariffId, periodDays: 30, trafficGb: null, idempotencyKey: null });

describe('spec 03 H13: withdrawal money is not spent twice', () => {
  test('twenty requests for everything at once: one is stored', async () => {
    const earner = await anEarner(app, 50_000);
    const outcomes = await times(20, () => detailOf(create(earner.userId, 50_000)));
    expect(count(outcomes, 'done')).toBe(1);
    // What is pending is not available any more, so most are refused for the minimum before the pending request.
    expect(outcomes.filter((outcome) => outcome !== 'done')).toEqual(Array(19).fill('Minimum withdrawal: 1 ₽. Available: 0 ₽.'));
    expect((await listMyWithdrawals(app, earner)).total).toBe(1);
  });

  test('twenty requests for a part at once: one is stored', async () => {
    const earner = await anEarner(app, 50_000);
    const outcomes = await times(20, () => detailOf(create(earner.userId, 1_000)));
    expect([count(outcomes, 'done'), count(outcomes, PENDING)]).toEqual([1, 19]);
  });

  test('twenty requests with one key: one row, twenty equal answers', async () => {
    const earner = await anEarner(app, 50_000);
    const key = `race-${unique()}`;
    const results = await settled(20, () => create(earner.userId, 1_000, key));
    expect(won(results)).toHaveLength(20);
    expect(new Set(won(results).map((answer) => answer.id)).size).toBe(1);
    expect((await listMyWithdrawals(app, earner)).total).toBe(1);
  });

  test('spec 10 M5: a request and a purchase of the same money at once: one of them, and what is requested can be approved', async () => {
    const tariffId = await tariff();
    for (let round = 0; round < 8; round++) {
      const earner = await anEarner(app, 30_000);
      const [requested, bought] = await Promise.all([
        detailOf(create(earner.userId, 30_000)),
        buy(earner.userId, tariffId).then(
          () => 'done',
          (error: { detail: { code: string } }) => error.detail.code,
        ),
      ]);
      expect([requested, bought]).toEqual(
        requested === 'done' ? ['done', 'insufficient_funds'] : ['Minimum withdrawal: 1 ₽. Available: 0 ₽.', 'done'],
      );
      const [request] = (await listMyWithdrawals(app, earner)).items;
      if (request) expect(await detailOf(approve(request.id))).toBe('done');
      expect(await moneyOf(app, earner.userId)).toMatchObject({ balance: 0, debits: request ? 1 : 0 });
    }
    expect(await checkLedger(app)).toEqual([]);
  });

  test('ten administrators approve one request: one debit', async () => {
    const earner = await anEarner(app, 50_000);
    const id = await aRequest(app, earner, 20_000);
    const outcomes = await times(10, (n) => detailOf(approve(id, admins[n])));
    expect([count(outcomes, 'done'), count(outcomes, PROCESSED)]).toEqual([1, 9]);
    expect(await moneyOf(app, earner.userId)).toEqual({ balance: 30_000, debits: 1, payouts: 0, payable: 20_000, paidOut: 0 });
  });

  test('one administrator repeats an approval with one key: one debit, equal answers', async () => {
    const earner = await anEarner(app, 50_000);
    const id = await aRequest(app, earner, 20_000);
    const key = `race-${unique()}`;
    const results = await settled(10, () => approveWithdrawal(app, admins[0]!, { id }, key));
    expect(won(results)).toEqual(Array(10).fill({ success: true }));
    expect(await moneyOf(app, earner.userId)).toMatchObject({ balance: 30_000, debits: 1 });
  });

  test('an approval of a request of before and a purchase for the same money: one of them, never both', async () => {
    const tariffId = await tariff();
    for (let round = 0; round < 12; round++) {
      const earner = await anEarner(app, 30_000);
      const id = await aRequestOfBefore(app, earner, 30_000);
      const [approved, bought] = await Promise.all([
        detailOf(approve(id)),
        buy(earner.userId, tariffId).then(
          () => 'done',
          (error: { detail: { code: string } }) => error.detail.code,
        ),
      ]);
      expect([approved, bought]).toEqual(approved === 'done' ? ['done', 'insufficient_funds'] : [LOW, 'done']);
      expect(await moneyOf(app, earner.userId)).toMatchObject({ balance: 0, debits: approved === 'done' ? 1 : 0 });
    }
    expect(await checkLedger(app)).toEqual([]);
  });

  test('a purchase that has taken the money first, and commits later, makes the waiting approval of a request of before fail', async () => {
    const earner = await anEarner(app, 30_000);
    const id = await aRequestOfBefore(app, earner, 30_000);
    const approval = await inTransaction(app, async (t) => {
      await spend(t, earner.userId, 1);
      const waiting = runOutsideTransaction(() => detailOf(approve(id)));
      await someoneWaitsForALock(app);
      return { waiting };
    });
    expect(await approval.waiting).toBe(LOW);
    expect(await moneyOf(app, earner.userId)).toMatchObject({ balance: 29_999, debits: 0 });
  });

  test('an approval and a cancellation at once: one of them', async () => {
    for (let round = 0; round < 10; round++) {
      const earner = await anEarner(app, 30_000);
      const id = await aRequest(app, earner, 20_000);
      const [approved, cancelled] = await Promise.all([
        detailOf(approve(id)),
        detailOf(cancelMyWithdrawal(app, earner, id, null)),
      ]);
      const isApproved = approved === 'done';
      expect(isApproved ? cancelled : approved).toBe(isApproved ? 'Only a request under review can be cancelled' : PROCESSED);
      expect([approved, cancelled]).toContain('done');
      expect((await requestRow(app, id)).status).toBe(isApproved ? 'approved' : 'cancelled');
      expect(await moneyOf(app, earner.userId)).toMatchObject({
        balance: isApproved ? 10_000 : 30_000,
        debits: isApproved ? 1 : 0,
      });
    }
  });

  test('approvals and rejections at once: one decision', async () => {
    const earner = await anEarner(app, 30_000);
    const id = await aRequest(app, earner, 20_000);
    const outcomes = await times(20, (n) => detailOf(n % 2 === 0 ? approve(id, admins[n % 10]) : reject(id, admins[n % 10])));
    expect([count(outcomes, 'done'), count(outcomes, PROCESSED)]).toEqual([1, 19]);
    const { status } = await requestRow(app, id);
    expect((await moneyOf(app, earner.userId)).debits).toBe(status === 'approved' ? 1 : 0);
  });

  test('ten completions at once: one payout', async () => {
    const earner = await anEarner(app, 30_000);
    const id = await aRequest(app, earner, 20_000);
    await approve(id);
    const outcomes = await times(10, (n) => detailOf(completeWithdrawal(app, admins[n]!, id, null)));
    expect([count(outcomes, 'done'), count(outcomes, PROCESSED)]).toEqual([1, 9]);
    expect(await moneyOf(app, earner.userId)).toEqual({ balance: 10_000, debits: 1, payouts: 1, payable: 0, paidOut: 20_000 });
    expect(await checkLedger(app)).toEqual([]);
  });

  test('spec 10 M5: cancellations, rejections and purchases at once: the held money comes back once', async () => {
    for (let round = 0; round < 5; round++) {
      const earner = await anEarner(app, 30_000);
      const id = await aRequest(app, earner, 20_000);
      const outcomes = await Promise.all([
        ...Array.from({ length: 5 }, () => [detailOf(cancelMyWithdrawal(app, earner, id, null)), detailOf(reject(id))]).flat(),
        detailOf(spend(app, earner.userId, 10_000)),
      ]);
      expect(count(outcomes, 'done')).toBe(2);
      expect([(await moneyOf(app, earner.userId)).balance, await reservedOf(app, id)]).toEqual([20_000, 0]);
    }
    expect(await checkLedger(app)).toEqual([]);
  });

  test('a cancellation and new requests for the same money at once: never more pending than there is', async () => {
    for (let round = 0; round < 5; round++) {
      const earner = await anEarner(app, 30_000);
      const id = await aRequest(app, earner, 30_000);
      const [cancelled, outcomes] = await Promise.all([
        detailOf(cancelMyWithdrawal(app, earner, id, null)),
        times(10, () => detailOf(create(earner.userId, 30_000))),
      ]);
      expect(cancelled).toBe('done');
      const pending = (await listMyWithdrawals(app, earner)).items.filter((item) => item.status === 'pending');
      expect(pending).toHaveLength(count(outcomes, 'done'));
      expect(pending.length).toBeLessThanOrEqual(1);
    }
  });
});

describe('two approvers', () => {
  test('one administrator approves twenty times at once: still pending', async () => {
    const earner = await anEarner(app, 30_000);
    const id = await aRequest(app, earner, 20_000);
    const outcomes = await times(20, () => detailOf(approve(id, admins[0], strict)));
    expect(count(outcomes, 'done')).toBe(1);
    expect(await requestRow(app, id)).toMatchObject({ status: 'pending', firstApprovedBy: admins[0]!.userId });
    expect(await moneyOf(app, earner.userId)).toMatchObject({ balance: 10_000, debits: 0 });
  });

  test('ten administrators approve at once: two count, by different administrators, and one debit', async () => {
    const earner = await anEarner(app, 30_000);
    const id = await aRequest(app, earner, 20_000);
    const outcomes = await times(10, (n) => detailOf(approve(id, admins[n], strict)));
    expect([count(outcomes, 'done'), count(outcomes, PROCESSED)]).toEqual([2, 8]);
    const row = await requestRow(app, id);
    expect(row.status).toBe('approved');
    expect(row.processedBy).not.toBe(row.firstApprovedBy);
    expect(await moneyOf(app, earner.userId)).toMatchObject({ balance: 10_000, debits: 1 });
  });
});

describe('with other work at once', () => {
  test('a merge and an approval: the debit falls on the account that has the money', async () => {
    for (let round = 0; round < 5; round++) {
      const earner = await anEarner(app, 30_000);
      const other = await anEarner(app, 100);
      await topUp(app, other.userId, 900);
      const id = await aRequest(app, earner, 30_000);
      const [approved] = await Promise.all([
        detailOf(approve(id)),
        merge(app, { primaryId: other.userId, secondaryId: earner.userId }),
      ]);
      expect(['done', 'The user of the request was not found']).toContain(approved);
      if (approved !== 'done') await approve(id);
      expect(await moneyOf(app, other.userId)).toMatchObject({ balance: 1_000, debits: 1, payable: 30_000 });
    }
    expect(await checkLedger(app)).toEqual([]);
  });

  test('an export shows a payout once that is completed, and so moves to the end, while it runs', async () => {
    const earner = await anEarner(app, 1_000);
    const firstMinute = Date.parse('1995-01-01T00:01:00Z');
    const rows = await storeRows(
      app,
      'WithdrawalRequest',
      Array.from({ length: 501 }, (_, n) => ({
        userId: earner.userId,
        amountKopeks: 1,
        status: 'approved' as const,
        processedAt: new Date(firstMinute + n * 60_000),
      })),
    );
    const first = rows[0]!.id;
    const parts: string[] = [];
    const filter = { from: new Date('1995-01-01'), to: new Date(Date.now() + 86_400_000), status: null };
    await exportPayouts(app, filter, async (csv) => {
      // After the header the first page; the second one is still to be read.
      if (parts.length === 1) await runOutsideTransaction(() => completeWithdrawal(app, admins[0]!, first, null));
      parts.push(csv);
    });
    expect((await requestRow(app, first)).status).toBe('completed');
    const mine = new Set(rows.map((row) => row.id));
    const shown = parts
      .flatMap((csv) => csv.split('\r\n').map((line) => Number(line.split(',')[0])))
      .filter((id) => mine.has(id));
    expect(shown).toHaveLength(501);
    expect(new Set(shown).size).toBe(501);
  });
});
