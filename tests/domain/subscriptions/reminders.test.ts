import { beforeAll, describe, expect, test } from 'vitest';
import { writeState } from '../../../src/core/service-state.ts';
import { remindOwners, TUNING_STATE } from '../../../src/domain/subscriptions/reminders/remind-owners.ts';
import { renewSubscription } from '../../../src/domain/subscriptions/renew-subscription.ts';
import { recordedEvents } from '../../support/recorded-events.ts';
import { whileRefused } from '../../support/refused-writes.ts';
import { aBuyer, aStoredSubscription, aTariff, rowOf } from '../../support/sale-samples.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const HOUR = 3_600_000;
let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});

const inHours = (hours: number) => new Date(t.clock.now().getTime() + hours * HOUR);

async function ending(hours: number, columns: Record<string, unknown> = {}, balanceKopeks = 0) {
  const buyer = await aBuyer(t.app, balanceKopeks);
  await aStoredSubscription(t.app, buyer.userId, { end_date: inHours(hours), ...columns });
  return buyer;
}

const sentTo = async (buyer: { userId: number }) => {
  const { html } = await rowOf<{ html: string[] }>(
    t.app,
    `SELECT (SELECT coalesce(json_agg(j.data ->> 'html'), '[]') FROM jobs.job j WHERE j.name = 'messenger.send'
         AND j.data ->> 'messengerId' = u.messenger_id::text) AS html
     FROM users u WHERE u.id = $1::int`,
    [buyer.userId],
  );
  const days = (await recordedEvents(t.app, 'subscription.expiring', buyer.userId)).map((event) => event.days_left);
  return { messages: html.map((one) => /<b>(.*?)<\/b>/.exec(one)![1]), days };
};

describe('owners are reminded', () => {
  test('of the end, by the most urgent warning only, each once, and again after a renewal', async () => {
    const [three, one, far] = [await ending(60), await ending(20), await ending(80)];
    await remindOwners(t.app);
    await remindOwners(t.app);
    const ENDING = 'Your subscription is about to end';
    expect(await sentTo(three)).toEqual({ messages: [ENDING], days: [3] });
    expect(await sentTo(one)).toEqual({ messages: [ENDING], days: [1] });
    expect(await sentTo(far)).toEqual({ messages: [], days: [] });

    const renewing = await ending(20, { tariff_id: await aTariff(t.app) }, 30_000);
    await remindOwners(t.app);
    await renewSubscription(t.app, renewing, { periodDays: 30, idempotencyKey: null });
    await t.app.db.sql('UPDATE subscriptions SET end_date = $2::timestamptz WHERE user_id = $1::int', [
      renewing.userId,
      inHours(20),
    ]);
    await remindOwners(t.app);
    expect((await sentTo(renewing)).days).toEqual([1, 1]);
  });

  test('of the last two hours of a trial, and of a paid subscription a day after its end', async () => {
    const daily = await aTariff(t.app, { is_daily: true, daily_price_kopeks: 100 });
    const trials = [
      await ending(1.9, { is_trial: true }),
      await ending(2.1, { is_trial: true }),
      // A trial ends on a daily tariff too.
      await ending(1.9, { is_trial: true, tariff_id: daily }),
    ];
    const over = [
      await ending(-23, { status: 'expired' }),
      await ending(-25, { status: 'expired' }),
      await ending(-49, { status: 'expired' }),
    ];
    await remindOwners(t.app);
    await remindOwners(t.app);
    const messageCounts = async (buyers: typeof trials) =>
      Promise.all(buyers.map(async (buyer) => (await sentTo(buyer)).messages.length));
    expect(await messageCounts(trials)).toEqual([1, 0, 1]);
    expect(await messageCounts(over)).toEqual([0, 1, 0]);
  });

  test('not of paid daily subscriptions, not of disabled ones, and not while notifications are switched off', async () => {
    const tariffId = await aTariff(t.app, { is_daily: true, daily_price_kopeks: 100 });
    const skipped = [await ending(20, { tariff_id: tariffId }), await ending(20, { status: 'disabled' })];
    await remindOwners(t.app);
    const quiet = await testApp({ environment: { ENABLE_NOTIFICATIONS: 'false' }, clock: t.clock });
    skipped.push(await ending(20));
    expect(await remindOwners(quiet.app)).toBe(0);
    for (const buyer of skipped) expect((await sentTo(buyer)).messages).toEqual([]);
  });

  test('at the days that are set, and a day after the end only when that is switched on', async () => {
    const { app } = await testApp({ environment: { AUTOPAY_WARNING_DAYS: '5' }, clock: t.clock });
    await writeState(app.db, TUNING_STATE, { expired_1d: { enabled: false } });
    const [soon, over] = [await ending(110), await ending(-25, { status: 'expired' })];
    await remindOwners(app);
    await writeState(app.db, TUNING_STATE, {});
    expect((await sentTo(soon)).days).toEqual([5]);
    expect((await sentTo(over)).messages).toEqual([]);
  });

  /** An owner with settings for reminders. */
  async function choosing(hours: number, settings: object | string, columns: Record<string, unknown> = {}) {
    const buyer = await ending(hours, columns);
    await t.app.db.sql('UPDATE users SET notification_settings = $2::jsonb WHERE id = $1::int', [
      buyer.userId,
      JSON.stringify(settings),
    ]);
    return buyer;
  }
  const days = (count: unknown) => ({ subscription_expiry_days: count });

  test('only when they have switched it on, and first at the number of days that they have set', async () => {
    const off = { subscription_expiry_enabled: false };
    const cases: [Promise<{ userId: number }>, number[]][] = [
      // The operator warns 3 days and 1 day before.
      [choosing(20, off), []],
      [choosing(20, { subscription_expiry_enabled: true }), [1]],
      [choosing(60, {}), [3]],
      [choosing(150, days(7)), [7]],
      [choosing(60, days(7)), [3]],
      [choosing(20, days(7)), [1]],
      [choosing(190, days(7)), []],
      [choosing(60, days(2)), []],
      [choosing(40, days(2)), [2]],
      [choosing(40, days(1)), []],
      [choosing(20, days(1)), [1]],
      [choosing(719, days(30)), [30]],
      [choosing(719, days(1e300)), [30]],
      [choosing(60, days('soon')), [3]],
      [choosing(60, []), [3]],
    ];
    const quiet = [await choosing(1.5, off, { is_trial: true }), await choosing(-25, off, { status: 'expired' })];
    const owners = await Promise.all(cases.map(async ([buyer, expected]) => ({ ...(await buyer), expected })));
    await remindOwners(t.app);
    await remindOwners(t.app);
    const recordedDays = ({ userId }: { userId: number }) =>
      rowOf(
        t.app,
        "SELECT coalesce(json_agg(discriminator::int), '[]') AS days FROM sent_notifications WHERE user_id = $1::int",
        [userId],
      );
    for (const owner of owners) expect(await recordedDays(owner)).toEqual({ days: owner.expected });
    for (const owner of quiet) expect(await sentTo(owner)).toEqual({ messages: [], days: [] });
  });

  test('each at its number of days as the end comes nearer', async () => {
    const { app, clock } = await testApp({ environment: { AUTOPAY_WARNING_DAYS: '3,1' } });
    const buyer = await aBuyer(app);
    await aStoredSubscription(app, buyer.userId, { end_date: new Date(clock.now().getTime() + 8 * 24 * HOUR) });
    await app.db.sql(`UPDATE users SET notification_settings = '{"subscription_expiry_days": 7}' WHERE id = $1::int`, [
      buyer.userId,
    ]);
    for (let day = 0; day < 8; day++, clock.advance(24 * HOUR)) await remindOwners(app);
    expect((await sentTo(buyer)).days.toSorted((a, b) => b - a)).toEqual([7, 3, 1]);
  });

  test('nobody is warned when the operator has set no day', async () => {
    const { app } = await testApp({ environment: { AUTOPAY_WARNING_DAYS: '0' }, clock: t.clock });
    const owners = [await ending(20), await choosing(20, days(5))];
    await remindOwners(app);
    for (const owner of owners) expect((await sentTo(owner)).messages).toEqual([]);
  });

  test('page by page, each read once a round, where a failed reminder affects no other', async () => {
    const owners: { userId: number }[] = [];
    for (let count = 0; count < 130; count++) owners.push(await ending(10 + count / 100));
    // More than a page fails: a round that started again at the first page would never end.
    const [failing, others] = [owners.slice(0, 101).map(({ userId }) => userId), owners.slice(101)];
    await whileRefused(t.app, 'sent_notifications', () => remindOwners(t.app), `NEW.user_id IN (${failing.join()})`);
    const sentCounts = () =>
      Promise.all([owners[0]!, owners[100]!, ...others].map(async (owner) => (await sentTo(owner)).days.length));
    expect(await sentCounts()).toEqual([0, 0, ...others.map(() => 1)]);
    await remindOwners(t.app);
    expect(await sentCounts()).toEqual([1, 1, ...others.map(() => 1)]);
  });
});
