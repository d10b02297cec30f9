import { expect, onTestFinished, test } from 'vitest';
import { addDays, HOUR_MS } from '../../../src/core/clock.ts';
import { readUsersStats } from '../../../src/domain/users/stats/read-users-stats.ts';
import { setUser } from '../../support/admin-setup.ts';
import { aUser } from '../../support/builders.ts';
import { aStoredSubscription, topUp } from '../../support/sale-samples.ts';
import { TestClock, testApp } from '../../support/test-app.ts';
import { freshDatabase } from '../../support/test-database.ts';

test('spec 10 X9: numbers over all users, where who is blocked or deleted is not among those seen', async () => {
  const database = await freshDatabase();
  onTestFinished(() => database.drop());
  const clock = new TestClock();
  clock.set(new Date('2026-05-20T12:00:00Z'));
  const { app } = await testApp({ database, clock });
  const now = clock.now();
  const born = async (createdAt: Date, columns: Record<string, unknown> = {}) => {
    const user = await aUser(app);
    await setUser(app, user, { created_at: createdAt, last_activity: createdAt, ...columns });
    return user;
  };
  const today = await born(new Date(now.getTime() - HOUR_MS));
  const week = await born(addDays(now, -3));
  const month = await born(addDays(now, -20), { last_activity: now });
  const old = await born(addDays(now, -90), { last_activity: null });
  await born(now, { status: 'blocked' });
  await born(now, { status: 'deleted' });
  await topUp(app, today.id, 1_001);
  await topUp(app, week.id, 1_000);
  await aStoredSubscription(app, today.id);
  await aStoredSubscription(app, week.id, { is_trial: true, end_date: addDays(now, -1) });
  await aStoredSubscription(app, month.id, { status: 'expired' });
  await aStoredSubscription(app, old.id, { status: 'disabled' });
  expect(await readUsersStats(app)).toEqual({
    totalUsers: 6,
    activeUsers: 4,
    blockedUsers: 2,
    deletedUsers: 1,
    newToday: 1,
    newWeek: 2,
    newMonth: 3,
    usersWithSubscription: 4,
    usersWithActiveSubscription: 1,
    usersWithTrial: 1,
    usersWithExpiredSubscription: 2,
    totalBalanceKopeks: 2_001,
    avgBalanceKopeks: 500,
    activeToday: 2,
    activeWeek: 3,
    activeMonth: 3,
  });
});
