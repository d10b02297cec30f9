import { beforeAll, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { postMovement } from '../../../src/domain/ledger/post-movement.ts';
import { setUser } from '../../support/admin-setup.ts';
import { aUser } from '../../support/builders.ts';
import { aStoredSubscription, topUp } from '../../support/sale-samples.ts';
import { testApp } from '../../support/test-app.ts';

let app: App;
beforeAll(async () => {
  ({ app } = await testApp());
});

const STORED = `SELECT f.user_id, f.status, f.created_at, f.balance_kopeks, f.total_spent_kopeks, f.purchase_count, f.last_activity,
  t.status AS traffic_status, t.traffic_used_gb FROM user_stats f JOIN user_traffic t ON t.user_id = f.user_id ORDER BY 1`;

/** The counters that triggers maintain equal a recount. */
async function expectRecounted(): Promise<void> {
  const stored = await app.db.sql(STORED);
  await app.db.sql('SELECT recount_user_stats()::text AS done');
  expect(stored).toEqual(await app.db.sql(STORED));
}

test('counters follow money, status, activity, traffic and purchases', async () => {
  const [a, b] = [await aUser(app), await aUser(app)];
  await topUp(app, a.id, 1_000);
  const pay = (amountKopeks: number) =>
    postMovement(app, {
      userId: a.id,
      type: 'subscription_payment',
      amountKopeks,
      contra: { kind: 'sales_revenue', product: 'tariff' },
      paymentMethod: 'balance',
      description: null,
    });
  await pay(-300);
  await pay(0);
  await setUser(app, a, { status: 'blocked', last_activity: null });
  const id = await aStoredSubscription(app, a.id, { traffic_used_gb: 3.5 });
  await app.db.sql('UPDATE subscriptions SET traffic_used_gb = 4.25 WHERE id = $1::int RETURNING id', [id]);
  const [counters] = await app.db.sql(
    `SELECT balance_kopeks, total_spent_kopeks, purchase_count, f.status, traffic_used_gb
     FROM user_stats f JOIN user_traffic t USING (user_id) WHERE f.user_id = $1::int`,
    [a.id],
  );
  expect(counters).toEqual({
    balanceKopeks: 700,
    totalSpentKopeks: 300,
    purchaseCount: 2,
    status: 'blocked',
    trafficUsedGb: 4.25,
  });
  await expectRecounted();
  await app.db.sql('UPDATE subscriptions SET user_id = $2::int WHERE id = $1::int RETURNING id', [id, b.id]);
  await expectRecounted();
  await app.db.sql('DELETE FROM subscriptions WHERE id = $1::int RETURNING id', [id]);
  await app.db.sql('UPDATE transactions SET is_completed = false WHERE user_id = $1::int AND amount_kopeks = -300 RETURNING id', [
    a.id,
  ]);
  await expectRecounted();
});
