import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { addDays, DAY_MS, HOUR_MS } from '../../../src/core/clock.ts';
import { writeState } from '../../../src/core/service-state.ts';
import { handleOfferPress, type OfferPress, receiveOfferUpdate } from '../../../src/domain/promo/offers/claim-offer.ts';
import { offerWinBacks } from '../../../src/domain/promo/offers/win-back.ts';
import { TUNING_STATE } from '../../../src/domain/subscriptions/reminders/remind-owners.ts';
import { withMessenger } from '../../support/audience-samples.ts';
import { aUser, type BuiltUser } from '../../support/builders.ts';
import { anOfferTo, offersOf } from '../../support/offer-samples.ts';
import { discountOf } from '../../support/promocode-samples.ts';
import { aStoredSubscription, aTariff } from '../../support/sale-samples.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
let app: TestApp['app'];
beforeAll(async () => {
  t = await testApp();
  ({ app } = withMessenger(t.app));
});

async function aFormer(daysAgo: number, columns: Record<string, unknown> = {}): Promise<BuiltUser & { subscriptionId: number }> {
  const user = await aUser(t.app, { language: 'en' });
  const subscriptionId = await aStoredSubscription(t.app, user.id, {
    status: 'expired',
    end_date: addDays(t.app.clock.now(), -daysAgo),
    ...columns,
  });
  return { ...user, subscriptionId };
}
const messagesTo = (user: BuiltUser) =>
  t.app.db.sql<{ data: { html: string } }>(
    `SELECT data FROM jobs.job WHERE name = 'messenger.send' AND data->>'messengerId' = $1 ORDER BY created_on, ctid`,
    [String(user.messengerId)],
  );

describe('win-back offers (spec 04 section 15)', () => {
  beforeEach(async () => {
    await t.app.db.sql('DELETE FROM service_state WHERE key = $1', [TUNING_STATE]);
    await t.app.db.sql('DELETE FROM subscriptions');
  });

  test('2 to 4 days and 5 to 6 days after the end of a paid subscription, with a message in the same transaction', async () => {
    const at = async (days: number) => [days, await aFormer(days)] as const;
    const people = [
      await at(1.9),
      await at(2),
      await at(3.9),
      await at(4),
      await at(4.9),
      await at(5),
      await at(5.9),
      await at(6),
    ];
    expect(await offerWinBacks(app)).toBe(4);
    const got: Record<number, string[]> = {};
    for (const [days, user] of people)
      got[days] = (await offersOf(t.app, user.id)).map(({ type, percent }) => `${type} ${percent}`);
    const [two, three] = [['expired_discount_wave2 10'], ['expired_discount_wave3 20']];
    expect(got).toEqual({ 1.9: [], 2: two, 3.9: two, 4: [], 4.9: [], 5: three, 5.9: three, 6: [] });
    const [message] = await messagesTo(people[1]![1]);
    expect(message!.data.html).toContain('A 10% discount for you');
    const [offer] = await offersOf(t.app, people[1]![1].id);
    expect(offer!.expiresAt).toEqual(new Date(t.app.clock.now().getTime() + 24 * HOUR_MS));
  });

  test('once per subscription and wave: the offer is not extended, and a claimed one is not made again', async () => {
    const user = await aFormer(2);
    await offerWinBacks(app);
    const [offer] = await offersOf(t.app, user.id);
    t.clock.advance(HOUR_MS);
    expect(await offerWinBacks(app)).toBe(0);
    expect(await offersOf(t.app, user.id)).toEqual([offer]);
    t.clock.advance(3 * DAY_MS);
    expect(await offerWinBacks(app)).toBe(1);
    expect((await offersOf(t.app, user.id)).map(({ type }) => type)).toEqual([
      'expired_discount_wave2',
      'expired_discount_wave3',
    ]);
    expect(await messagesTo(user)).toHaveLength(2);
  });

  test('not for trials, daily tariffs, disabled ones and blocked users, and without a message for users who switched them off', async () => {
    const daily = await aTariff(t.app, { is_daily: true });
    const left = [
      await aFormer(3, { is_trial: true }),
      await aFormer(3, { tariff_id: daily }),
      await aFormer(3, { status: 'disabled' }),
    ];
    const blocked = await aFormer(3);
    await t.app.db.sql("UPDATE users SET status = 'blocked' WHERE id = $1::int RETURNING id", [blocked.id]);
    const quiet = await aFormer(3);
    await t.app.db.sql(
      `UPDATE users SET notification_settings = '{"promo_offers_enabled": false}' WHERE id = $1::int RETURNING id`,
      [quiet.id],
    );
    expect(await offerWinBacks(app)).toBe(1);
    for (const user of [...left, blocked]) expect(await offersOf(t.app, user.id)).toEqual([]);
    expect(await offersOf(t.app, quiet.id)).toHaveLength(1);
    expect(await messagesTo(quiet)).toEqual([]);
  });

  test('uses the stored settings, and is off without messenger or with notifications off', async () => {
    const user = await aFormer(3);
    const late = await aFormer(10);
    const messenger = { ...app.ports.messenger, isConfigured: () => false };
    expect(await offerWinBacks({ ...app, ports: { ...app.ports, messenger } })).toBe(0);
    const settings = { get: ((key: never) => (key === 'ENABLE_NOTIFICATIONS' ? false : app.settings.get(key))) as never };
    expect(await offerWinBacks({ ...app, settings })).toBe(0);
    await writeState(t.app.db, TUNING_STATE, {
      expired_second_wave: { enabled: false },
      expired_third_wave: { discount_percent: 33, valid_hours: 2, trigger_days: 10 },
    });
    expect(await offerWinBacks(app)).toBe(1);
    expect(await offersOf(t.app, user.id)).toEqual([]);
    expect(await offersOf(t.app, late.id)).toMatchObject([
      { percent: 33, expiresAt: new Date(t.app.clock.now().getTime() + 2 * HOUR_MS) },
    ]);
  });
});

describe('buttons under an offer (spec 04 section 9.4)', () => {
  const deleted: number[] = [];
  const silent = () => {
    const messenger = {
      ...app.ports.messenger,
      answerCallback: async () => {},
      deleteMessage: async (_chatId: number, messageId: number) => void deleted.push(messageId),
    };
    return { ...app, ports: { ...app.ports, messenger } };
  };
  const press = (user: BuiltUser, data: string): OfferPress => ({
    queryId: 'q',
    messengerId: user.messengerId,
    chatId: user.messengerId,
    messageId: 77,
    data,
  });

  test('claim it once for its owner', async () => {
    const [user, other] = [await aUser(t.app, { language: 'en' }), await aUser(t.app, { language: 'en' })];
    const offer = await anOfferTo(t.app, user.id);
    for (const who of [other, user, user]) await handleOfferPress(silent(), press(who, `claim_discount_${offer.id}`));
    expect((await discountOf(t.app, user.id)).percent).toBe(20);
    expect((await discountOf(t.app, other.id)).percent).toBe(0);
    const texts = async (who: BuiltUser) => (await messagesTo(who)).map(({ data }) => data.html);
    expect(await texts(user)).toEqual(['Your 20% discount is on', 'You have used this offer already.']);
    expect(await texts(other)).toEqual(['This offer is no longer available.']);
  });

  test('close the message', async () => {
    await handleOfferPress(silent(), press(await aUser(t.app), 'promo_offer_close'));
    expect(deleted).toEqual([77]);
  });

  test('are distinguished from other updates', async () => {
    const user = await aUser(t.app);
    const come = (data: string) =>
      receiveOfferUpdate(t.app, {
        updateId: 1,
        kind: 'callback',
        queryId: 'q',
        fromMessengerId: user.messengerId,
        chatId: 1,
        messageId: 2,
        data,
      });
    for (const data of ['claim_discount_12', 'claim_discount_x', 'claim_discount_', 'poll_start:1', 'promo_offer_close'])
      await come(data);
    const jobs = await t.app.db.sql<{ data: OfferPress }>(
      `SELECT data FROM jobs.job WHERE name = 'promo.offer-press' AND data->>'messengerId' = $1 ORDER BY data->>'data'`,
      [String(user.messengerId)],
    );
    expect(jobs.map(({ data }) => data.data)).toEqual(['claim_discount_12', 'promo_offer_close']);
  });
});
