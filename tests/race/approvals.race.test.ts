/** Decisions about money at once (spec 01 section 4.8): of two of them one takes effect, and what is held is not spent. */
import { beforeAll, expect, test } from 'vitest';
import type { AdminActor } from '../../src/core/actor.ts';
import type { App } from '../../src/core/app.ts';
import { approve, endOverdueApprovals, refuse, withdraw } from '../../src/domain/approvals/decide.ts';
import { changeBalance } from '../../src/domain/approvals/request-approval.ts';
import { checkLedger } from '../../src/domain/ledger/check-ledger.ts';
import { purchaseTariff } from '../../src/domain/subscriptions/purchase-tariff.ts';
import { giveRole } from '../support/actors.ts';
import { aUser } from '../support/builders.ts';
import { count, detailOf, times } from '../support/parallel.ts';
import { aTariff, rowOf, topUp } from '../support/sale-samples.ts';
import { testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';

const LIMIT = 100_000;
let app: App;
let admins: AdminActor[];
beforeAll(async () => {
  if (!serverUrl) throw new Error('Races need a PostgreSQL server: set TEST_DATABASE_URL');
  app = (await testApp({ environment: { APPROVAL_BALANCE_CHANGE_KOPEKS: String(LIMIT) } })).app;
  admins = await times(8, async () => {
    const { id: userId } = await aUser(app);
    await giveRole(app, userId, ['users:balance', 'approvals:decide']);
    return { kind: 'admin', userId, level: 100, isConfigAdmin: false } as const;
  });
});

const change = (by: AdminActor, userId: number, amountKopeks: number) =>
  changeBalance(app, by, { userId, amountKopeks, description: null, isShown: true }, null);

async function aCustomer(kopeks: number): Promise<number> {
  const { id } = await aUser(app);
  if (kopeks > 0) await topUp(app, id, kopeks);
  return id;
}

async function aWaiting(userId: number, amountKopeks: number, by = admins[0]!): Promise<number> {
  return (await change(by, userId, amountKopeks)).approval!.id;
}

const balanceOf = async (userId: number): Promise<number> =>
  (await rowOf<{ kopeks: number }>(app, 'SELECT balance_kopeks AS kopeks FROM users WHERE id = $1::int', [userId])).kopeks;

const DECIDED = 'This was decided already';

test('seven approvers at once: the money moves once', async () => {
  const userId = await aCustomer(0);
  const id = await aWaiting(userId, LIMIT + 1);
  const outcomes = await times(7, (n) => detailOf(approve(app, admins[n + 1]!, id)));
  expect([count(outcomes, 'done'), count(outcomes, DECIDED), await balanceOf(userId)]).toEqual([1, 6, LIMIT + 1]);
});

test('an approval, a refusal, a withdrawal and the end of the time at once: one of them', async () => {
  for (let round = 0; round < 8; round++) {
    const userId = await aCustomer(200_000);
    const id = await aWaiting(userId, -150_000);
    const outcomes = await Promise.all([
      detailOf(approve(app, admins[1]!, id)),
      detailOf(refuse(app, admins[2]!, id, 'No')),
      detailOf(withdraw(app, admins[0]!, id)),
      detailOf(endOverdueApprovals(app)),
    ]);
    expect(count(outcomes.slice(0, 3), 'done')).toBe(1);
    expect(await balanceOf(userId)).toBe(outcomes[0] === 'done' ? 50_000 : 200_000);
  }
  expect(await checkLedger(app)).toEqual([]);
});

test('what waits is not spent: a purchase of the same money at once, or before the approval', async () => {
  const tariffId = await aTariff(app, { period_prices: { 30: 150_000 } });
  for (let round = 0; round < 6; round++) {
    const userId = await aCustomer(150_000);
    const order = { tariffId, periodDays: 30, trafficGb: null, idempotencyKey: null };
    const buy = () => purchaseTariff(app, { kind: 'user', userId }, order);
    const [asked] = await Promise.allSettled([change(admins[0]!, userId, -150_000), buy()]);
    if (asked.status === 'fulfilled') {
      await Promise.allSettled([approve(app, admins[1]!, asked.value.approval!.id), buy(), buy()]);
    }
    expect(await balanceOf(userId)).toBe(0);
  }
  expect(await checkLedger(app)).toEqual([]);
});

test('ten changes at once that exceed the amount together: those within it are made, the others wait', async () => {
  const [userId, by] = [await aCustomer(0), admins[3]!];
  const made = await times(10, () => change(by, userId, 30_000));
  expect(made.filter(({ approval }) => approval === null)).toHaveLength(3);
  expect(await balanceOf(userId)).toBe(90_000);
});
