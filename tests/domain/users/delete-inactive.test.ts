import { describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { addDays } from '../../../src/core/clock.ts';
import { authenticateUser } from '../../../src/domain/identity/authenticate.ts';
import { openSession } from '../../../src/domain/identity/sessions/sessions.ts';
import { changeUserBalance } from '../../../src/domain/users/account/change-balance.ts';
import { deleteInactiveUsers } from '../../../src/domain/users/removal.ts';
import { jobsOf, setUser } from '../../support/admin-setup.ts';
import { anAdmin, giveRole } from '../../support/admins.ts';
import { aUser, type BuiltUser, unique } from '../../support/builders.ts';
import { aSubscription } from '../../support/provisioning-setup.ts';
import { rowOf } from '../../support/sale-samples.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { type TestClock, testApp } from '../../support/test-app.ts';

/** An app at three in the morning; everybody else of this database is younger than anything tested here. */
async function atNight(environment: Record<string, string> = {}): Promise<{ app: App; clock: TestClock }> {
  const t = await testApp({ environment });
  const night = t.clock.now();
  night.setUTCHours(3, 20);
  t.clock.set(night);
  return t;
}

async function aSilentUser(app: App, days = 91, columns: Record<string, unknown> = {}): Promise<BuiltUser> {
  const user = await aUser(app);
  await setUser(app, user, { last_activity: addDays(app.clock.now(), -days), ...columns });
  return user;
}

const statusOf = async (app: App, user: BuiltUser) =>
  (await rowOf<{ status: string }>(app, 'SELECT status FROM users WHERE id = $1::int', [user.id])).status;

describe('inactive users', () => {
  test('a user who was inactive for three months of 30 days is marked deleted, and loses the sessions', async () => {
    const { app } = await atNight();
    const [silent, seen] = [await aSilentUser(app), await aSilentUser(app, 89)];
    await openSession(app, silent.id);
    await setUser(app, silent, { last_activity: addDays(app.clock.now(), -91) });
    const expired = await aSubscription(app, { user: silent, status: 'expired', days: -60 });
    expect(await deleteInactiveUsers(app)).toBeGreaterThanOrEqual(1);
    expect([await statusOf(app, silent), await statusOf(app, seen)]).toEqual(['deleted', 'active']);
    const sessions = await app.db.sql(
      'SELECT 1 AS live FROM cabinet_refresh_tokens WHERE user_id = $1::int AND revoked_at IS NULL',
      [silent.id],
    );
    expect(sessions).toEqual([]);
    expect(await jobsOf(app, 'subscriptionId', expired.id)).toContain('provisioning.push');
    expect(await deleteInactiveUsers(app)).toBe(0);
  });

  test('spec 01 H22: users with money, paid time, a pending purchase, a role or a partnership are not deleted', async () => {
    const owner = await aUser((await testApp()).app);
    const { app } = await atNight({ ADMIN_IDS: String(owner.messengerId) });
    const admin = await anAdmin(app, 900);
    const rich = await aSilentUser(app);
    await changeUserBalance(app, admin, { userId: rich.id, amountKopeks: 1, description: 'x', isShown: true }, null);
    const [live, limited] = [await aSilentUser(app), await aSilentUser(app)];
    await aSubscription(app, { user: live });
    await aSubscription(app, { user: limited, status: 'limited' });
    const [helper, partner, gifted] = [
      await aSilentUser(app),
      await aSilentUser(app, 91, { partner_status: 'approved' }),
      await aSilentUser(app),
    ];
    await giveRole(app, helper.id, 10);
    const token = `${unique()}-waiting-gift`.padEnd(40, 'x');
    await storeRow(app, 'GuestPurchase', {
      token,
      code: token.slice(0, 12),
      contactType: 'email',
      contactValue: 'x@example.com',
      periodDays: 30,
      amountKopeks: 100,
      status: 'pending_activation',
      paidAt: new Date(),
      userId: gifted.id,
    });
    const [never, blocked] = [await aSilentUser(app), await aSilentUser(app, 91, { status: 'blocked' })];
    await setUser(app, never, { last_activity: null });
    await setUser(app, owner, { last_activity: addDays(app.clock.now(), -400) });
    await deleteInactiveUsers(app);
    for (const user of [rich, live, limited, helper, partner, gifted, never, owner])
      expect(await statusOf(app, user)).toBe('active');
    expect(await statusOf(app, blocked)).toBe('blocked');
    await app.db.sql(
      "UPDATE guest_purchases SET status = 'delivered', delivered_at = now() WHERE user_id = $1::int RETURNING id",
      [gifted.id],
    );
    await deleteInactiveUsers(app);
    expect(await statusOf(app, gifted)).toBe('deleted');
    // Protected by the environment of this test only.
    await setUser(app, owner, { last_activity: app.clock.now() });
  });

  test('spec 01 H22: a request in the cabinet keeps a user of the web', async () => {
    const { app } = await atNight();
    const user = await aSilentUser(app);
    const { accessToken } = await openSession(app, user.id);
    await setUser(app, user, { last_activity: addDays(app.clock.now(), -91) });
    await authenticateUser(app, { bearer: accessToken, initData: null });
    await expect
      .poll(
        async () => (await rowOf<{ at: Date }>(app, 'SELECT last_activity AS at FROM users WHERE id = $1::int', [user.id])).at,
      )
      .toEqual(app.clock.now());
    await deleteInactiveUsers(app);
    expect(await statusOf(app, user)).toBe('active');
  });

  test('goes through all pages, past those that stay, and stops when it is asked to', async () => {
    const { app } = await atNight();
    const at = addDays(app.clock.now(), -100);
    const users: BuiltUser[] = [];
    for (let index = 0; index < 120; index++) {
      const user = await aUser(app);
      // Many with the same timestamp, so that a page ends between equal ones; two in three stay.
      await setUser(app, user, { last_activity: at, partner_status: index % 3 === 0 ? 'none' : 'approved' });
      users.push(user);
    }
    expect(await deleteInactiveUsers(app, AbortSignal.abort())).toBe(0);
    expect(await deleteInactiveUsers(app)).toBe(40);
    const statuses = await Promise.all(users.map((user) => statusOf(app, user)));
    expect(statuses).toEqual(users.map((_user, index) => (index % 3 === 0 ? 'deleted' : 'active')));
  });

  test.each([
    ['in another hour', {}, 4],
    ['with 0 months', { INACTIVE_USER_DELETE_MONTHS: '0' }, 3],
    ['with more months', { INACTIVE_USER_DELETE_MONTHS: '4' }, 3],
  ])('%s nobody goes', async (_name, environment, hour) => {
    const { app, clock } = await atNight(environment);
    const user = await aSilentUser(app);
    const timestamp = clock.now();
    timestamp.setUTCHours(hour, 0);
    clock.set(timestamp);
    expect(await deleteInactiveUsers(app)).toBe(0);
    expect(await statusOf(app, user)).toBe('active');
    await setUser(app, user, { last_activity: clock.now() });
  });
});
