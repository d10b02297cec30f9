import { beforeAll, expect, test } from 'vitest';
import { inTransaction } from '../../../src/core/db/transaction.ts';
import { listDue } from '../../../src/domain/subscriptions/autopay/renew-due.ts';
import { lockSaleStart } from '../../../src/domain/subscriptions/purchase/repo.ts';
import { RENEWAL_NEEDS } from '../../../src/domain/subscriptions/renew-subscription.ts';
import { isAutopayDue } from '../../../src/domain/subscriptions/rules/autopay.ts';
import { aBuyer, aStoredSubscription, aTariff } from '../../support/sale-samples.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});

const at = (ms: number) => new Date(t.clock.now().getTime() + ms);

/** Each differs in one thing from a subscription that ends tomorrow and is renewed. */
const SUBSCRIPTIONS: Record<string, unknown>[] = [
  {},
  ...[-3 * HOUR, -2 * HOUR, -2 * HOUR + 1, -1, 0, 1, 4 * DAY - 1, 4 * DAY, 20 * DAY].map((ms) => ({ end_date: ms })),
  ...[0, 1, 3, 19, 20, 21, 30, 45].map((days) => ({ autopay_days_before: days, end_date: 20.5 * DAY })),
  { autopay_days_before: 45, end_date: 31 * DAY },
  { autopay_enabled: false },
  { is_trial: true },
  ...['active', 'expired', 'disabled', 'limited', 'pending', 'trial'].map((status) => ({ status })),
  ...[0, -59_999, -60_000, -61_000].map((ms) => ({ last_webhook_update_at: ms })),
];

const USERS = [
  'status = status',
  "status = 'blocked'",
  "status = 'deleted'",
  'restriction_subscription = true',
  'restriction_topup = true',
];

test('the rule under the lock and the list of the job select the same subscriptions', async () => {
  const [monthly, daily] = [await aTariff(t.app), await aTariff(t.app, { is_daily: true, daily_price_kopeks: 100 })];
  const userIds: number[] = [];
  const store = async (columns: Record<string, unknown>, change = USERS[0]!) => {
    const { userId } = await aBuyer(t.app);
    const dated = Object.fromEntries(
      Object.entries({ end_date: DAY, ...columns }).map(([name, value]) => [
        name,
        ['end_date', 'last_webhook_update_at'].includes(name) ? at(value as number) : value,
      ]),
    );
    await aStoredSubscription(t.app, userId, { tariff_id: monthly, autopay_enabled: true, ...dated });
    await t.app.db.sql(`UPDATE users SET ${change} WHERE id = $1::int RETURNING id`, [userId]);
    userIds.push(userId);
  };
  for (const columns of SUBSCRIPTIONS) await store(columns);
  for (const tariff_id of [null, daily]) await store({ tariff_id });
  for (const change of USERS) await store({}, change);

  const listed = (await listDue(t.app.db, t.clock.now(), null, 1_000)).map((row) => row.userId);
  const byRule: number[] = [];
  for (const userId of userIds) {
    const start = await inTransaction(t.app, (tx) => lockSaleStart(tx.db, userId, RENEWAL_NEEDS));
    if (isAutopayDue(start!, t.clock.now(), 'due')) byRule.push(userId);
  }
  expect(byRule).toEqual(listed.toSorted((a, b) => a - b));
  expect(byRule.length).toBeGreaterThan(12);
  expect(byRule.length).toBeLessThan(userIds.length - 12);
});
