import type { App } from '../../../core/app.ts';
import { addDays, MINUTE_MS } from '../../../core/clock.ts';
import { SMALL_LIST } from '../list/rules.ts';
import { countStatuses, countSubscriptions, sumUsers, type UsersStats } from './repo.ts';

/** How old the sums of a large installation may be: reading every row takes most of a second. */
const CACHE_MS = MINUTE_MS;
const KEY = 'admin-users-stats';

/**
 * Numbers over all users (spec 01 section 11.1). Counts by status are exact at any size; the other numbers are exact up to 20,000
 * users, and above that at most a minute old.
 */
export async function readUsersStats(app: App): Promise<UsersStats> {
  const statuses = await countStatuses(app.db);
  const sums = statuses.totalUsers <= SMALL_LIST ? await readSums(app) : await app.cache.read(KEY, CACHE_MS, () => readSums(app));
  return {
    ...statuses,
    ...sums,
    blockedUsers: statuses.totalUsers - statuses.activeUsers,
    avgBalanceKopeks: statuses.activeUsers === 0 ? 0 : Math.trunc(sums.totalBalanceKopeks / statuses.activeUsers),
  };
}

async function readSums(app: App) {
  const now = app.clock.now();
  const today = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()));
  const [users, subscriptions] = await Promise.all([
    sumUsers(app.db, { today, weekAgo: addDays(now, -7), monthAgo: addDays(now, -30) }),
    countSubscriptions(app.db, now),
  ]);
  return { ...users, ...subscriptions };
}
