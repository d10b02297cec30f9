import { beforeAll, describe, expect, test } from 'vitest';
import { HOUR_MS } from '../../src/core/clock.ts';
import { type AdminBroadcast, broadcastOffersAsAdmin } from '../../src/domain/promo/offers/broadcast-offers.ts';
import { claimOffer } from '../../src/domain/promo/offers/claim-offer.ts';
import { expirePromo } from '../../src/domain/promo/offers/expiry.ts';
import { createOffer } from '../../src/domain/promo/offers/offers.ts';
import { continueBroadcast } from '../../src/domain/promo/offers/send-messages.ts';
import { offerWinBacks } from '../../src/domain/promo/offers/win-back.ts';
import { purchaseTariff } from '../../src/domain/subscriptions/purchase-tariff.ts';
import { aConfigAdmin } from '../support/admins.ts';
import { aSegment, withMessenger } from '../support/audience-samples.ts';
import { aUser } from '../support/builders.ts';
import { anOfferTo, logOf, offersOf, someTerms, TOKEN, userActor } from '../support/offer-samples.ts';
import { count, detailOf, times } from '../support/parallel.ts';
import { discountOf } from '../support/promocode-samples.ts';
import { aStoredSubscription, aTariff, rowOf, topUp } from '../support/sale-samples.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';

let t: TestApp;
beforeAll(async () => {
  if (!serverUrl) throw new Error('Races need a PostgreSQL server: set TEST_DATABASE_URL');
  t = await testApp();
});

const claim = (userId: number, offerId: number) => detailOf(claimOffer(t.app, userActor(userId), offerId));
const CLAIMED = 'This offer has already been claimed';
const EXPIRED = 'This offer has expired';

describe('claims at once (spec 04 section 9.6)', () => {
  test('spec 04 section 9.6: twenty claims of one discount: one effect, nineteen refusals', async () => {
    const user = await aUser(t.app);
    const offer = await anOfferTo(t.app, user.id);
    const outcomes = await times(20, () => claim(user.id, offer.id));
    expect([count(outcomes, 'done'), count(outcomes, CLAIMED)]).toEqual([1, 19]);
    expect(await logOf(t.app, user.id)).toHaveLength(1);
    expect((await discountOf(t.app, user.id)).percent).toBe(20);
  });

  test('spec 04 section 9.6: twenty claims of temporary access: one access, one change of the subscription', async () => {
    const user = await aUser(t.app);
    const id = await aStoredSubscription(t.app, user.id, { connected_squads: ['own'] });
    const offer = await anOfferTo(t.app, user.id, { effectType: 'test_access', extraData: { squads: ['x', 'y'] } });
    const outcomes = await times(20, () => claim(user.id, offer.id));
    expect([count(outcomes, 'done'), count(outcomes, CLAIMED)]).toEqual([1, 19]);
    const row = await rowOf(
      t.app,
      `SELECT s.connected_squads AS squads, (SELECT count(*)::int FROM subscription_temporary_access WHERE offer_id = $2::int) AS rows,
         (SELECT count(*)::int FROM jobs.job WHERE name = 'provisioning.push' AND data->>'subscriptionId' = $1::text) AS pushes
       FROM subscriptions s WHERE s.id = $1::int`,
      [id, offer.id],
    );
    expect(row).toEqual({ squads: ['own', 'x', 'y'], rows: 2, pushes: 1 });
  });

  test('claims after the end: all are refused, and the expiry is recorded once', async () => {
    const user = await aUser(t.app);
    const offer = await anOfferTo(t.app, user.id, { validHours: 1 });
    t.clock.advance(HOUR_MS);
    const [outcomes] = await Promise.all([times(20, () => claim(user.id, offer.id)), times(5, () => expirePromo(t.app))]);
    expect(count(outcomes, EXPIRED)).toBe(20);
    expect(await logOf(t.app, user.id)).toMatchObject([{ action: 'disabled' }]);
    expect((await discountOf(t.app, user.id)).percent).toBe(0);
  });

  test('claims just before the end while an instance with a faster clock expires the offer: claimed or expired, never both', async () => {
    const users = await times(10, () => aUser(t.app));
    const offers = await times(10, (index) => anOfferTo(t.app, users[index]!.id, { validHours: 1 }));
    const fast = { ...t.app, clock: { now: () => new Date(t.app.clock.now().getTime() + HOUR_MS) } };
    const claims = times(10, (index) => claim(users[index]!.id, offers[index]!.id));
    const [outcomes] = await Promise.all([claims, times(3, () => expirePromo(fast))]);
    await expirePromo(fast);
    for (const [index, user] of users.entries()) {
      const isClaimed = outcomes[index] === 'done';
      expect(await offersOf(t.app, user.id)).toMatchObject([{ active: false, claimed: isClaimed }]);
      expect(await logOf(t.app, user.id)).toMatchObject([{ action: isClaimed ? 'claimed' : 'disabled' }]);
    }
  });

  test('one discount and five purchases at once: one is cheaper, logged once', async () => {
    const user = await aUser(t.app);
    await topUp(t.app, user.id, 500_000);
    await claim(user.id, (await anOfferTo(t.app, user.id)).id);
    const order = { tariffId: await aTariff(t.app), periodDays: 30, trafficGb: null, idempotencyKey: null };
    await times(5, () => purchaseTariff(t.app, userActor(user.id), order));
    const { balance } = await rowOf<{ balance: number }>(
      t.app,
      'SELECT balance_kopeks AS balance FROM users WHERE id = $1::int',
      [user.id],
    );
    expect(balance).toBe(500_000 - 24_000 - 4 * 30_000);
    expect((await logOf(t.app, user.id)).filter(({ action }) => action === 'consumed')).toHaveLength(1);
  });
});

describe('offers at once (spec 04 section 9.2)', () => {
  test('twenty offers of one type to one user: one open offer', async () => {
    const user = await aUser(t.app);
    const made = await times(20, () => createOffer(t.app, TOKEN, someTerms({ userId: user.id, notificationType: 'same' })));
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    expect(await offersOf(t.app, user.id)).toHaveLength(1);
  });

  test('spec 04 section 9.6: two broadcasts at once, with claims in between: one open offer each', async () => {
    const { target, users } = await aSegment(t.app, 40);
    const admin = await aConfigAdmin(t.app);
    const request = { ...someTerms({ notificationType: 'twice' }), email: null, target, sendNotification: false };
    const first = await Promise.all(users.slice(0, 10).map((user) => anOfferTo(t.app, user.id, { notificationType: 'twice' })));
    const [results, outcomes] = await Promise.all([
      times(4, () => broadcastOffersAsAdmin(t.app, admin, request)),
      times(10, (index) => claim(users[index]!.id, first[index]!.id)),
    ]);
    expect(results.map(({ createdOffers, userIds }) => [createdOffers, userIds.length])).toEqual(Array(4).fill([40, 40]));
    expect(count(outcomes, 'done')).toBe(10);
    for (const user of users)
      expect((await offersOf(t.app, user.id)).filter(({ active }) => active).length).toBeLessThanOrEqual(1);
    for (const user of users.slice(10)) expect(await offersOf(t.app, user.id)).toHaveLength(1);
  });

  test('spec 04 section 9.6: parallel jobs: every offer once, every message once', async () => {
    const { target, users } = await aSegment(t.app, 120);
    const { app, sent } = withMessenger(t.app);
    const request: AdminBroadcast = { ...someTerms(), email: null, target, sendNotification: true };
    await broadcastOffersAsAdmin(app, await aConfigAdmin(t.app), request);
    const { id } = await rowOf<{ id: number }>(t.app, 'SELECT id FROM promo_offer_broadcasts ORDER BY id DESC LIMIT 1');
    // The state before the first batch, with three concurrent runs.
    await t.app.db.sql('DELETE FROM promo_offer_deliveries WHERE broadcast_id = $1::int', [id]);
    await t.app.db.sql(
      `UPDATE promo_offer_broadcasts SET state = 'making', processed_up_to = 0, created_offers = 0 WHERE id = $1::int RETURNING id`,
      [id],
    );
    const run = () => continueBroadcast(app, { data: { broadcastId: id }, signal: new AbortController().signal });
    await times(3, run);
    await run();
    const chats = sent.map(({ chatId }) => chatId);
    expect([chats.length, new Set(chats).size]).toEqual([120, 120]);
    expect(await rowOf(t.app, 'SELECT state, created_offers, sent FROM promo_offer_broadcasts WHERE id = $1::int', [id])).toEqual(
      {
        state: 'done',
        createdOffers: 120,
        sent: 120,
      },
    );
    for (const user of users) expect(await offersOf(t.app, user.id)).toHaveLength(1);
  });

  test('ten win-back rounds at once: one offer, one message', async () => {
    const user = await aUser(t.app);
    await aStoredSubscription(t.app, user.id, {
      status: 'expired',
      end_date: new Date(t.app.clock.now().getTime() - 60 * HOUR_MS),
    });
    const { app } = withMessenger(t.app);
    await times(10, () => offerWinBacks(app));
    await offerWinBacks(app);
    expect(await offersOf(t.app, user.id)).toHaveLength(1);
    const messages = await t.app.db.sql(`SELECT id FROM jobs.job WHERE name = 'messenger.send' AND data->>'messengerId' = $1`, [
      String(user.messengerId),
    ]);
    expect(messages).toHaveLength(1);
  });

  test('ten expiry jobs at once remove temporary access once', async () => {
    const user = await aUser(t.app);
    const id = await aStoredSubscription(t.app, user.id, { connected_squads: ['own'] });
    const offer = await anOfferTo(t.app, user.id, { effectType: 'test_access', extraData: { squads: ['x'], duration_hours: 1 } });
    await claim(user.id, offer.id);
    const version = () =>
      rowOf<{ version: number; squads: string[] }>(
        t.app,
        'SELECT provision_version AS version, connected_squads AS squads FROM subscriptions WHERE id = $1::int',
        [id],
      );
    const before = await version();
    t.clock.advance(HOUR_MS);
    await times(10, () => expirePromo(t.app));
    expect(await version()).toEqual({ version: before.version + 1, squads: ['own'] });
    expect((await logOf(t.app, user.id)).filter(({ action }) => action === 'disabled')).toHaveLength(1);
  });
});
