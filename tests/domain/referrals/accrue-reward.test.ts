import { beforeAll, describe, expect, test } from 'vitest';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { postMovement } from '../../../src/domain/ledger/post-movement.ts';
import { accrueReward } from '../../../src/domain/referrals/rewards.ts';
import { aUser } from '../../support/builders.ts';
import { aCampaign } from '../../support/campaign-samples.ts';
import { setUser, userRow } from '../../support/merge-samples.ts';
import { recordedEventsOf } from '../../support/recorded-events.ts';
import {
  aDeposit,
  aReferralPair,
  countersAndCounts,
  earningsOf,
  type ReferralPair,
  rewardsOf,
} from '../../support/referral-samples.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});

async function pay(pair: ReferralPair, kopeks: number, app = t.app): Promise<number> {
  const transactionId = await aDeposit(app, pair.referral.id, kopeks);
  await accrueReward(app, { transactionId });
  return transactionId;
}

const eventsOf = async (userId: number) =>
  (await recordedEventsOf(t.app, userId, { audience: 'user' })).filter(({ type }) => /referral.*bonus$/.test(type));
const messagesTo = async (messengerId: number) =>
  (
    await t.app.db.sql<{ html: string }>(
      `SELECT data->>'html' AS html FROM jobs.job WHERE name = 'messenger.send' AND (data->>'messengerId')::bigint = $1::bigint ORDER BY created_on, ctid`,
      [messengerId],
    )
  ).map((row) => row.html);

describe('accrueReward (spec 04 section 1.3)', () => {
  test('the first top-up: bonus to the referral, one reward of bonus and commission to the referrer, then commissions', async () => {
    const pair = await aReferralPair(t.app);
    expect((await earningsOf(t.app, pair)).map((row) => row.reason)).toEqual(['referral_registration_pending']);
    const first = await pay(pair, 50_000);
    expect(await earningsOf(t.app, pair)).toEqual([
      { reason: 'referral_first_topup', amountKopeks: 22_500, referralTransactionId: first, campaignId: null },
    ]);
    expect(await rewardsOf(t.app, pair.referral.id)).toEqual([10_000]);
    expect(await rewardsOf(t.app, pair.referrer.id)).toEqual([22_500]);
    expect(await userRow(t.app, pair.referral.id)).toMatchObject({ hasMadeFirstTopup: true, balanceKopeks: 60_000 });
    const second = await pay(pair, 1_003);
    expect((await earningsOf(t.app, pair)).at(-1)).toMatchObject({
      reason: 'referral_commission_topup',
      amountKopeks: 250,
      referralTransactionId: second,
    });
    expect(await rewardsOf(t.app, pair.referral.id)).toEqual([10_000]);
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test('below the minimum: the commission alone, the flag stays and the pending row with it', async () => {
    const pair = await aReferralPair(t.app, { referrer: { referral_commission_percent: 12.5 } });
    await pay(pair, 9_999);
    expect(await earningsOf(t.app, pair)).toMatchObject([
      { reason: 'referral_registration_pending' },
      { reason: 'referral_commission_topup', amountKopeks: 1_249 },
    ]);
    expect(await userRow(t.app, pair.referral.id)).toMatchObject({ hasMadeFirstTopup: false });
  });

  test("the referral's earliest campaign is named", async () => {
    const pair = await aReferralPair(t.app);
    const { id } = await aCampaign(t.app);
    await storeRow(t.app, 'CampaignRegistration', { campaignId: id, userId: pair.referral.id, bonusType: 'none' });
    await pay(pair, 20_000);
    expect(await earningsOf(t.app, pair)).toMatchObject([{ campaignId: id }]);
  });

  test('a limit of payments ends the commission', async () => {
    const { app } = await testApp({ environment: { REFERRAL_MAX_COMMISSION_PAYMENTS: '1', REFERRAL_COMMISSION_PERCENT: '10' } });
    const pair = await aReferralPair(app, { referral: { has_made_first_topup: true } });
    for (const kopeks of [1_000, 2_000]) await pay(pair, kopeks, app);
    expect(await rewardsOf(app, pair.referrer.id)).toEqual([100]);
  });

  test('a commission of 0 percent is none', async () => {
    const { app } = await testApp({ environment: { REFERRAL_COMMISSION_PERCENT: '10' } });
    const free = await aReferralPair(app, {
      referrer: { referral_commission_percent: 0 },
      referral: { has_made_first_topup: true },
    });
    await pay(free, 1_000, app);
    expect(await rewardsOf(app, free.referrer.id)).toEqual([]);
  });

  test('bonuses, manual credits, purchases from the balance and payments without referrer earn nothing', async () => {
    const pair = await aReferralPair(t.app);
    const bonus = { userId: pair.referral.id, type: 'deposit', amountKopeks: 50_000, description: null } as const;
    const movements = [
      { ...bonus, contra: { kind: 'bonus_expense', bonus: 'promocode' }, paymentMethod: null },
      { ...bonus, contra: { kind: 'manual_adjustment' }, paymentMethod: 'manual' },
      {
        ...bonus,
        type: 'subscription_payment',
        amountKopeks: -20_000,
        contra: { kind: 'sales_revenue', product: 'tariff' },
        paymentMethod: 'balance',
      },
    ] as const;
    for (const movement of movements) {
      const posting = await postMovement(t.app, movement);
      await accrueReward(t.app, { transactionId: 'transactionId' in posting ? posting.transactionId : 0 });
    }
    const alone = await aUser(t.app);
    await accrueReward(t.app, { transactionId: await aDeposit(t.app, alone.id, 50_000) });
    expect(await rewardsOf(t.app, pair.referrer.id)).toEqual([]);
    expect(await rewardsOf(t.app, alone.id)).toEqual([]);
    expect(await userRow(t.app, pair.referral.id)).toMatchObject({ hasMadeFirstTopup: false });
  });

  test('a purchase paid straight to a provider earns like a top-up', async () => {
    const pair = await aReferralPair(t.app);
    const posting = await postMovement(t.app, {
      userId: pair.referral.id,
      type: 'subscription_payment',
      amountKopeks: -20_000,
      contra: { kind: 'sales_revenue', product: 'tariff' },
      paymentMethod: 'messenger_stars',
      externalId: `direct-${pair.referral.id}`,
      description: null,
      paidThroughProvider: 'messenger_stars',
    });
    if (posting.outcome !== 'posted') throw new Error(posting.outcome);
    await accrueReward(t.app, posting);
    expect(await earningsOf(t.app, pair)).toMatchObject([{ reason: 'referral_first_topup', amountKopeks: 15_000 }]);
  });

  test('nothing while the programme is off, and for a deleted referrer only the bonus of the referral', async () => {
    const off = await testApp({ environment: { REFERRAL_PROGRAM_ENABLED: 'false' } });
    const pair = await aReferralPair(off.app);
    const transactionId = await pay(pair, 50_000, off.app);
    expect(await userRow(t.app, pair.referral.id)).toMatchObject({ hasMadeFirstTopup: false, balanceKopeks: 50_000 });
    await setUser(t.app, pair.referrer.id, { status: 'deleted' });
    await accrueReward(t.app, { transactionId });
    expect(await rewardsOf(t.app, pair.referrer.id)).toEqual([]);
    expect(await rewardsOf(t.app, pair.referral.id)).toEqual([10_000]);
  });

  test('both are notified in their messenger, names escaped, and by events', async () => {
    const pair = await aReferralPair(t.app, { referral: { first_name: 'Eve <b>', last_name: null } });
    await pay(pair, 50_000);
    expect((await messagesTo(pair.referrer.messengerId)).at(-1)).toContain('Eve &lt;b&gt;');
    expect((await messagesTo(pair.referrer.messengerId)).at(-1)).toContain('225 ₽');
    expect((await messagesTo(pair.referral.messengerId)).at(-1)).toContain('100 ₽');
    expect(await eventsOf(pair.referrer.id)).toEqual([
      {
        type: 'referral.bonus',
        audience: 'user',
        payload: { bonus_kopeks: 22_500, bonus_rubles: 225, referral_name: 'Eve <b>' },
      },
    ]);
    expect(await eventsOf(pair.referral.id)).toMatchObject([{ type: 'referral.bonus', payload: { bonus_kopeks: 10_000 } }]);
  });

  test('without a messenger: a mail to a verified address and the notice on the own sockets', async () => {
    const email = `earner-${Date.now()}@example.com`;
    const pair = await aReferralPair(t.app, {
      referrer: { messenger_id: null, email, email_verified: true },
      referral: { has_made_first_topup: true },
    });
    await pay(pair, 10_000);
    const mails = await t.app.db.sql<{ template: string; subject: string }>(
      'SELECT template, subject FROM outgoing_mails WHERE recipient = $1 AND template = $2',
      [email, 'referral_bonus'],
    );
    expect(mails).toMatchObject([{ subject: expect.stringContaining('25 ₽') }]);
    expect((await eventsOf(pair.referrer.id)).map((event) => event.type)).toEqual([
      'referral.bonus',
      'notification.referral_bonus',
    ]);
    expect((await eventsOf(pair.referrer.id))[1]!.payload).toMatchObject({
      bonus_kopeks: 2_500,
      bonus_rubles: 25,
      formatted_bonus: '25 ₽',
    });
  });

  test('spec 03 H12, spec 04 section 1.4, hazard 2: a repeated request for the same payment pays nothing', async () => {
    const pair = await aReferralPair(t.app);
    const transactionId = await pay(pair, 50_000);
    for (let i = 0; i < 3; i++) await accrueReward(t.app, { transactionId });
    expect(await earningsOf(t.app, pair)).toHaveLength(1);
    expect(await rewardsOf(t.app, pair.referrer.id)).toEqual([22_500]);
    expect(await rewardsOf(t.app, pair.referral.id)).toEqual([10_000]);
  });

  test('spec 03 H12, spec 04 section 1.4, hazard 1: a crash on the way leaves nothing: no flag without its bonus', async () => {
    const pair = await aReferralPair(t.app);
    const transactionId = await aDeposit(t.app, pair.referral.id, 50_000);
    await storeRow(t.app, 'ReferralEarning', {
      userId: pair.referrer.id,
      referralId: pair.referral.id,
      amountKopeks: 1,
      reason: 'referral_first_topup',
      referralTransactionId: await aDeposit(t.app, pair.referral.id, 100),
    });
    // The last write fails: the table refuses the row.
    await t.app.db.sql('ALTER TABLE referral_earnings ADD CONSTRAINT no_more CHECK (amount_kopeks < 100) NOT VALID');
    try {
      await expect(accrueReward(t.app, { transactionId })).rejects.toMatchObject({ code: '23514' });
    } finally {
      await t.app.db.sql('ALTER TABLE referral_earnings DROP CONSTRAINT no_more');
    }
    expect(await userRow(t.app, pair.referral.id)).toMatchObject({ hasMadeFirstTopup: false });
    expect(await rewardsOf(t.app, pair.referral.id)).toEqual([]);
    await accrueReward(t.app, { transactionId });
    expect(await rewardsOf(t.app, pair.referral.id)).toEqual([10_000]);
  });

  test('spec 03 H12, spec 04 section 1.4, hazard 2: the table itself refuses a second earning of a payment', async () => {
    const pair = await aReferralPair(t.app);
    const transactionId = await pay(pair, 50_000);
    const again = storeRow(t.app, 'ReferralEarning', {
      userId: pair.referrer.id,
      referralId: pair.referral.id,
      amountKopeks: 1,
      reason: 'referral_first_topup',
      referralTransactionId: transactionId,
    });
    await expect(again).rejects.toMatchObject({ code: '23505' });
  });

  test('the counters that triggers maintain equal a count, through changes and deletions', async () => {
    const pair = await aReferralPair(t.app);
    await pay(pair, 50_000);
    const [other, third] = [await aReferralPair(t.app), await aUser(t.app)];
    await setUser(t.app, other.referral.id, { referred_by_id: third.id, created_at: new Date('2024-02-29T23:59:59Z') });
    await t.app.db.sql('UPDATE referral_earnings SET user_id = $2::int WHERE user_id = $1::int RETURNING id', [
      pair.referrer.id,
      third.id,
    ]);
    const [deleted, remaining] = [await aUser(t.app), await aUser(t.app)];
    await setUser(t.app, remaining.id, { referred_by_id: deleted.id });
    await t.app.db.sql('DELETE FROM users WHERE id = $1::int RETURNING id', [deleted.id]);
    const { stored, counted } = await countersAndCounts(t.app);
    expect(stored).toEqual(counted);
    expect(stored.totals.length).toBeGreaterThan(1);
  });
});
