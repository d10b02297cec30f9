import { beforeAll, describe, expect, test } from 'vitest';
import { addDays } from '../../../src/core/clock.ts';
import { AUDIENCE_TABLES, audienceCondition, namedSegment } from '../../../src/domain/audience/segments.ts';
import { aUser } from '../../support/builders.ts';
import { aStoredSubscription, aTariff, topUp } from '../../support/sale-samples.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});

describe('segments (spec 04 section 0.5)', () => {
  test('each has the members of the table', async () => {
    const now = t.app.clock.now();
    const tariffId = await aTariff(t.app);
    const dailyId = await aTariff(t.app, { is_daily: true });
    const people: Record<string, number> = {};
    const person = async (name: string, subscription: Record<string, unknown> | null) => {
      const user = await aUser(t.app);
      if (subscription) await aStoredSubscription(t.app, user.id, subscription);
      await t.app.db.sql('UPDATE users SET last_activity = $2::timestamptz WHERE id = $1::int RETURNING id', [user.id, now]);
      people[name] = user.id;
    };
    await person('long', { tariff_id: tariffId, end_date: addDays(now, 40), traffic_used_gb: 3 });
    await person('soon', { end_date: addDays(now, 2), traffic_used_gb: 3 });
    await person('week', { end_date: addDays(now, 6), traffic_used_gb: 0 });
    await person('daily', { tariff_id: dailyId, end_date: addDays(now, 1), traffic_used_gb: 3 });
    await person('trial', { is_trial: true, end_date: addDays(now, 1) });
    await person('trialOver', { is_trial: true, end_date: addDays(now, -1) });
    await person('disabled', { status: 'disabled' });
    await person('none', null);
    await person('former', null);
    await topUp(t.app, people.none!, 500);
    await t.app.db.sql(
      'UPDATE users SET has_had_paid_subscription = true, referred_by_id = $2::int, last_activity = $3::timestamptz WHERE id = $1::int RETURNING id',
      [people.former, people.long, addDays(now, -61)],
    );
    const ids = Object.values(people);
    const members = async (target: string) => {
      const rows = await t.app.db.sql<{ id: number }>(
        `SELECT u.id FROM ${AUDIENCE_TABLES}
         WHERE u.id = ANY($1::int[]) AND u.created_at <= $2::timestamptz AND ${audienceCondition(target, '$2::timestamptz')}`,
        [ids, now],
      );
      const found = new Set(rows.map(({ id }) => id));
      return Object.keys(people).filter((name) => found.has(people[name]!));
    };
    const expected: Record<string, string[]> = {
      all: Object.keys(people),
      active: ['long', 'soon', 'week', 'daily'],
      trial: ['trial', 'trialOver'],
      no: ['trialOver', 'disabled', 'none', 'former'],
      expiring: ['soon', 'trial'],
      expiring_subscribers: ['soon', 'week', 'trial'],
      expired: ['trialOver', 'disabled', 'former'],
      expired_subscribers: ['trialOver', 'disabled', 'former'],
      canceled_subscribers: ['disabled'],
      trial_ending: ['trial'],
      trial_expired: ['trialOver'],
      active_zero: ['week'],
      trial_zero: ['trial'],
      zero: ['week', 'trial'],
      autopay_failed: [],
      low_balance: ['none'],
      inactive_30d: ['former'],
      inactive_60d: ['former'],
      inactive_90d: [],
      [`tariff_${tariffId}`]: ['long'],
      custom_today: Object.keys(people),
      custom_week: Object.keys(people),
      custom_month: Object.keys(people),
      custom_active_today: Object.keys(people).filter((name) => name !== 'former'),
      custom_inactive_week: ['former'],
      custom_inactive_month: ['former'],
      custom_referrals: ['former'],
      custom_direct: Object.keys(people).filter((name) => name !== 'former'),
    };
    for (const [target, names] of Object.entries(expected)) expect([target, await members(target)]).toEqual([target, names]);
    await t.app.db.sql("UPDATE users SET status = 'blocked' WHERE id = $1::int RETURNING id", [people.long]);
    expect(await members('all')).toEqual(Object.keys(people).filter((name) => name !== 'long'));
  });

  test.each(['', 'tariff_', 'tariff_x', 'tariff_1x', 'ALL', 'constructor', null])('%s has no members', (target) => {
    expect(audienceCondition(target, 'now()')).toBe('false');
  });

  test('names in any spelling, with their aliases', () => {
    expect(['  All ', 'no_sub', 'ALL_USERS', 'active_subscribers', 'trial_users', 'custom_today'].map(namedSegment)).toEqual([
      ...['all', 'no', 'all', 'active', 'trial', 'custom_today'],
    ]);
    expect(['', 'everybody', 'tariff_1', 'toString'].map(namedSegment)).toEqual([null, null, null, null]);
  });
});
