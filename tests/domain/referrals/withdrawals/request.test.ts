import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../../../src/core/app.ts';
import { addDays } from '../../../../src/core/clock.ts';
import { readMyReferralInfo } from '../../../../src/domain/referrals/my-referrals.ts';
import { approveWithdrawal } from '../../../../src/domain/referrals/withdrawals/decide.ts';
import {
  cancelMyWithdrawal,
  listMyWithdrawals,
  readMyWithdrawalBalance,
  requestWithdrawal,
} from '../../../../src/domain/referrals/withdrawals/my-withdrawals.ts';
import { unique } from '../../../support/builders.ts';
import { setUser } from '../../../support/merge-samples.ts';
import { detailOf } from '../../../support/parallel.ts';
import { aDeposit } from '../../../support/referral-samples.ts';
import { topUp } from '../../../support/sale-samples.ts';
import { storeRows } from '../../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../../support/test-app.ts';
import {
  anAdmin,
  anEarner,
  aRequest,
  earn,
  moneyOf,
  requestRow,
  spend,
  WITHDRAWALS_ON,
} from '../../../support/withdrawal-samples.ts';

const CHAT = -1_009_876_543_210;
let t: TestApp;
let app: App;
beforeAll(async () => {
  t = await testApp({
    environment: {
      ...WITHDRAWALS_ON,
      ADMIN_NOTIFICATIONS_ENABLED: 'true',
      ADMIN_NOTIFICATIONS_CHAT_ID: String(CHAT),
      REFERRAL_WITHDRAWAL_NOTIFICATIONS_TOPIC_ID: '42',
      REFERRAL_WITHDRAWAL_REQUISITES_TEXT: 'Card number and bank',
    },
  });
  app = t.app;
});
beforeEach(() => t.clock.set(new Date()));

const order = (amountKopeks: number, paymentDetails = 'Card 2200 0000 0000 0004') => ({ amountKopeks, paymentDetails });
const create = (userId: number, amount: number, key: string | null = null, inApp = app) =>
  requestWithdrawal(inApp, { kind: 'user', userId }, order(amount), key);
const withSettings = async (environment: Record<string, string>) =>
  (await testApp({ environment: { ...WITHDRAWALS_ON, ...environment }, clock: t.clock })).app;

describe('a request (spec 03 section 6)', () => {
  test('holds its amount, is stored with its analysis, and is reported to the chat of administrators: escaped and cut', async () => {
    const earner = await anEarner(app, 50_000);
    const before = await moneyOf(app, earner.userId);
    const details = `<b>${'д'.repeat(300)}`;
    const made = await requestWithdrawal(app, earner, order(20_000, details), null);
    expect(made).toEqual({ id: expect.any(Number), amountKopeks: 20_000, status: 'pending' });
    expect(await moneyOf(app, earner.userId)).toEqual({ ...before, balance: 30_000 });
    expect(await requestRow(app, made.id)).toMatchObject({ status: 'pending', paymentDetails: details, processedBy: null });
    const [message] = await app.db.sql<{ html: string; thread: string }>(
      `SELECT data->>'html' AS html, data->>'threadId' AS thread FROM jobs.job
       WHERE name = 'messenger.send' AND (data->>'messengerId')::bigint = $1::bigint ORDER BY created_on DESC, ctid DESC LIMIT 1`,
      [CHAT],
    );
    expect(message!.thread).toBe('42');
    expect(message!.html).toContain('200 ₽');
    expect(message!.html).toContain('Balance: 500 ₽');
    expect(message!.html).toContain(`&lt;b&gt;${'д'.repeat(197)}...`);
    expect(message!.html).not.toContain('д'.repeat(198));
  });

  test('the page says what is available, what is pending, and what was spent since the first earning', async () => {
    const earner = await anEarner(app, 50_000);
    await topUp(app, earner.userId, 10_000);
    await spend(app, earner.userId, 15_000);
    expect(await readMyWithdrawalBalance(app, earner)).toEqual({
      earnedKopeks: 50_000,
      referralSpentKopeks: 15_000,
      withdrawnKopeks: 0,
      pendingKopeks: 0,
      availableReferralKopeks: 45_000,
      availableTotalKopeks: 45_000,
      minAmountKopeks: 100,
      isEnabled: true,
      isReferralOnly: true,
      canRequest: true,
      refusal: null,
      requisitesText: 'Card number and bank',
    });
    await aRequest(app, earner, 30_000);
    expect(await readMyWithdrawalBalance(app, earner)).toMatchObject({
      pendingKopeks: 30_000,
      availableReferralKopeks: 20_000,
      canRequest: false,
      refusal: 'You already have a request under review',
    });
    expect(await readMyReferralInfo(app, earner)).toMatchObject({ availableBalanceKopeks: 20_000, withdrawnKopeks: 0 });
  });

  test('what was spent is shown up to what was earned, and only since the first earning', async () => {
    const earner = await anEarner(app, 1_000);
    await topUp(app, earner.userId, 90_000);
    await spend(app, earner.userId, 60_000);
    expect(await readMyWithdrawalBalance(app, earner)).toMatchObject({ referralSpentKopeks: 1_000 });
    await app.db.sql('UPDATE referral_earnings SET created_at = $2::timestamptz WHERE user_id = $1::int', [
      earner.userId,
      addDays(t.clock.now(), 1),
    ]);
    expect(await readMyWithdrawalBalance(app, earner)).toMatchObject({ referralSpentKopeks: 0 });
  });

  test('spec 10 X22: off: amounts are 0, minimum and reason are given, a request is refused, history and cancellation still work', async () => {
    const earner = await anEarner(app, 50_000);
    const id = await aRequest(app, earner, 30_000);
    for (const key of ['REFERRAL_WITHDRAWAL_ENABLED', 'REFERRAL_PROGRAM_ENABLED']) {
      const off = await withSettings({ [key]: 'false' });
      expect(await readMyWithdrawalBalance(off, earner)).toEqual({
        earnedKopeks: 0,
        referralSpentKopeks: 0,
        withdrawnKopeks: 0,
        pendingKopeks: 0,
        availableReferralKopeks: 0,
        availableTotalKopeks: 0,
        minAmountKopeks: 100,
        isEnabled: false,
        isReferralOnly: true,
        canRequest: false,
        requisitesText: '',
        refusal: 'Withdrawals are switched off',
      });
      expect(await detailOf(create(earner.userId, 100, null, off))).toBe('Withdrawals are switched off');
      expect(await listMyWithdrawals(off, earner)).toMatchObject({ total: 1, items: [{ id }] });
    }
    const off = await withSettings({ REFERRAL_WITHDRAWAL_ENABLED: 'false' });
    expect(await cancelMyWithdrawal(off, earner, id, null)).toEqual({ success: true });
  });

  test('refusals name the amounts, in the language of the user', async () => {
    const strict = await withSettings({
      REFERRAL_WITHDRAWAL_MIN_AMOUNT_KOPEKS: '10050',
      REFERRAL_WITHDRAWAL_COOLDOWN_DAYS: '30',
    });
    const earner = await anEarner(app, 10_000);
    await topUp(app, earner.userId, 10_000);
    expect(await detailOf(create(earner.userId, 10_000, null, strict))).toBe('Minimum withdrawal: 100.50 ₽. Available: 100 ₽.');
    await earn(app, earner.pair, 2_000);
    expect(await detailOf(create(earner.userId, 10_000, null, strict))).toBe('Minimum withdrawal: 100.50 ₽. Available: 120 ₽.');
    expect(await detailOf(create(earner.userId, 12_001, null, strict))).toBe('Only referral earnings can be withdrawn: 120 ₽');
    expect(await detailOf(create(earner.userId, 22_001, null, strict))).toBe('The amount exceeds what is available: 120 ₽');
    await create(earner.userId, 12_000, null, strict);
    await earn(app, earner.pair, 20_000);
    expect(await detailOf(create(earner.userId, 12_000, null, strict))).toBe('The next request can be made in 30 d.');
    await setUser(app, earner.userId, { language: 'ru' });
    expect(await detailOf(create(earner.userId, 12_000, null, strict))).toBe('Следующую заявку можно подать через 30 дн.');
    expect(await detailOf(create(earner.userId, 12_000))).toBe('У вас уже есть заявка на рассмотрении');
  });

  test('without the restriction to earnings the whole balance less what is pending can be requested', async () => {
    const free = await withSettings({ REFERRAL_WITHDRAWAL_ONLY_REFERRAL_BALANCE: 'false' });
    const earner = await anEarner(app, 1_000);
    await topUp(app, earner.userId, 5_000);
    expect(await readMyWithdrawalBalance(free, earner)).toMatchObject({
      availableReferralKopeks: 1_000,
      availableTotalKopeks: 6_100 - 100,
      isReferralOnly: false,
    });
    await create(earner.userId, 4_000, null, free);
    expect(await readMyWithdrawalBalance(free, earner)).toMatchObject({
      availableReferralKopeks: 0,
      availableTotalKopeks: 2_000,
      pendingKopeks: 4_000,
    });
  });

  test('what was approved cannot be requested again, also after the balance has grown', async () => {
    const earner = await anEarner(app, 30_000);
    const id = await aRequest(app, earner, 20_000);
    await approveWithdrawal(app, await anAdmin(app), { id }, null);
    await topUp(app, earner.userId, 90_000);
    expect(await readMyWithdrawalBalance(app, earner)).toMatchObject({
      withdrawnKopeks: 20_000,
      pendingKopeks: 0,
      availableReferralKopeks: 10_000,
    });
    expect(await detailOf(create(earner.userId, 10_001))).toBe('Only referral earnings can be withdrawn: 100 ₽');
  });

  test('a repeat with its key gets the first answer, with another amount 422, and without a key a refusal', async () => {
    const earner = await anEarner(app, 30_000);
    const key = `withdrawal-${unique()}`;
    const first = await create(earner.userId, 10_000, key);
    expect(await create(earner.userId, 10_000, key)).toEqual(first);
    await expect(create(earner.userId, 20_000, key)).rejects.toMatchObject({ status: 422 });
    expect(await detailOf(create(earner.userId, 10_000))).toBe('You already have a request under review');
    expect((await listMyWithdrawals(app, earner)).total).toBe(1);
  });
});

describe('a cancellation (spec 03 section 6)', () => {
  test('of a pending request: no money moves, and the amount is available again', async () => {
    const earner = await anEarner(app, 30_000);
    const id = await aRequest(app, earner, 30_000);
    const key = `cancel-${unique()}`;
    expect(await cancelMyWithdrawal(app, earner, id, key)).toEqual({ success: true });
    expect(await cancelMyWithdrawal(app, earner, id, key)).toEqual({ success: true });
    expect(await requestRow(app, id)).toMatchObject({ status: 'cancelled', processedBy: null, processedAt: null });
    expect(await moneyOf(app, earner.userId)).toMatchObject({ balance: 30_000, debits: 0 });
    expect(await readMyWithdrawalBalance(app, earner)).toMatchObject({ availableReferralKopeks: 30_000, canRequest: true });
  });

  test('of anything else is refused', async () => {
    const [earner, other] = [await anEarner(app, 30_000), await anEarner(app, 30_000)];
    const id = await aRequest(app, earner, 10_000);
    for (const unknown of [2_147_000_000, 9_007_199_254_740_991, 0]) {
      const refused = cancelMyWithdrawal(app, earner, unknown, null);
      await expect(refused).rejects.toMatchObject({ status: 404, detail: 'Request not found' });
    }
    await expect(cancelMyWithdrawal(app, other, id, null)).rejects.toMatchObject({ status: 404 });
    await approveWithdrawal(app, await anAdmin(app), { id }, null);
    const late = cancelMyWithdrawal(app, earner, id, null);
    await expect(late).rejects.toMatchObject({ status: 400, detail: 'Only a request under review can be cancelled' });
  });
});

test('the history has the newest 50 and the number of all', async () => {
  const earner = await anEarner(app, 100);
  await storeRows(
    app,
    'WithdrawalRequest',
    Array.from({ length: 60 }, (_, index) => ({
      userId: earner.userId,
      amountKopeks: index + 1,
      status: 'cancelled' as const,
      createdAt: new Date(t.clock.now().getTime() - Math.floor((index + 1) / 2) * 3_600_000),
    })),
  );
  const { items, total } = await listMyWithdrawals(app, earner);
  expect([items.length, total]).toEqual([50, 60]);
  // Equal timestamps: the higher id first.
  expect(items.slice(0, 4).map((item) => item.amountKopeks)).toEqual([1, 3, 2, 5]);
});

test('deposits of the referral do not count as earnings', async () => {
  const earner = await anEarner(app, 500);
  await aDeposit(app, earner.pair.referral.id, 90_000);
  expect(await readMyWithdrawalBalance(app, earner)).toMatchObject({ earnedKopeks: 500, availableTotalKopeks: 500 });
});
