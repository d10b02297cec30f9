import { beforeEach, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { DAY_MS, MINUTE_MS } from '../../../src/core/clock.ts';
import { signInAsMessengerUser } from '../../../src/domain/identity/messenger-sign-in.ts';
import type { MessengerUpdate } from '../../../src/domain/messaging/ports.ts';
import { type GiftStart, handleGiftStart, receiveGiftStart } from '../../../src/domain/storefront/gifts/activate-gift.ts';
import { aUser, unique } from '../../support/builders.ts';
import { aCode, aGiftTariff, giftOf, giftsAreOn, messagesTo } from '../../support/gift-samples.ts';
import { subscriptionOf } from '../../support/purchase-samples.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
let app: App;
let tariffId: number;
beforeEach(async () => {
  t = await testApp();
  app = t.app;
  await giftsAreOn(app);
  tariffId = await aGiftTariff(app);
});

/** The person follows a link to the bot. */
function follow(messengerId: number, startParameter: string, chatId = messengerId): Promise<void> {
  const from = { messengerId, username: null, firstName: 'Friend', lastName: null, languageCode: 'en' };
  const update: MessengerUpdate = {
    updateId: unique(),
    kind: 'message',
    chatId,
    messageId: 1,
    from,
    text: '/start',
    startParameter,
  };
  return receiveGiftStart(app, update);
}

/** Runs the jobs that are due; those without a timestamp of their own have that of the database's clock. @returns how many there were */
async function runDue(messengerId: number): Promise<number> {
  const jobs = await app.db.sql<{ id: string; data: GiftStart }>(
    `DELETE FROM jobs.job WHERE name = 'gifts.start' AND data ->> 'messengerId' = $1 AND start_after <= $2::timestamptz + interval '30 seconds' RETURNING id, data`,
    [String(messengerId), app.clock.now()],
  );
  for (const { data } of jobs) await handleGiftStart(app, data);
  return jobs.length;
}
const waiting = (messengerId: number) =>
  app.db.sql("SELECT id FROM jobs.job WHERE name = 'gifts.start' AND data ->> 'messengerId' = $1", [String(messengerId)]);

test('a link to the bot activates its gift for who follows it', async () => {
  const [{ code }, friend] = [await aCode(app, tariffId), await aUser(app, { language: 'en' })];
  // As clients write the link: the first 12 characters (spec 10 U1).
  await follow(friend.messengerId, `GIFT_${code.slice(0, 12)}`);
  expect(await runDue(friend.messengerId)).toBe(1);
  expect(await subscriptionOf(app, friend.id)).toMatchObject({ tariffId });
  expect(await messagesTo(app, friend.messengerId)).toEqual(['The gift is being activated. This takes a few seconds.']);
});

test('the code waits for the registration of a new person, then the gift is theirs', async () => {
  const [{ code }, messengerId] = [await aCode(app, tariffId), 7_100_000_000 + unique()];
  await follow(messengerId, `gift-${code}`);
  await runDue(messengerId);
  expect(await runDue(messengerId)).toBe(0);
  for (let minute = 0; minute < 5; minute++) {
    t.clock.advance(MINUTE_MS);
    await runDue(messengerId);
  }
  expect(await messagesTo(app, messengerId)).toEqual([expect.stringContaining('sign in to the cabinet')]);
  const person = { messengerId, username: null, firstName: 'Friend', lastName: null, language: 'en' };
  const { user } = await signInAsMessengerUser(app, person, { referralCode: null });
  t.clock.advance(10 * MINUTE_MS);
  expect(await runDue(messengerId)).toBe(1);
  expect(await giftOf(app, code)).toMatchObject({ userId: user.id, grantedAt: app.clock.now() });
  expect(await waiting(messengerId)).toEqual([]);
});

test('after three days the code is no longer waited with', async () => {
  const [{ code }, messengerId] = [await aCode(app, tariffId), 7_200_000_000 + unique()];
  await follow(messengerId, `GIFT_${code}`);
  await runDue(messengerId);
  t.clock.advance(3 * DAY_MS + MINUTE_MS);
  await runDue(messengerId);
  expect(await waiting(messengerId)).toEqual([]);
  expect((await giftOf(app, code)).status).toBe('paid');
});

test('a gift of somebody else is refused with a message', async () => {
  const [{ code }, first, second] = [await aCode(app, tariffId), await aUser(app), await aUser(app, { language: 'en' })];
  await follow(first.messengerId, `GIFT_${code}`);
  await runDue(first.messengerId);
  await follow(second.messengerId, `GIFT_${code}`);
  await runDue(second.messengerId);
  expect(await messagesTo(app, second.messengerId)).toEqual(['This gift cannot be activated.']);
});

test('other starts, short codes and groups are ignored', async () => {
  const friend = await aUser(app);
  for (const parameter of ['webauth_abcdefgh', 'GIFT_short', 'GIFT_', 'xGIFT_abcdefghij', 'GIFT_%%%%%%%%%%']) {
    await follow(friend.messengerId, parameter);
  }
  await follow(friend.messengerId, 'GIFT_abcdefghijkl', -100_123);
  expect(await waiting(friend.messengerId)).toEqual([]);
});
