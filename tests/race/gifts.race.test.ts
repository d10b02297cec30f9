import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { UserActor } from '../../src/core/actor.ts';
import type { App } from '../../src/core/app.ts';
import { checkLedger } from '../../src/domain/ledger/check-ledger.ts';
import { receiveStarsUpdate } from '../../src/domain/payments/credit-stars.ts';
import { processCallback } from '../../src/domain/payments/process-callback.ts';
import { activateGift } from '../../src/domain/storefront/gifts/activate-gift.ts';
import { buyGift } from '../../src/domain/storefront/gifts/buy-gift.ts';
import { giftStars } from '../../src/domain/storefront/gifts/gift-stars.ts';
import { refundGift } from '../../src/domain/storefront/gifts/refund-gift.ts';
import { fulfilPurchase } from '../../src/domain/storefront/purchases/fulfil-purchase.ts';
import { guestPurchases } from '../../src/domain/storefront/purchases/purpose.ts';
import { watchPurchases } from '../../src/domain/storefront/purchases/watch-purchases.ts';
import { aUser, unique } from '../support/builders.ts';
import {
  aCode,
  activate,
  aGiftTariff,
  anOrder,
  buy,
  fulfilments,
  giftOf,
  giftsAreOn,
  moneyOf,
  offerFacts,
  toEmail,
  toName,
} from '../support/gift-samples.ts';
import { count, detailOf, refusals, settled, times, won } from '../support/parallel.ts';
import { callback, callbackJobs, paymentMethodIsListed } from '../support/payment-samples.ts';
import { aName, anEmail, subscriptionOf } from '../support/purchase-samples.ts';
import { aBuyer, anOffer } from '../support/sale-samples.ts';
import { ScriptedProvider, withProvider } from '../support/scripted-provider.ts';
import { testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';

let app: App;
let tariffId: number;
const provider = new ScriptedProvider();
beforeAll(async () => {
  if (!serverUrl) throw new Error('Races need a PostgreSQL server: set TEST_DATABASE_URL');
  app = await withProvider((await testApp()).app, provider);
  await giftsAreOn(app);
  tariffId = await aGiftTariff(app);
});
beforeEach(async () => {
  await app.db.sql('DELETE FROM guest_purchases');
  await app.db.sql('DELETE FROM rate_limit_windows');
});

const aFriend = async (): Promise<UserActor> => ({ kind: 'user', userId: (await aUser(app)).id });
const operator = { kind: 'system', name: 'command line' } as const;
const NOT_FOUND = 'Gift not found';

describe('claims', () => {
  test('twenty users enter one code at once: exactly one gets it', async () => {
    for (let round = 0; round < 3; round++) {
      const { code } = await aCode(app, tariffId);
      const friends = await times(20, aFriend);
      const results = await Promise.allSettled(friends.map((friend) => activate(app, friend, code)));
      expect(won(results)).toHaveLength(1);
      expect(refusals(results)).toEqual(Array(19).fill(NOT_FOUND));
      const subscriptions = await Promise.all(friends.map(({ userId }) => subscriptionOf(app, userId)));
      const served = subscriptions.flatMap((subscription, index) => (subscription ? [friends[index]!.userId] : []));
      expect(served).toEqual([(await giftOf(app, code)).userId]);
    }
  });

  test('one user enters a code ten times at once, with and without a key: it is given once', async () => {
    const [{ code }, friend] = [await aCode(app, tariffId), await aFriend()];
    const key = `claim-${unique()}`;
    const results = await settled(10, (index) =>
      activateGift(app, friend, { code }, { idempotencyKey: index % 2 === 0 ? key : null, ip: null }),
    );
    for (const refusal of refusals(results)) expect(refusal).toBe('A request with this Idempotency-Key is still being processed');
    expect(won(results).length).toBeGreaterThanOrEqual(5);
    const events = await app.db.sql("SELECT id FROM subscription_events WHERE user_id = $1::int AND event_type = 'purchase'", [
      friend.userId,
    ]);
    expect(events).toHaveLength(1);
  });

  test('a claim, the job that gives it and a sweep at once: a directed gift is given once', async () => {
    for (let round = 0; round < 3; round++) {
      const email = anEmail();
      const [buyer, friend] = [await aBuyer(app, 30_000), await aUser(app, { email })];
      const { code } = await buy(app, buyer, anOrder(tariffId, toEmail(email)));
      const { id } = await giftOf(app, code);
      const actor = { kind: 'user', userId: friend.id } as const;
      const results = await Promise.allSettled([
        activate(app, actor, code),
        ...Array.from({ length: 4 }, () => fulfilPurchase(app, { purchaseId: id })),
        watchPurchases(app),
      ]);
      expect(refusals(results)).toEqual([]);
      const events = await app.db.sql("SELECT id FROM subscription_events WHERE user_id = $1::int AND event_type = 'purchase'", [
        friend.id,
      ]);
      expect(events).toHaveLength(1);
    }
  });

  test('claims and a refund at once: one side wins, and money and subscription are never both given', async () => {
    const outcomes: string[] = [];
    for (let round = 0; round < 12; round++) {
      const { buyer, code, id } = await aCode(app, tariffId);
      const friends = await times(4, aFriend);
      const claims = friends.map((friend) => detailOf(activate(app, friend, code)));
      const refund = detailOf(refundGift(app, operator, id, 'race'));
      const ended = await Promise.all([...(round % 2 === 0 ? [refund, ...claims] : [...claims, refund])]);
      expect(count(ended, 'done')).toBe(1);
      const gift = await giftOf(app, code);
      const { balance } = await moneyOf(app, buyer);
      const served = (await Promise.all(friends.map(({ userId }) => subscriptionOf(app, userId)))).filter(Boolean).length;
      expect([gift.refundTransactionId !== null, balance, served]).toEqual(
        (await refund) === 'done' ? [true, 100_000, 0] : [false, 70_000, 1],
      );
      outcomes.push((await refund) === 'done' ? 'refund' : 'claim');
    }
    expect(await checkLedger(app)).toEqual([]);
    expect(outcomes).toHaveLength(12);
  });

  test('ten refunds at once: the money goes back once', async () => {
    const { buyer, id } = await aCode(app, tariffId);
    const results = await settled(10, () => refundGift(app, operator, id, 'race'));
    expect(won(results)).toHaveLength(1);
    expect(refusals(results)).toEqual(Array(9).fill('This gift has been refunded already'));
    expect((await moneyOf(app, buyer)).balance).toBe(100_000);
  });

  test('a refund and the job that gives a directed gift at once: only one of them', async () => {
    for (let round = 0; round < 8; round++) {
      const email = anEmail();
      const [buyer, friend] = [await aBuyer(app, 30_000), await aUser(app, { email })];
      const { code } = await buy(app, buyer, anOrder(tariffId, toEmail(email)));
      const { id } = await giftOf(app, code);
      const [refund] = await Promise.all([
        detailOf(refundGift(app, operator, id, 'race')),
        fulfilPurchase(app, { purchaseId: id }),
      ]);
      const hasSubscription = (await subscriptionOf(app, friend.id)) !== null;
      expect([refund === 'done', hasSubscription]).toEqual(refund === 'done' ? [true, false] : [false, true]);
      expect((await moneyOf(app, buyer)).balance).toBe(refund === 'done' ? 30_000 : 0);
    }
  });
});

describe('purchases', () => {
  test('five at once for the money of two: two are bought, the balance is never below zero', async () => {
    const buyer = await aBuyer(app, 70_000);
    const results = await settled(5, () => buy(app, buyer, anOrder(tariffId)));
    expect(won(results)).toHaveLength(2);
    expect(refusals(results)).toEqual(Array(3).fill('Insufficient balance'));
    expect(await moneyOf(app, buyer)).toMatchObject({ rows: [{}, {}], balance: 10_000 });
    expect(await app.db.sql('SELECT id FROM guest_purchases WHERE buyer_user_id = $1::int', [buyer.userId])).toHaveLength(2);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('the sixth of ten at once is too many', async () => {
    const buyer = await aBuyer(app, 1_000_000);
    const results = await settled(10, () => buy(app, buyer, anOrder(tariffId)));
    expect(won(results)).toHaveLength(5);
    expect(refusals(results)).toEqual(Array(5).fill('Too many requests'));
    expect((await moneyOf(app, buyer)).balance).toBe(850_000);
  });

  test('one key at once buys once', async () => {
    const [buyer, idempotencyKey] = [await aBuyer(app, 1_000_000), `gift-${unique()}`];
    const results = await settled(5, () => buyGift(app, buyer, anOrder(tariffId), { idempotencyKey, ip: null }));
    expect(new Set(won(results).map(({ code }) => code)).size).toBe(1);
    expect(won(results)).toHaveLength(5);
    expect((await moneyOf(app, buyer)).balance).toBe(970_000);
  });

  test('one personal discount lowers one of several gifts that are paid at once', async () => {
    const buyer = await aBuyer(app, 100_000);
    await anOffer(app, buyer.userId, 50);
    const bought = await times(3, () => buy(app, buyer, anOrder(tariffId)));
    const prices = (await Promise.all(bought.map(({ code }) => giftOf(app, code)))).map(({ amountKopeks }) => amountKopeks);
    expect(prices.sort((a, b) => a - b)).toEqual([15_000, 30_000, 30_000]);
    expect(await offerFacts(app, buyer)).toMatchObject({ percent: 0, logs: [{ percent: 50 }] });
    expect((await moneyOf(app, buyer)).balance).toBe(25_000);
  });

  test('spec 10 M3: open invoices that are paid on two instances, and purchases from the balance: the discount is used once', async () => {
    const other = await withProvider((await testApp()).app, provider);
    for (let round = 0; round < 4; round++) {
      const buyer = await aBuyer(app, 60_000);
      await anOffer(app, buyer.userId, 50);
      const invoices = await times(3, () => buy(app, buyer, anOrder(tariffId, { paymentMethod: 'sandbox' })));
      const jobs: number[] = [];
      for (const { code } of invoices) {
        const { paymentId } = await giftOf(app, code);
        const [row] = await app.db.sql<{ externalId: string }>('SELECT external_id FROM payments WHERE id = $1::int', [
          paymentId,
        ]);
        provider.set(row!.externalId, 'paid');
        await times(2, () => callback(app, row!.externalId));
        jobs.push(...(await callbackJobs(app, row!.externalId)));
      }
      await Promise.all([
        ...jobs.map((callbackId, index) => processCallback(index % 2 === 0 ? app : other, { callbackId }, [], [guestPurchases])),
        buy(app, buyer, anOrder(tariffId)),
        buy(other, buyer, anOrder(tariffId)),
      ]);
      const gifts = await app.db.sql<{ amountKopeks: number; status: string }>(
        'SELECT amount_kopeks, status FROM guest_purchases WHERE buyer_user_id = $1::int',
        [buyer.userId],
      );
      const cheap = gifts.filter(({ status, amountKopeks }) => status === 'paid' && amountKopeks === 15_000);
      expect(cheap).toHaveLength(1);
      const spent = gifts.filter(({ status }) => status === 'paid').reduce((sum, { amountKopeks }) => sum + amountKopeks, 0);
      expect((await moneyOf(app, buyer)).balance + spent).toBe(60_000 + 3 * 15_000);
      expect(await offerFacts(app, buyer)).toMatchObject({ percent: 0, logs: [{ percent: 50 }] });
    }
    expect(await checkLedger(app)).toEqual([]);
  });

  test('two users give to each other, and many to one new person, at once: one account, no deadlock ends a purchase', async () => {
    const people = await times(4, async () => {
      const email = anEmail();
      const user = await aUser(app, { email });
      await app.db.sql('SELECT post_transaction($1::int, $2, 100000, $3, $4, $5, NULL, $6, now())', [
        user.id,
        ...['deposit', 'provider_clearing', 'provider:test', 'test', 'top-up'],
      ]);
      return { email, actor: { kind: 'user', userId: user.id } as const };
    });
    const [name, address] = [aName(), anEmail()];
    const results = await Promise.allSettled([
      ...people.map(({ actor }, index) => buy(app, actor, anOrder(tariffId, toEmail(people[(index + 1) % 4]!.email)))),
      ...people.map(({ actor }) => buy(app, actor, anOrder(tariffId, toName(name)))),
      ...people.map(({ actor }) => buy(app, actor, anOrder(tariffId, toEmail(address)))),
    ]);
    expect(refusals(results)).toEqual([]);
    for (const sql of ['SELECT id FROM users WHERE username = $1', 'SELECT id FROM users WHERE email = $1']) {
      expect(await app.db.sql(sql, [sql.includes('username') ? name.slice(1) : address])).toHaveLength(1);
    }
    for (const { actor } of people) expect((await moneyOf(app, actor)).balance).toBe(10_000);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('twenty callbacks of one invoice and a sweep at once: paid once, one revenue row, one job', async () => {
    const [buyer, email] = [await aBuyer(app), anEmail()];
    const { code } = await buy(app, buyer, anOrder(tariffId, { paymentMethod: 'sandbox', ...toEmail(email) }));
    const { id, paymentId } = await giftOf(app, code);
    const [row] = await app.db.sql<{ externalId: string }>('SELECT external_id FROM payments WHERE id = $1::int', [paymentId]);
    provider.set(row!.externalId, 'paid');
    await times(20, () => callback(app, row!.externalId));
    const jobs = await callbackJobs(app, row!.externalId);
    await Promise.all([
      ...jobs.map((callbackId) => processCallback(app, { callbackId }, [], [guestPurchases])),
      watchPurchases(app),
    ]);
    expect((await giftOf(app, code)).status).toBe('paid');
    expect((await moneyOf(app, buyer)).rows).toHaveLength(1);
    expect(await fulfilments(app, id)).toBe(1);
    expect(await app.db.sql('SELECT id FROM users WHERE email = $1', [email])).toHaveLength(1);
    expect(await checkLedger(app)).toEqual([]);
  });
});

test('six people pay one link in Stars at once: one pays the gift, the others have the stars on their balances', async () => {
  const stars = (await testApp()).app;
  await paymentMethodIsListed(app, 'messenger_stars');
  const buyer = await aBuyer(app);
  const { code } = await buy(stars, buyer, anOrder(tariffId, { paymentMethod: 'messenger_stars' }));
  const { paymentId } = await giftOf(app, code);
  const [invoice] = await app.db.sql<{ orderId: string }>('SELECT order_id FROM payments WHERE id = $1::int', [paymentId]);
  const payers = await times(6, () => aUser(app));
  await Promise.all(
    payers.map(async ({ messengerId: payerMessengerId }) => {
      const chargeId = `gift-race-${unique()}`;
      const paid = {
        updateId: unique(),
        kind: 'stars_paid',
        chargeId,
        payerMessengerId,
        payload: invoice!.orderId,
        stars: 231,
      } as const;
      await receiveStarsUpdate(stars, paid, '{}', [giftStars]);
      const [callbackId] = await callbackJobs(stars, chargeId);
      await Promise.all([1, 2].map(() => processCallback(stars, { callbackId: callbackId! }, [giftStars])));
    }),
  );
  expect((await giftOf(app, code)).status).toBe('paid');
  expect((await moneyOf(app, buyer)).rows).toHaveLength(1);
  const balances = await Promise.all(payers.map(async ({ id }) => (await moneyOf(app, { kind: 'user', userId: id })).balance));
  expect(balances.sort((a, b) => a - b)).toEqual([0, ...Array(5).fill(30_030)]);
  expect(await checkLedger(app)).toEqual([]);
});
