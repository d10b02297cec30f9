import { beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { addDays, DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/core/clock.ts';
import {
  activateByToken,
  handleGiftPress,
  receiveGiftUpdate,
} from '../../../src/domain/storefront/purchases/activate-purchase.ts';
import { fulfilPurchase } from '../../../src/domain/storefront/purchases/fulfil-purchase.ts';
import { viewPurchase } from '../../../src/domain/storefront/purchases/start-purchase.ts';
import { watchPurchases } from '../../../src/domain/storefront/purchases/watch-purchases.ts';
import { aUser } from '../../support/builders.ts';
import { callbackResults, paymentFacts } from '../../support/payment-samples.ts';
import {
  aDeliveredPurchase,
  anEmail,
  aPaidPurchase,
  aPurchase,
  aStorefront,
  confirmPayment,
  contact,
  factsOf,
  giftTo,
  mailText,
  panelAnswers,
  revenueOf,
  type Storefront,
  subscriptionOf,
} from '../../support/purchase-samples.ts';
import { whileRefused } from '../../support/refused-writes.ts';
import { aStoredSubscription } from '../../support/sale-samples.ts';
import { ScriptedProvider, withProvider } from '../../support/scripted-provider.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
let app: App;
let provider: ScriptedProvider;
beforeEach(async () => {
  t = await testApp();
  provider = new ScriptedProvider();
  app = await withProvider(t.app, provider);
  // The job reads all purchases, ten at a time.
  await app.db.sql('DELETE FROM guest_purchases');
});

const actorOf = (userId: number) => ({ kind: 'user', userId }) as const;

/** A purchase that waits for its recipient, who has this subscription. */
async function aWaitingPurchase(columns: Record<string, unknown> = {}, isGift = false) {
  const email = anEmail();
  const user = await aUser(app, { email });
  await aStoredSubscription(app, user.id, columns);
  const storefront = await aStorefront(app);
  const bought = await aPaidPurchase(app, provider, storefront, isGift ? giftTo(email) : { buyer: contact(email) });
  await fulfilPurchase(app, { purchaseId: bought.id });
  return { bought, storefront, userId: user.id, messengerId: user.messengerId, email };
}

/** The token of the link in the mail to the recipient. */
async function mailedToken(email: string): Promise<string> {
  const link = /\/buy\/success\/([\w-]{64})/.exec(await mailText(app, email, 'guest_activation_required'));
  return link![1]!;
}

const ENDED = { status: 'expired', end_date: new Date('2026-01-01T00:00:00Z') };

describe('an activation', () => {
  test('replaces the subscription when its owner is signed in, and is delivered with the links', async () => {
    const { bought, storefront, userId } = await aWaitingPurchase();
    await activateByToken(app, bought.token, actorOf(userId));
    expect((await viewPurchase(app, bought.token)).status).toBe('paid');
    expect(await subscriptionOf(app, userId)).toMatchObject({
      tariffId: storefront.tariffId,
      endDate: addDays(app.clock.now(), 30),
    });
    await panelAnswers(app, bought.id);
    expect((await factsOf(app, bought.id)).status).toBe('delivered');
    t.clock.advance(DAY_MS);
    const before = await subscriptionOf(app, userId);
    await activateByToken(app, bought.token, actorOf(userId));
    expect(await subscriptionOf(app, userId)).toEqual(before);
    expect(await revenueOf(app, bought.id)).toMatchObject({ rows: 1, kopeks: -30_000 });
  });

  test('spec 10 U4: the token of a purchase for oneself replaces a running subscription, without a sign-in', async () => {
    const { bought, storefront, userId, email } = await aWaitingPurchase();
    expect(await mailedToken(email)).toBe(bought.token);
    await activateByToken(app, bought.token, null);
    expect(await subscriptionOf(app, userId)).toMatchObject({
      tariffId: storefront.tariffId,
      endDate: addDays(app.clock.now(), 30),
    });
    // Who bought it for himself has paid, unlike the recipient of a gift (spec 10 X5).
    const [row] = await app.db.sql('SELECT has_had_paid_subscription AS paid FROM users WHERE id = $1::int', [userId]);
    expect(row).toEqual({ paid: true });
  });

  test('spec 10 U4: so does the token of a gift to the own contact', async () => {
    const email = anEmail();
    const user = await aUser(app, { email });
    await aStoredSubscription(app, user.id);
    const storefront = await aStorefront(app);
    const bought = await aPaidPurchase(app, provider, storefront, { ...giftTo(email), buyer: contact(email) });
    await fulfilPurchase(app, { purchaseId: bought.id });
    await activateByToken(app, bought.token, null);
    expect(await subscriptionOf(app, user.id)).toMatchObject({ tariffId: storefront.tariffId });
  });

  test('spec 10 U4: the recipient of a gift is mailed a token of their own, which shows the gift and suffices', async () => {
    const { bought, storefront, userId, email } = await aWaitingPurchase({}, true);
    const token = await mailedToken(email);
    expect(token).not.toBe(bought.token);
    expect(await viewPurchase(app, token)).toEqual(await viewPurchase(app, bought.token));
    await activateByToken(app, token, null);
    expect(await subscriptionOf(app, userId)).toMatchObject({ tariffId: storefront.tariffId });
    // One delivered at once names the giver's token to nobody either.
    const other = anEmail();
    const given = await aPaidPurchase(app, provider, storefront, giftTo(other));
    await fulfilPurchase(app, { purchaseId: given.id });
    await panelAnswers(app, given.id);
    expect(await mailText(app, other, 'guest_gift_received')).not.toContain(given.token);
  });

  test('spec 10 U4: a recipient in the messenger gets that token as a link, where there is a cabinet', async () => {
    const user = await aUser(app);
    const [{ username }] = (await app.db.sql<{ username: string }>('SELECT username FROM users WHERE id = $1::int', [
      user.id,
    ])) as [{ username: string }];
    await aStoredSubscription(app, user.id);
    const bought = await aPaidPurchase(app, provider, await aStorefront(app), giftTo(`@${username}`));
    await fulfilPurchase(app, { purchaseId: bought.id });
    const [message] = await app.db.sql<{ buttons: { url?: string }[][] }>(
      "SELECT data -> 'buttons' AS buttons FROM jobs.job WHERE name = 'messenger.send' AND data ->> 'messengerId' = $1",
      [String(user.messengerId)],
    );
    const token = /^https:\/\/cabinet\.example\.com\/buy\/success\/(\w{64})\?activate=1$/.exec(
      message!.buttons[1]![0]!.url!,
    )![1]!;
    await activateByToken(app, token, null);
    expect((await factsOf(app, bought.id)).grantedAt).toEqual(app.clock.now());
  });

  test('spec 10 U4: the unused second token of a purchase for oneself opens nothing', async () => {
    const { bought } = await aWaitingPurchase();
    const [row] = await app.db.sql<{ token: string }>('SELECT recipient_token AS token FROM guest_purchases WHERE id = $1::int', [
      bought.id,
    ]);
    await expect(viewPurchase(app, row!.token)).rejects.toMatchObject({ status: 404 });
  });

  test('spec 03 H22: neither the token of the giver nor another user replaces a running subscription', async () => {
    const { bought, userId } = await aWaitingPurchase({}, true);
    const stranger = await aUser(app);
    const before = await subscriptionOf(app, userId);
    await expect(activateByToken(app, bought.token, null)).rejects.toMatchObject({ status: 401 });
    await expect(activateByToken(app, bought.token, actorOf(stranger.id))).rejects.toMatchObject({ status: 403 });
    expect(await subscriptionOf(app, userId)).toEqual(before);
    expect(await factsOf(app, bought.id)).toMatchObject({ status: 'pending_activation', activationRequestedAt: null });
  });

  test('of a gift over an ended subscription needs the token alone', async () => {
    const { bought, userId } = await aWaitingPurchase(ENDED, true);
    await activateByToken(app, bought.token, null);
    expect(await subscriptionOf(app, userId)).toMatchObject({ status: 'active', endDate: addDays(app.clock.now(), 30) });
  });

  test.each([
    ['pending', async (storefront: Storefront) => aPurchase(app, storefront)],
    ['paid', async (storefront: Storefront) => aPaidPurchase(app, provider, storefront)],
  ])('of a purchase that is %s is refused', async (_status, make) => {
    const { token } = await make(await aStorefront(app));
    await expect(activateByToken(app, token, null)).rejects.toMatchObject({
      status: 400,
      detail: 'Purchase is not pending activation',
    });
  });

  test('refuses an unknown token and one that is only part of one', async () => {
    const { bought } = await aWaitingPurchase();
    for (const token of ['x'.repeat(64), bought.token.slice(0, 12), '_'.repeat(12)]) {
      await expect(activateByToken(app, token, null)).rejects.toMatchObject({ status: 404, detail: 'Purchase not found' });
    }
  });

  test('without the tariff is refused, and the administrators are alerted to refund', async () => {
    const { bought, storefront, userId } = await aWaitingPurchase();
    await app.db.sql("UPDATE tariffs SET period_prices = '{}' WHERE id = $1::int RETURNING id", [storefront.tariffId]);
    const before = await subscriptionOf(app, userId);
    await expect(activateByToken(app, bought.token, actorOf(userId))).rejects.toMatchObject({
      status: 500,
      detail: 'Tariff not found',
    });
    expect(await factsOf(app, bought.id)).toMatchObject({ status: 'failed', lastError: 'tariff_unavailable' });
    expect(await subscriptionOf(app, userId)).toEqual(before);
  });

  test('without a user is refused', async () => {
    const { bought } = await aWaitingPurchase(ENDED, true);
    await app.db.sql('UPDATE guest_purchases SET user_id = NULL WHERE id = $1::int RETURNING id', [bought.id]);
    await expect(activateByToken(app, bought.token, null)).rejects.toMatchObject({
      status: 500,
      detail: 'No user linked to purchase',
    });
  });

  test('is done by the button in the messenger, for the recipient only', async () => {
    const { bought, userId, messengerId } = await aWaitingPurchase();
    const stranger = await aUser(app);
    const press = { updateId: 1, kind: 'callback', queryId: 'q', chatId: null, messageId: null } as const;
    await receiveGiftUpdate(app, { ...press, fromMessengerId: messengerId, data: `gift_activate:${bought.id}` });
    await receiveGiftUpdate(app, { ...press, fromMessengerId: messengerId, data: `gift_activate:${'9'.repeat(10)}` });
    await receiveGiftUpdate(app, { ...press, fromMessengerId: messengerId, data: 'gift_activate:1x' });
    const jobs = await app.db.sql<{ data: { purchaseId: number } }>(
      "SELECT data FROM jobs.job WHERE name = 'gifts.press' AND data ->> 'messengerId' = $1",
      [String(messengerId)],
    );
    expect(jobs).toEqual([{ data: { queryId: 'q', messengerId, purchaseId: bought.id } }]);
    await handleGiftPress(app, { queryId: 'q', messengerId: stranger.messengerId, purchaseId: bought.id });
    expect((await factsOf(app, bought.id)).grantedAt).toBeNull();
    await handleGiftPress(app, { queryId: 'q', messengerId, purchaseId: bought.id });
    expect(await subscriptionOf(app, userId)).toMatchObject({ endDate: addDays(app.clock.now(), 30) });
  });
});

describe('the job `gifts.watch`', () => {
  test('finds a payment whose callback was lost', async () => {
    const bought = await aPurchase(app, await aStorefront(app));
    provider.set(bought.externalId, 'paid');
    t.clock.advance(9 * MINUTE_MS);
    await watchPurchases(app);
    expect((await factsOf(app, bought.id)).status).toBe('pending');
    t.clock.advance(2 * MINUTE_MS);
    await watchPurchases(app);
    expect(await factsOf(app, bought.id)).toMatchObject({ status: 'paid' });
    expect(await paymentFacts(app, bought.paymentId)).toMatchObject({ isPaid: true });
    // A late callback changes nothing.
    await confirmPayment(app, provider, bought);
    expect(await callbackResults(app, bought.externalId)).toEqual(['already_credited']);
    expect(await revenueOf(app, bought.id)).toMatchObject({ rows: 1 });
  });

  test('also finds a mismatch', async () => {
    const bought = await aPurchase(app, await aStorefront(app));
    provider.set(bought.externalId, 'paid', { amountKopeks: 1 });
    t.clock.advance(11 * MINUTE_MS);
    await watchPurchases(app);
    expect(await factsOf(app, bought.id)).toMatchObject({ status: 'failed', lastError: 'amount_mismatch' });
  });

  test('spec 03 H15: expires purchases unpaid for a day, after asking the provider once more', async () => {
    const storefront = await aStorefront(app);
    const [unpaid, paid] = [await aPurchase(app, storefront), await aPurchase(app, storefront)];
    provider.set(paid.externalId, 'paid');
    t.clock.advance(DAY_MS - MINUTE_MS);
    const young = await aPurchase(app, storefront);
    t.clock.advance(2 * MINUTE_MS);
    await watchPurchases(app);
    expect((await factsOf(app, unpaid.id)).status).toBe('expired');
    expect((await factsOf(app, paid.id)).status).toBe('paid');
    expect((await factsOf(app, young.id)).status).toBe('pending');
    // A later success still counts.
    await confirmPayment(app, provider, unpaid);
    expect((await factsOf(app, unpaid.id)).status).toBe('paid');
  });

  test('waits a second day for a provider that does not answer', async () => {
    const bought = await aPurchase(app, await aStorefront(app));
    t.clock.advance(DAY_MS + MINUTE_MS);
    provider.fetchFaults = ['unavailable'];
    await watchPurchases(app);
    expect((await factsOf(app, bought.id)).status).toBe('pending');
    t.clock.advance(DAY_MS);
    provider.fetchFaults = ['unavailable'];
    await watchPurchases(app);
    expect((await factsOf(app, bought.id)).status).toBe('expired');
  });

  test('retries a paid purchase whose job was lost, at growing intervals', async () => {
    const bought = await aPaidPurchase(app, provider, await aStorefront(app));
    await watchPurchases(app);
    expect(await factsOf(app, bought.id)).toMatchObject({ retryCount: 0, grantedAt: null });
    t.clock.advance(5 * MINUTE_MS);
    await watchPurchases(app);
    expect(await factsOf(app, bought.id)).toMatchObject({ status: 'paid', grantedAt: app.clock.now() });
    await panelAnswers(app, bought.id);
    expect((await factsOf(app, bought.id)).status).toBe('delivered');
  });

  test('spec 03 H21: a paid purchase that cannot be given fails after twenty tries, with an alert', async () => {
    const bought = await aPaidPurchase(app, provider, await aStorefront(app));

    const tryTwentyTimes = async () => {
      for (let attempt = 1; attempt <= 20; attempt++) {
        expect((await factsOf(app, bought.id)).status).toBe('paid');
        t.clock.advance(HOUR_MS);
        await watchPurchases(app);
      }
    };
    const isGrant = 'NEW.granted_at IS NOT NULL AND OLD.granted_at IS NULL';
    await whileRefused(app, 'guest_purchases', tryTwentyTimes, isGrant, 'UPDATE');
    expect(await factsOf(app, bought.id)).toMatchObject({
      status: 'failed',
      lastError: 'retries_exhausted',
      nextAttemptAt: null,
    });
    expect(await revenueOf(app, bought.id)).toMatchObject({ rows: 1 });
  });

  test('a granted purchase is never failed by a panel that stays silent: it is delivered when the panel answers', async () => {
    const bought = await aPaidPurchase(app, provider, await aStorefront(app));
    await fulfilPurchase(app, { purchaseId: bought.id });
    for (let attempt = 1; attempt <= 21; attempt++) {
      t.clock.advance(HOUR_MS);
      await watchPurchases(app);
    }
    expect(await factsOf(app, bought.id)).toMatchObject({ status: 'paid', lastError: 'links_missing', nextAttemptAt: null });
    await panelAnswers(app, bought.id);
    expect(await factsOf(app, bought.id)).toMatchObject({ status: 'delivered', lastError: null });
  });

  test('delivers purchases whose call after the panel push was lost', async () => {
    const bought = await aPaidPurchase(app, provider, await aStorefront(app));
    await fulfilPurchase(app, { purchaseId: bought.id });
    await app.db.sql(
      `UPDATE subscriptions SET provision_state = 'synced', subscription_url = 'https://sub.example.com/1' WHERE user_id =
         (SELECT user_id FROM guest_purchases WHERE id = $1::int) RETURNING id`,
      [bought.id],
    );
    t.clock.advance(6 * MINUTE_MS);
    await watchPurchases(app);
    expect((await factsOf(app, bought.id)).status).toBe('delivered');
  });

  test('spec 03 H6: does not activate without a request', async () => {
    const { bought, userId } = await aWaitingPurchase();
    // Even if something has put it on the list of tries.
    await app.db.sql(
      'UPDATE guest_purchases SET next_attempt_at = $2::timestamptz, is_activation_signed = true WHERE id = $1::int RETURNING id',
      [bought.id, app.clock.now()],
    );
    const before = await subscriptionOf(app, userId);
    for (let hours = 0; hours < 30; hours += 5) {
      t.clock.advance(5 * HOUR_MS);
      await watchPurchases(app);
    }
    expect(await factsOf(app, bought.id)).toMatchObject({ status: 'pending_activation', retryCount: 0 });
    expect(await subscriptionOf(app, userId)).toEqual(before);
  });

  test('spec 03 H6: goes on with an activation that was asked for and failed', async () => {
    const { bought, userId } = await aWaitingPurchase();
    await app.db.sql(
      `UPDATE guest_purchases SET activation_requested_at = $2::timestamptz, is_activation_signed = true, next_attempt_at = $2::timestamptz
       WHERE id = $1::int RETURNING id`,
      [bought.id, app.clock.now()],
    );
    await watchPurchases(app);
    expect(await subscriptionOf(app, userId)).toMatchObject({ endDate: addDays(app.clock.now(), 30) });
  });

  test('spec 03 H6, H22: a request without sign-in is withdrawn when a subscription has begun to run', async () => {
    const { bought, userId } = await aWaitingPurchase();
    await app.db.sql(
      `UPDATE guest_purchases SET activation_requested_at = $2::timestamptz, next_attempt_at = $2::timestamptz WHERE id = $1::int RETURNING id`,
      [bought.id, app.clock.now()],
    );
    const before = await subscriptionOf(app, userId);
    await watchPurchases(app);
    expect(await subscriptionOf(app, userId)).toEqual(before);
    expect(await factsOf(app, bought.id)).toMatchObject({
      status: 'pending_activation',
      activationRequestedAt: null,
      nextAttemptAt: null,
    });
  });

  test('deletes credentials that were not fetched', async () => {
    const bought = await aDeliveredPurchase(app, provider, await aStorefront(app));
    expect((await factsOf(app, bought.id)).autoLoginToken).toEqual(expect.any(String));
    t.clock.advance(DAY_MS + MINUTE_MS);
    await watchPurchases(app);
    expect((await factsOf(app, bought.id)).autoLoginToken).toBeNull();
  });
});
