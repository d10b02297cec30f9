import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { addDays, addMs, HOUR_MS, MINUTE_MS } from '../../../src/core/clock.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { pushSubscription } from '../../../src/domain/provisioning/push-subscription.ts';
import { activateGift } from '../../../src/domain/storefront/gifts/activate-gift.ts';
import {
  listPendingGifts,
  listReceivedGifts,
  listSentGifts,
  readSentGift,
} from '../../../src/domain/storefront/gifts/gift-config.ts';
import { linkRecipient } from '../../../src/domain/storefront/gifts/repo.ts';
import { deliverWaiting, fulfilPurchase } from '../../../src/domain/storefront/purchases/fulfil-purchase.ts';
import { watchPurchases } from '../../../src/domain/storefront/purchases/watch-purchases.ts';
import { aUser, unique } from '../../support/builders.ts';
import {
  aCode,
  activate,
  aGiftTariff,
  anOrder,
  buy,
  giftOf,
  giftsAreOn,
  messagesTo,
  moneyOf,
  toEmail,
  toName,
} from '../../support/gift-samples.ts';
import { aName, anEmail, panelAnswers, subscriptionOf } from '../../support/purchase-samples.ts';
import { whileRefused } from '../../support/refused-writes.ts';
import { aBuyer, aStoredSubscription, rowOf } from '../../support/sale-samples.ts';
import { storeRows } from '../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
let app: App;
let tariffId: number;
beforeEach(async () => {
  t = await testApp();
  app = t.app;
  await giftsAreOn(app);
  // The job reads all purchases, ten at a time.
  await app.db.sql('DELETE FROM guest_purchases');
  tariffId = await aGiftTariff(app, { name: 'Family' });
});
const aFriend = async (fields: { email?: string } = {}) => {
  const user = await aUser(app, { language: 'en', ...fields });
  return { ...user, actor: { kind: 'user', userId: user.id } as const };
};
const refusal = (text: string, status = 400) => expect.objectContaining({ status, detail: text });
const notFound = refusal('Gift not found', 404);

/** A gift for a recipient who has a subscription: it waits for consent. */
async function aWaitingGift() {
  const email = anEmail();
  const [buyer, friend] = [await aBuyer(app, 100_000), await aFriend({ email })];
  await aStoredSubscription(app, friend.id);
  const { code } = await buy(app, buyer, anOrder(tariffId, { ...toEmail(email), giftMessage: 'Enjoy' }));
  const { id } = await giftOf(app, code);
  await fulfilPurchase(app, { purchaseId: id });
  return { buyer, friend, code, id };
}

test('spec 10 X5: who received a gift does not count as somebody who has paid', async () => {
  const hasPaid = (userId: number) =>
    rowOf(app, 'SELECT has_had_paid_subscription AS paid FROM users WHERE id = $1::int', [userId]);
  const [{ code }, friend] = [await aCode(app, tariffId), await aFriend()];
  await activate(app, friend.actor, code);
  expect(await subscriptionOf(app, friend.id)).toMatchObject({ tariffId, status: 'active' });
  expect(await hasPaid(friend.id)).toEqual({ paid: false });
  const { friend: another, code: directed } = await aWaitingGift();
  await activate(app, another.actor, directed);
  expect(await hasPaid(another.id)).toEqual({ paid: false });
});

describe('a code', () => {
  test('gives its tariff to who enters it, is delivered with the panel’s link, and costs the recipient nothing', async () => {
    const [{ buyer, code, id }, friend] = [await aCode(app, tariffId), await aFriend()];
    expect(await activate(app, friend.actor, ` gIfT-${code}\n`)).toEqual({ tariffName: 'Family', periodDays: 30 });
    expect(await giftOf(app, code)).toMatchObject({
      userId: friend.id,
      status: 'pending_activation',
      grantedAt: app.clock.now(),
    });
    expect(await subscriptionOf(app, friend.id)).toMatchObject({
      tariffId,
      endDate: addDays(app.clock.now(), 30),
      deviceLimit: 3,
    });
    await panelAnswers(app, id);
    expect((await giftOf(app, code)).status).toBe('delivered');
    expect(await activate(app, friend.actor, code)).toEqual({ tariffName: 'Family', periodDays: 30 });
    expect(await moneyOf(app, friend.actor)).toEqual({ rows: [], balance: 0 });
    expect((await moneyOf(app, buyer)).rows).toHaveLength(1);
    // Neither is notified: the caller sees the answer, the buyer the list.
    expect(await messagesTo(app, friend.messengerId)).toEqual([]);
    const [{ username }] = (await app.db.sql<{ username: string }>('SELECT username FROM users WHERE id = $1::int', [
      friend.id,
    ])) as [{ username: string }];
    expect(await listSentGifts(app, buyer)).toMatchObject([
      { code, status: 'delivered', activatedBy: `@${username}`, deviceLimit: 3 },
    ]);
    expect(await listReceivedGifts(app, friend.actor)).toMatchObject([{ code, status: 'delivered' }]);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('replaces the own subscription entirely', async () => {
    const [{ code }, friend] = [await aCode(app, tariffId), await aFriend()];
    await aStoredSubscription(app, friend.id, { end_date: addDays(app.clock.now(), 200) });
    await activate(app, friend.actor, code);
    expect(await subscriptionOf(app, friend.id)).toMatchObject({ tariffId, endDate: addDays(app.clock.now(), 30) });
  });

  test('is taken once: afterwards it is unknown to others', async () => {
    const [{ code }, friend, other] = [await aCode(app, tariffId), await aFriend(), await aFriend()];
    await activate(app, friend.actor, code);
    await expect(activate(app, other.actor, code)).rejects.toEqual(notFound);
    expect(await subscriptionOf(app, other.id)).toBeNull();
  });

  test('is not for its own buyer', async () => {
    const { buyer, code } = await aCode(app, tariffId);
    await expect(activate(app, buyer, code)).rejects.toEqual(refusal('Cannot activate your own gift'));
    expect((await giftOf(app, code)).status).toBe('paid');
  });

  test('spec 03 H2: wildcards, shorter beginnings, longer texts and another case find nothing', async () => {
    const [{ code, id }, friend] = [await aCode(app, tariffId), await aFriend()];
    const { token } = await giftOf(app, code);
    const swapped = [...code].map((c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase())).join('');
    const otherEnd = `${code.slice(0, 12)}${code[12] === 'A' ? 'B' : 'A'}`;
    // A code can end in an underscore itself.
    const oneLetter = code[11] === '_' ? '%' : '_';
    const begun = [`${code.slice(0, 11)}${oneLetter}`, `${code.slice(0, 12)}%`];
    const wildcards = ['________', '%%%%%%%%', '_'.repeat(22), '%'.repeat(22), ...begun];
    const texts = [
      ...wildcards,
      otherEnd,
      code.slice(0, 11),
      `${code.slice(0, 12)}~`,
      `${token.slice(0, 63)}.`,
      `${token}x`,
      swapped,
    ];
    for (const text of texts) {
      await expect(activate(app, friend.actor, text)).rejects.toEqual(notFound);
      await app.db.sql('DELETE FROM rate_limit_windows');
    }
    await expect(activate(app, friend.actor, 'GIFT-1234567')).rejects.toEqual(refusal('Code too short'));
    expect((await giftOf(app, code)).id).toBe(id);
    expect((await giftOf(app, code)).userId).toBeNull();
  });

  test.each([
    ['GIFT-', 12],
    ['gift_', 12],
    ['', 12],
    ['Gift_', 13],
    ['', 21],
    ['GIFT-', 64],
  ])('spec 10 U1: is entered as %s and the first %i characters, as clients share it', async (prefix, length) => {
    const [{ buyer, code, id }, friend] = [await aCode(app, tariffId), await aFriend()];
    const shared = `${prefix}${(await giftOf(app, code)).token.slice(0, length)}`;
    expect(await readSentGift(app, buyer, shared)).toMatchObject({ status: 'paid', code });
    await expect(readSentGift(app, friend.actor, shared)).rejects.toMatchObject({ status: 404 });
    await activate(app, friend.actor, shared);
    expect(await giftOf(app, code)).toMatchObject({ id, userId: friend.id });
  });

  test('spec 10 U1: its first 12 characters are of one purchase: a token that repeats them is made again', async () => {
    const { code } = await aCode(app, tariffId);
    const { token } = await giftOf(app, code);
    const taken = Buffer.from(token, 'base64url');
    const [likeTaken, likePrefix] = [
      Buffer.concat([taken.subarray(0, 9), Buffer.alloc(39)]),
      Buffer.from(`gift_${token.slice(5)}`, 'base64url'),
    ];
    const drawn = [likeTaken, likePrefix];
    const random = { ...app.random, bytes: (length: number) => (length === 48 && drawn.shift()) || app.random.bytes(length) };
    const second = await aCode({ ...app, random }, tariffId);
    expect([drawn, second.code.slice(0, 12) === token.slice(0, 12), /^gift_/i.test(second.code)]).toEqual([[], false, false]);
    // Two that were made at the same time: the second is refused.
    await expect(
      app.db.sql('UPDATE guest_purchases SET token = $2::text, code = left($2::text, 22) WHERE id = $1::int RETURNING id', [
        second.id,
        likeTaken.toString('base64url'),
      ]),
    ).rejects.toThrow('guest_purchases_token_head');
  });

  test('that is unpaid, failed or expired cannot be activated', async () => {
    const [{ code, id }, friend] = [await aCode(app, tariffId), await aFriend()];
    const refused = refusal('This gift cannot be activated');
    await app.db.sql("UPDATE guest_purchases SET status = 'failed' WHERE id = $1::int RETURNING id", [id]);
    await expect(activate(app, friend.actor, code)).rejects.toEqual(refused);
    for (const status of ['pending', 'expired']) {
      await app.db.sql('UPDATE guest_purchases SET status = $2, paid_at = NULL WHERE id = $1::int RETURNING id', [id, status]);
      await expect(activate(app, friend.actor, code)).rejects.toEqual(refused);
    }
  });

  test('whose tariff is no longer sold fails, for an administrator to refund', async () => {
    const [{ code }, friend] = [await aCode(app, tariffId), await aFriend()];
    await app.db.sql("UPDATE tariffs SET period_prices = '{}' WHERE id = $1::int RETURNING id", [tariffId]);
    await expect(activate(app, friend.actor, code)).rejects.toEqual(refusal('Tariff not found', 500));
    expect(await giftOf(app, code)).toMatchObject({ status: 'failed', lastError: 'tariff_unavailable' });
  });

  test('is repeated by the job when the activation fails half way', async () => {
    const [{ code }, friend] = [await aCode(app, tariffId), await aFriend()];
    const failed = refusal('Activation failed, please try again', 500);
    await whileRefused(app, 'subscriptions', () => expect(activate(app, friend.actor, code)).rejects.toEqual(failed));
    expect(await giftOf(app, code)).toMatchObject({ userId: friend.id, status: 'pending_activation', grantedAt: null });
    t.clock.advance(6 * MINUTE_MS);
    await watchPurchases(app);
    expect((await giftOf(app, code)).grantedAt).toEqual(app.clock.now());
    expect(await subscriptionOf(app, friend.id)).toMatchObject({ tariffId });
  });

  test('a repeat with the same key gets the first answer and is no attempt', async () => {
    const [{ code }, friend] = [await aCode(app, tariffId), await aFriend()];
    const caller = { idempotencyKey: `claim-${unique()}`, ip: null };
    const first = await activateGift(app, friend.actor, { code }, caller);
    for (let call = 0; call < 12; call++) expect(await activateGift(app, friend.actor, { code }, caller)).toEqual(first);
    await expect(activateGift(app, friend.actor, { code: `${code}x` }, caller)).rejects.toMatchObject({ status: 422 });
  });
});

describe('a gift with a recipient', () => {
  test('waits for consent, is listed, and is activated by its recipient alone', async () => {
    const [{ buyer, friend, code, id }, stranger] = [await aWaitingGift(), await aFriend()];
    const [pending] = await listPendingGifts(app, friend.actor);
    expect(pending).toMatchObject({
      code,
      tariffName: 'Family',
      periodDays: 30,
      giftMessage: 'Enjoy',
      sender: expect.stringMatching(/^@/),
    });
    expect(await listPendingGifts(app, stranger.actor)).toEqual([]);
    await expect(activate(app, stranger.actor, code)).rejects.toEqual(notFound);
    await activate(app, friend.actor, code);
    expect(await listPendingGifts(app, friend.actor)).toEqual([]);
    await panelAnswers(app, id);
    expect((await listSentGifts(app, buyer))[0]).toMatchObject({ status: 'delivered' });
  });

  test('spec 03 H2: before it is given, its code is of no use to others', async () => {
    const [buyer, friend, stranger] = [await aBuyer(app, 100_000), await aFriend({ email: anEmail() }), await aFriend()];
    const [{ email }] = (await app.db.sql<{ email: string }>('SELECT email FROM users WHERE id = $1::int', [friend.id])) as [
      { email: string },
    ];
    const { code } = await buy(app, buyer, anOrder(tariffId, toEmail(email)));
    await expect(activate(app, stranger.actor, code)).rejects.toEqual(notFound);
    await activate(app, friend.actor, code);
    expect(await subscriptionOf(app, friend.id)).toMatchObject({ tariffId });
    // The job that was to give it finds it done.
    await fulfilPurchase(app, { purchaseId: (await giftOf(app, code)).id });
    expect((await giftOf(app, code)).grantedAt).toEqual(app.clock.now());
  });

  test('spec 03 H2: not linked to an account, it is of no use to others, by whatever contact it was addressed', async () => {
    for (const recipient of [toEmail(anEmail()), toName(aName())]) {
      const [buyer, stranger] = [await aBuyer(app, 100_000), await aFriend()];
      const { code } = await buy(app, buyer, anOrder(tariffId, recipient));
      const { id } = await giftOf(app, code);
      // As after the deletion of the recipient's account.
      await app.db.sql('UPDATE guest_purchases SET user_id = NULL WHERE id = $1::int RETURNING id', [id]);
      await expect(activate(app, stranger.actor, code)).rejects.toEqual(notFound);
      // Whatever the rules above it decide, the statement that links does not take it either.
      expect(await linkRecipient(app.db, id, stranger.id, app.clock.now(), app.clock.now())).toBe(false);
      expect(await giftOf(app, code)).toMatchObject({ userId: null, status: 'paid', grantedAt: null });
      expect(await subscriptionOf(app, stranger.id)).toBeNull();
    }
  });

  test('spec 03 H22: its code is not its token, and the token is in no answer', async () => {
    const { buyer, friend, code } = await aWaitingGift();
    const { token } = await giftOf(app, code);
    const answers = JSON.stringify([
      await listPendingGifts(app, friend.actor),
      await listSentGifts(app, buyer),
      await listReceivedGifts(app, friend.actor),
      await readSentGift(app, buyer, token),
    ]);
    expect(answers).not.toContain(token);
    expect(answers).not.toContain(token.slice(0, 23));
  });
});

describe('tries', () => {
  test('are ten a minute for a user', async () => {
    const friend = await aFriend();
    for (let call = 0; call < 10; call++)
      await expect(activate(app, friend.actor, 'short')).rejects.toMatchObject({ status: 400 });
    const refused = await activate(app, friend.actor, 'short').catch((error) => error);
    expect(refused).toMatchObject({ status: 429, detail: 'Too many requests', headers: { 'Retry-After': expect.any(String) } });
    t.clock.advance(MINUTE_MS);
    await expect(activate(app, friend.actor, 'short')).rejects.toMatchObject({ status: 400 });
  });

  test('with unknown codes block the user until the window ends, and a known code then too', async () => {
    const [{ code }, friend] = [await aCode(app, tariffId), await aFriend()];
    t.clock.set(new Date(Math.ceil(app.clock.now().getTime() / HOUR_MS) * HOUR_MS));
    for (let call = 0; call < 20; call++) {
      if (call === 10) t.clock.advance(MINUTE_MS);
      await expect(activate(app, friend.actor, `unknown-code-${call}`)).rejects.toEqual(notFound);
    }
    t.clock.advance(MINUTE_MS);
    await expect(activate(app, friend.actor, code)).rejects.toMatchObject({ status: 429 });
    t.clock.set(addMs(app.clock.now(), HOUR_MS));
    await activate(app, friend.actor, code);
  });

  test('with unknown codes block their address, whoever tries', async () => {
    t.clock.set(new Date(Math.ceil(app.clock.now().getTime() / HOUR_MS) * HOUR_MS + HOUR_MS));
    const caller = { idempotencyKey: null, ip: `198.51.100.${unique() % 250}` };
    for (let user = 0; user < 10; user++) {
      const guesser = await aFriend();
      for (let call = 0; call < 10; call++) {
        await expect(activateGift(app, guesser.actor, { code: `unknown-${call}` }, caller)).rejects.toEqual(notFound);
      }
    }
    const late = await aFriend();
    await expect(activateGift(app, late.actor, { code: 'unknown-code' }, caller)).rejects.toMatchObject({ status: 429 });
    await expect(activate(app, late.actor, 'unknown-code')).rejects.toEqual(notFound);
  });
});

test('08 P14: the activation waits for its push, outside of any transaction, and then counts as delivered', async () => {
  const waiting: App = { ...app, env: { ...app.env, provisionAnswerWaitMs: 60_000 } };
  const [{ code }, friend] = [await aCode(app, tariffId), await aFriend()];
  const activation = activate(waiting, friend.actor, code);
  // The worker's part: as soon as the subscription is committed, its push.
  const pushed = async (): Promise<void> => {
    const subscription = await subscriptionOf(app, friend.id);
    if (!subscription) return nextTurn().then(pushed);
    await pushSubscription(app, subscription.id);
    await deliverWaiting(app, { subscriptionId: subscription.id });
  };
  await Promise.all([activation, pushed()]);
  expect((await giftOf(app, code)).status).toBe('delivered');
});

describe('the state of a gift', () => {
  test('is shown to its buyer by code or token, to nobody else', async () => {
    const [{ buyer, code }, stranger] = [await aCode(app, tariffId), await aFriend()];
    const { token } = await giftOf(app, code);
    const expected = {
      status: 'paid',
      giftMessage: null,
      periodDays: 30,
      recipientWarning: null,
      tariffName: 'Family',
      isCodeOnly: true,
      code,
      recipient: null,
    };
    expect(await readSentGift(app, buyer, code)).toEqual(expected);
    expect(await readSentGift(app, buyer, token)).toEqual(expected);
    for (const text of [code.slice(0, 11), `${code}~`, '%'.repeat(22), '']) {
      await expect(readSentGift(app, buyer, text)).rejects.toMatchObject({ status: 404, detail: 'Purchase not found' });
    }
    await expect(readSentGift(app, stranger.actor, token)).rejects.toMatchObject({ status: 404 });
  });

  test('of a directed gift names its recipient and shows no code', async () => {
    const { buyer, code } = await aWaitingGift();
    expect(await readSentGift(app, buyer, code)).toMatchObject({
      isCodeOnly: false,
      code: null,
      status: 'pending_activation',
      recipient: expect.stringContaining('@example.com'),
    });
  });
});

test('lists have at most 100 gifts, newest first, and 1 device without a tariff', async () => {
  const { buyer, code } = await aCode(app, tariffId);
  const expired = { isGift: true, periodDays: 30, amountKopeks: 100, status: 'expired' } as const;
  const byMessenger = { source: 'cabinet', contactType: 'messenger', contactValue: '@buyer' } as const;
  const old = Array.from({ length: 105 }, (_, n) => ({
    ...byMessenger,
    token: `old-gift-${n}`.padEnd(64, '-'),
    code: `old-gift-${n}`.padEnd(22, '-'),
    buyerUserId: buyer.userId,
    ...expired,
    createdAt: new Date(app.clock.now().getTime() - (n + 1) * 60_000),
    updatedAt: app.clock.now(),
  }));
  await storeRows(app, 'GuestPurchase', old);
  const sent = await listSentGifts(app, buyer);
  expect(sent).toHaveLength(100);
  expect(sent[0]).toMatchObject({ code, deviceLimit: 3 });
  expect(sent[1]).toMatchObject({ deviceLimit: 1, tariffName: null, activatedBy: null });
});
