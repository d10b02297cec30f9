import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { addDays, DAY_MS, HOUR_MS } from '../../../src/core/clock.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { activatePromocode, deactivateMyDiscount } from '../../../src/domain/promo/codes/activate-promocode.ts';
import { changePromocode, deletePromocode } from '../../../src/domain/promo/codes/promocodes.ts';
import {
  aDiscountCode,
  aGroup,
  anEndlessDiscountCode,
  aPromocode,
  aRedeemer,
  discountOf,
  groupsOf,
  redemptionCounts,
} from '../../support/promocode-samples.ts';
import { whileRefused } from '../../support/refused-writes.ts';
import { aServer, aStoredSubscription, rowOf } from '../../support/sale-samples.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});
beforeEach(() => t.app.db.sql('DELETE FROM rate_limit_windows'));

const activate = (actor: Parameters<typeof activatePromocode>[1], code: string, key: string | null = null) =>
  activatePromocode(t.app, actor, code, key);
const subscriptionOf = (userId: number) =>
  rowOf<{ id: number; endDate: Date }>(t.app, 'SELECT * FROM subscriptions WHERE user_id = $1::int', [userId]);

describe('effects (spec 04 section 7.1)', () => {
  test('balance: a deposit without payment method through the ledger', async () => {
    const [user, code] = [await aRedeemer(t.app), await aPromocode(t.app, { balanceBonusKopeks: 12_345 })];
    const answer = await activate(user, `  ${code.code.toLowerCase()} `);
    expect(answer).toEqual({
      balanceBeforeKopeks: 0,
      balanceAfterKopeks: 12_345,
      bonusDescription: '123.45 ₽ added to your balance',
    });
    expect(await redemptionCounts(t.app, code.id, user.userId)).toEqual({
      uses: 1,
      rows: 1,
      balance: 12_345,
      deposits: 1,
      log: 1,
    });
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test('balance: the same idempotency key gets the first answer, and the money once', async () => {
    const [user, code] = [await aRedeemer(t.app), await aPromocode(t.app)];
    const first = await activate(user, code.code, 'key-1');
    expect(await activate(user, code.code, 'key-1')).toEqual(first);
    expect(await redemptionCounts(t.app, code.id, user.userId)).toMatchObject({ uses: 1, balance: 10_000, deposits: 1 });
  });

  test.each([
    ['active', 5, 12],
    ['expired', -3, 7],
    ['disabled', 5, 12],
    ['limited', 5, 12],
    ['trial', 5, 12],
  ])('days: %s subscription ending in %i days ends in %i', async (status, left, expected) => {
    const [user, code] = [await aRedeemer(t.app), await aPromocode(t.app, { type: 'subscription_days', subscriptionDays: 7 })];
    const now = t.app.clock.now();
    const isTrial = status === 'trial';
    await aStoredSubscription(t.app, user.userId, { status, is_trial: isTrial, end_date: addDays(now, left) });
    await activate(user, code.code);
    const subscription = await subscriptionOf(user.userId);
    expect(subscription).toMatchObject({ status: 'active', isTrial: false });
    expect(new Date(subscription!.endDate).getTime()).toBe(now.getTime() + expected * DAY_MS);
    expect(await rowOf(t.app, 'SELECT has_had_paid_subscription AS paid FROM users WHERE id = $1::int', [user.userId])).toEqual({
      paid: true,
    });
    const pushes = await t.app.db.sql(
      `SELECT id FROM jobs.job WHERE name = 'provisioning.push' AND data->>'subscriptionId' = $1`,
      [String(subscription!.id)],
    );
    expect(pushes).toHaveLength(1);
  });

  test('trial: starts one for a user without subscription', async () => {
    await aServer(t.app, { is_trial_eligible: true });
    const [user, code] = [await aRedeemer(t.app), await aPromocode(t.app, { type: 'trial_subscription', subscriptionDays: 4 })];
    await activate(user, code.code);
    const subscription = await subscriptionOf(user.userId);
    expect(subscription).toMatchObject({ status: 'active', isTrial: true });
    expect(new Date(subscription!.endDate).getTime()).toBe(t.app.clock.now().getTime() + 4 * DAY_MS);
  });

  test('trial: with a subscription nothing is given, but the use counts', async () => {
    const [user, code] = [await aRedeemer(t.app), await aPromocode(t.app, { type: 'trial_subscription', subscriptionDays: 4 })];
    await aStoredSubscription(t.app, user.userId);
    const before = await subscriptionOf(user.userId);
    expect((await activate(user, code.code)).bonusDescription).toBe('You already have a subscription, no trial was needed');
    expect(await subscriptionOf(user.userId)).toEqual(before);
    expect(await redemptionCounts(t.app, code.id, user.userId)).toMatchObject({ uses: 1, rows: 1 });
  });

  test('discount: percent, source and hours', async () => {
    const [user, code] = [await aRedeemer(t.app), await aDiscountCode(t.app)];
    await activate(user, code.code);
    expect(await discountOf(t.app, user.userId)).toEqual({
      percent: 20,
      source: `promocode:${code.code}`,
      expiresAt: new Date(t.app.clock.now().getTime() + 24 * HOUR_MS),
    });
  });

  test('discount: without hours until the first purchase', async () => {
    const [other, open] = [await aRedeemer(t.app), await anEndlessDiscountCode(t.app)];
    await activate(other, open.code);
    expect(await discountOf(t.app, other.userId)).toMatchObject({ percent: 20, expiresAt: null });
  });

  test('any type: the group of the code becomes the primary one when it ranks highest', async () => {
    const group = await aGroup(t.app);
    const [user, code] = [await aRedeemer(t.app), await aPromocode(t.app, { type: 'promo_group', promoGroupId: group })];
    await activate(user, code.code);
    expect(await groupsOf(t.app, user.userId)).toEqual({ primary: group, members: [{ id: group, by: 'promocode' }] });
  });
});

describe('refusals, in the documented order (spec 04 section 7.2)', () => {
  const detailOf = (promise: Promise<unknown>) =>
    promise.then(
      () => 'given',
      (error: { status: number; detail: unknown }) => [error.status, error.detail],
    );

  test('one for each reason', async () => {
    const user = await aRedeemer(t.app);
    const now = t.app.clock.now();
    const nobody = { kind: 'user' as const, userId: 2_000_000_000 };
    expect(await detailOf(activate(nobody, 'X'))).toEqual([400, 'User not found']);
    expect(await detailOf(activate(user, 'NO-SUCH-CODE'))).toEqual([400, 'Promo code not found']);
    for (const fields of [
      { isActive: false },
      { validFrom: addDays(now, 1) },
      { validFrom: addDays(now, -2), validUntil: addDays(now, -1) },
    ]) {
      const code = await aPromocode(t.app, fields);
      expect(await detailOf(activate(user, code.code))).toEqual([400, 'Promo code has expired']);
    }
    const spent = await aPromocode(t.app);
    await activate(await aRedeemer(t.app), spent.code);
    expect(await detailOf(activate(user, spent.code))).toEqual([400, 'Promo code has been fully used']);
    const twice = await aPromocode(t.app, { maxUses: 0 });
    await activate(user, twice.code);
    expect(await detailOf(activate(user, twice.code))).toEqual([400, 'You have already used this promo code']);
    const days = await aPromocode(t.app, { type: 'subscription_days', subscriptionDays: 7 });
    expect(await detailOf(activate(user, days.code))).toEqual([
      400,
      'This promo code requires an active or expired subscription',
    ]);
    const first = await aPromocode(t.app, { firstPurchaseOnly: true });
    await t.app.db.sql('UPDATE users SET has_had_paid_subscription = true WHERE id = $1::int RETURNING id', [user.userId]);
    expect(await detailOf(activate(user, first.code))).toEqual([400, 'This promo code is only available for first purchase']);
    const [one, two] = [await aDiscountCode(t.app), await aDiscountCode(t.app)];
    await activate(user, one.code);
    expect(await detailOf(activate(user, two.code))).toEqual([
      400,
      'You already have an active discount. Deactivate it first via /deactivate-discount',
    ]);
    expect((await redemptionCounts(t.app, days.id, user.userId)).uses).toBe(0);
  });

  test('a refusal changes nothing', async () => {
    const [user, code] = [await aRedeemer(t.app), await aPromocode(t.app, { type: 'subscription_days', subscriptionDays: 7 })];
    await expect(activate(user, code.code)).rejects.toMatchObject({ status: 400 });
    expect(await redemptionCounts(t.app, code.id, user.userId)).toEqual({ uses: 0, rows: 0, balance: 0, deposits: 0, log: 0 });
  });

  test('spec 04 section 7.5, hazard 3: the daily limit counts activations, also deactivated and deleted ones', async () => {
    const user = await aRedeemer(t.app);
    for (let round = 1; round <= 4; round++) {
      const code = await aDiscountCode(t.app);
      await activate(user, code.code);
      await deactivateMyDiscount(t.app, user);
      await deletePromocode(t.app, { kind: 'system', name: 'test' }, code.id);
    }
    await activate(user, (await aPromocode(t.app)).code);
    const sixth = await aPromocode(t.app);
    expect(await detailOf(activate(user, sixth.code))).toEqual([400, 'Too many promo code activations today']);
    t.clock.advance(DAY_MS + 1);
    expect(await detailOf(activate(user, sixth.code))).toBe('given');
  });

  test('spec 04 section 7.5, hazard 4: five unknown codes block the user for the window, also for an existing code', async () => {
    const [user, other, code] = [await aRedeemer(t.app), await aRedeemer(t.app), await aPromocode(t.app, { maxUses: 5 })];
    // At the start of a window, so that the five fall into one.
    t.clock.set(new Date(Math.ceil(t.clock.now().getTime() / 300_000) * 300_000));
    for (let guess = 1; guess <= 5; guess++) {
      expect(await detailOf(activate(user, `GUESS-${guess}`))).toEqual([400, 'Promo code not found']);
    }
    await expect(activate(user, code.code)).rejects.toMatchObject({ status: 429, headers: { 'Retry-After': '300' } });
    expect(await detailOf(activate(other, code.code))).toBe('given');
    t.clock.advance(300_000);
    expect(await detailOf(activate(user, code.code))).toBe('given');
  });
});

describe('a repeated request with the same Idempotency-Key (spec 00, Consistency)', () => {
  const admin = { kind: 'system', name: 'test' } as const;
  const block = async (actor: Parameters<typeof activatePromocode>[1]) => {
    for (let guess = 1; guess <= 5; guess++) await activate(actor, `GUESS-${guess}`).catch(() => undefined);
    await expect(activate(actor, 'GUESS-6')).rejects.toMatchObject({ status: 429 });
  };

  test('gets the first answer although the code has been deleted or renamed since', async () => {
    const [user, gone, renamed] = [await aRedeemer(t.app), await aPromocode(t.app), await aPromocode(t.app)];
    const first = await activate(user, gone.code, 'of-gone');
    const second = await activate(user, renamed.code, 'of-renamed');
    await deletePromocode(t.app, admin, gone.id);
    await changePromocode(t.app, admin, renamed.id, { code: `${renamed.code}-2` });
    expect(await activate(user, gone.code, 'of-gone')).toEqual(first);
    expect(await activate(user, renamed.code, 'of-renamed')).toEqual(second);
    expect(await redemptionCounts(t.app, renamed.id, user.userId)).toMatchObject({
      uses: 1,
      balance: 20_000,
      deposits: 2,
      log: 2,
    });
  });

  test('gets the first answer while guesses are blocked, unlike another request', async () => {
    const [user, code, other] = [await aRedeemer(t.app), await aPromocode(t.app), await aPromocode(t.app)];
    const first = await activate(user, code.code, 'blocked-later');
    await block(user);
    expect(await activate(user, code.code, 'blocked-later')).toEqual(first);
    await expect(activate(user, other.code, 'blocked-later')).rejects.toMatchObject({ status: 422 });
    await expect(activate(user, other.code, 'fresh')).rejects.toMatchObject({ status: 429 });
  });

  test('is one guess, however often it is sent, while another code under that key is another guess', async () => {
    const [user, code] = [await aRedeemer(t.app), await aPromocode(t.app)];
    // At the start of a window, so that all fall into one.
    t.clock.set(new Date(Math.ceil(t.clock.now().getTime() / 300_000) * 300_000));
    const details = await Promise.all(
      Array.from({ length: 8 }, () => activate(user, 'NO-SUCH-CODE', 'guess').catch((error) => error.detail)),
    );
    expect(new Set(details)).toEqual(new Set(['Promo code not found']));
    for (const guess of ['ANOTHER-1', 'ANOTHER-2', 'ANOTHER-3', 'ANOTHER-4']) {
      await expect(activate(user, guess, 'guess')).rejects.toMatchObject({ detail: 'Promo code not found' });
    }
    await expect(activate(user, code.code, 'guess')).rejects.toMatchObject({ status: 429 });
  });

  test('a key that is too long is refused before anything is counted', async () => {
    const user = await aRedeemer(t.app);
    await expect(activate(user, 'NO-SUCH-CODE', 'k'.repeat(256))).rejects.toMatchObject({ status: 422 });
    expect(await t.app.db.sql("SELECT key FROM rate_limit_windows WHERE key LIKE 'promocode:guess:%'")).toEqual([]);
  });
});

test('spec 04 section 7.5, hazard 2: a failed effect rolls back use row, counter and log', async () => {
  const [user, code] = [
    await aRedeemer(t.app),
    await aPromocode(t.app, { type: 'promo_group', promoGroupId: await aGroup(t.app) }),
  ];
  // The database refuses the last write of the activation.
  await whileRefused(
    t.app,
    'user_promo_groups',
    () => expect(activate(user, code.code)).rejects.toThrow('refused row of user_promo_groups'),
    `NEW.user_id = ${user.userId}`,
  );
  expect(await redemptionCounts(t.app, code.id, user.userId)).toEqual({ uses: 0, rows: 0, balance: 0, deposits: 0, log: 0 });
});
