import { beforeAll, describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { applyCampaignAtSignIn } from '../../../src/domain/campaigns/apply-at-sign-in.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { accrueReward } from '../../../src/domain/referrals/rewards.ts';
import { aUser, type BuiltUser } from '../../support/builders.ts';
import { aCampaign } from '../../support/campaign-samples.ts';
import { setUser, userRow } from '../../support/merge-samples.ts';
import { recordedTypesOf } from '../../support/recorded-events.ts';
import { aDeposit, aReferralOf } from '../../support/referral-samples.ts';
import { aServer, aStoredSubscription, aTariff, rowOf } from '../../support/sale-samples.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});

const registrationOf = async (userId: number) =>
  (
    await t.app.db.sql<Record<string, unknown>>('SELECT * FROM advertising_campaign_registrations WHERE user_id = $1::int', [
      userId,
    ])
  )[0] ?? null;
const subscriptionOf = async (userId: number) =>
  (await t.app.db.sql<Record<string, unknown>>('SELECT * FROM subscriptions WHERE user_id = $1::int', [userId]))[0] ?? null;

describe('bonuses', () => {
  test('money: one deposit without payment method, one registration, for an old user too', async () => {
    const user = await aUser(t.app);
    const campaign = await aCampaign(t.app, { balance_bonus_kopeks: 15_000 });
    const bonus = await applyCampaignAtSignIn(t.app, user.id, campaign.slug);
    expect(bonus).toEqual({
      campaignName: `Campaign ${campaign.slug}`,
      bonusType: 'balance',
      balanceKopeks: 15_000,
      subscriptionDays: null,
      tariffName: null,
    });
    const movements = await t.app.db.sql('SELECT type, amount_kopeks, payment_method FROM transactions WHERE user_id = $1::int', [
      user.id,
    ]);
    expect(movements).toEqual([{ type: 'deposit', amountKopeks: 15_000, paymentMethod: null }]);
    expect(await userRow(t.app, user.id)).toMatchObject({ balanceKopeks: 15_000, hasMadeFirstTopup: false });
    expect(await registrationOf(user.id)).toMatchObject({ campaignId: campaign.id, balanceBonusKopeks: 15_000 });
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test("a trial subscription: the campaign's limits, its known squads, and a push to the panel", async () => {
    const user = await aUser(t.app);
    const server = await aServer(t.app);
    const campaign = await aCampaign(t.app, {
      bonus_type: 'subscription',
      subscription_duration_days: 5,
      subscription_traffic_gb: 20,
      subscription_device_limit: 3,
      subscription_squads: [server.uuid, 'gone'],
    });
    expect(await applyCampaignAtSignIn(t.app, user.id, campaign.slug)).toMatchObject({
      bonusType: 'subscription',
      subscriptionDays: 5,
      balanceKopeks: 0,
      tariffName: null,
    });
    const row = await subscriptionOf(user.id);
    expect(row).toMatchObject({
      status: 'active',
      isTrial: true,
      trafficLimitGb: 20,
      deviceLimit: 3,
      connectedSquads: [server.uuid],
      provisionState: 'pending',
      endDate: new Date(t.clock.now().getTime() + 5 * 86_400_000),
    });
    const jobs = await t.app.db.sql(
      `SELECT 1 AS one FROM jobs.job WHERE name = 'provisioning.push' AND data->>'subscriptionId' = $1`,
      [String(row!.id)],
    );
    expect(jobs).toHaveLength(1);
    expect(await registrationOf(user.id)).toMatchObject({ subscriptionDurationDays: 5 });
  });

  test('a tariff has its limits and no trial, and is named in the answer without days', async () => {
    const user = await aUser(t.app);
    const tariffId = await aTariff(t.app, { name: 'Gold', traffic_limit_gb: 77, device_limit: 4 });
    const campaign = await aCampaign(t.app, { bonus_type: 'tariff', tariff_id: tariffId, tariff_duration_days: 9 });
    expect(await applyCampaignAtSignIn(t.app, user.id, campaign.slug)).toMatchObject({
      bonusType: 'tariff',
      subscriptionDays: null,
      tariffName: 'Gold',
    });
    expect(await subscriptionOf(user.id)).toMatchObject({
      isTrial: false,
      tariffId: tariffId,
      trafficLimitGb: 77,
      deviceLimit: 4,
    });
    expect(await registrationOf(user.id)).toMatchObject({ tariffId: tariffId, tariffDurationDays: 9 });
  });

  test('without a bonus only the registration is written', async () => {
    const user = await aUser(t.app);
    const campaign = await aCampaign(t.app, { bonus_type: 'none' });
    expect(await applyCampaignAtSignIn(t.app, user.id, campaign.slug)).toMatchObject({ bonusType: 'none', balanceKopeks: 0 });
    expect(await registrationOf(user.id)).toMatchObject({ bonusType: 'none' });
  });
});

describe('once, and only when it can be given', () => {
  test('one campaign in a life', async () => {
    const user = await aUser(t.app);
    const [first, second] = [
      await aCampaign(t.app, { balance_bonus_kopeks: 100 }),
      await aCampaign(t.app, { balance_bonus_kopeks: 200 }),
    ];
    expect(await applyCampaignAtSignIn(t.app, user.id, first.slug)).not.toBeNull();
    expect(await applyCampaignAtSignIn(t.app, user.id, first.slug)).toBeNull();
    expect(await applyCampaignAtSignIn(t.app, user.id, second.slug)).toBeNull();
    expect(await userRow(t.app, user.id)).toMatchObject({ balanceKopeks: 100 });
  });

  test.each([
    ['no amount', { bonus_type: 'balance', balance_bonus_kopeks: 0 }, false],
    ['no days', { bonus_type: 'subscription', subscription_duration_days: null }, false],
    ['a subscription already', { bonus_type: 'subscription', subscription_duration_days: 3 }, true],
    ['a tariff that is gone', { bonus_type: 'tariff', tariff_id: null, tariff_duration_days: 3 }, false],
  ])('%s: no registration, so another campaign may come', async (_name, columns, isSubscribed) => {
    const user = await aUser(t.app);
    if (isSubscribed) await aStoredSubscription(t.app, user.id, { status: 'expired' });
    const campaign = await aCampaign(t.app, columns);
    expect(await applyCampaignAtSignIn(t.app, user.id, campaign.slug)).toBeNull();
    expect(await registrationOf(user.id)).toBeNull();
  });

  test('an inactive tariff, an inactive campaign, a slug in other letters, no slug, a blocked user', async () => {
    const user = await aUser(t.app);
    const tariffId = await aTariff(t.app, { is_active: false });
    const ofTariff = await aCampaign(t.app, { bonus_type: 'tariff', tariff_id: tariffId, tariff_duration_days: 3 });
    const off = await aCampaign(t.app, { bonus_type: 'none', is_active: false });
    const on = await aCampaign(t.app, { bonus_type: 'none' });
    for (const slug of [ofTariff.slug, off.slug, on.slug.toUpperCase(), '', null]) {
      expect(await applyCampaignAtSignIn(t.app, user.id, slug)).toBeNull();
    }
    await setUser(t.app, user.id, { status: 'blocked' });
    expect(await applyCampaignAtSignIn(t.app, user.id, on.slug)).toBeNull();
    expect(await registrationOf(user.id)).toBeNull();
  });

  test.each([
    ['balance', { balance_bonus_kopeks: 500 }],
    ['subscription', { subscription_duration_days: 3 }],
    ['tariff', { tariff_duration_days: 3 }],
    ['none', {}],
  ])('spec 04 section 6.7: a failure rolls everything back and never reaches the sign-in (%s)', async (type, columns) => {
    const [user, partner] = [await aUser(t.app), await aUser(t.app)];
    const tariff = type === 'tariff' ? { tariff_id: await aTariff(t.app) } : {};
    const campaign = await aCampaign(t.app, { bonus_type: type, partner_user_id: partner.id, ...columns, ...tariff });
    // Read after the registration is written: for the notices of the referral, and for the subscription.
    const broken: App = {
      ...t.app,
      settings: {
        get: () => {
          throw new Error('test');
        },
      },
    };
    expect(await applyCampaignAtSignIn(broken, user.id, campaign.slug)).toBeNull();
    expect(await registrationOf(user.id)).toBeNull();
    expect(await subscriptionOf(user.id)).toBeNull();
    expect(await userRow(t.app, user.id)).toMatchObject({ referredById: null, balanceKopeks: 0 });
    expect(await t.app.db.sql('SELECT id FROM referral_earnings WHERE referral_id = $1::int', [user.id])).toEqual([]);
    // Nothing is used up: the next sign-in gets it.
    expect(await applyCampaignAtSignIn(t.app, user.id, campaign.slug)).toMatchObject({ bonusType: type });
  });

  test('spec 04 section 6.7: the panel is notified of the subscription by a job after the commit, never in the sign-in', async () => {
    const user = await aUser(t.app);
    const tariffId = await aTariff(t.app);
    const campaign = await aCampaign(t.app, { bonus_type: 'tariff', tariff_id: tariffId, tariff_duration_days: 3 });
    let calls = 0;
    const panel = new Proxy(t.app.ports.panel, {
      get: (port, name) => {
        calls += 1;
        return Reflect.get(port, name);
      },
    });
    const app: App = { ...t.app, ports: { ...t.app.ports, panel } };
    expect(await applyCampaignAtSignIn(app, user.id, campaign.slug)).toMatchObject({ bonusType: 'tariff' });
    expect(calls).toBe(0);
    const { id } = (await subscriptionOf(user.id)) as { id: number };
    const jobs = () =>
      t.app.db.sql("SELECT id FROM jobs.job WHERE name = 'provisioning.push' AND data->>'subscriptionId' = $1", [String(id)]);
    expect(await jobs()).toHaveLength(1);
  });

  test('no device limit in the campaign, or 0: the default', async () => {
    for (const limit of [null, 0]) {
      const user = await aUser(t.app);
      const columns = { bonus_type: 'subscription', subscription_duration_days: 3, subscription_device_limit: limit };
      await applyCampaignAtSignIn(t.app, user.id, (await aCampaign(t.app, columns)).slug);
      const { deviceLimit: given } = (await subscriptionOf(user.id))!;
      expect(given).toBe(t.app.settings.get('DEFAULT_DEVICE_LIMIT'));
    }
  });
});

describe('partners', () => {
  const earningsOf = (referralId: number) =>
    t.app.db.sql<object>(
      'SELECT user_id, reason, amount_kopeks, campaign_id FROM referral_earnings WHERE referral_id = $1::int',
      [referralId],
    );

  const messagesTo = async (messengerId: number) =>
    (
      await t.app.db.sql<{ html: string }>(
        `SELECT data->>'html' AS html FROM jobs.job WHERE name = 'messenger.send' AND (data->>'messengerId')::bigint = $1::bigint`,
        [messengerId],
      )
    ).map((row) => row.html);
  /** Messages to both, and "referral registered" to the referrer. */
  const noticesTo = async (referrer: BuiltUser, referral: BuiltUser) => ({
    toReferrer: (await messagesTo(referrer.messengerId)).length,
    toReferral: (await messagesTo(referral.messengerId)).length,
    events: (await recordedTypesOf(t.app, referrer.id)).filter((type) => /referral[._]registered$/.test(type)),
  });

  test('spec 04 section 6.7: the registration comes before the pending earning, which so names the campaign', async () => {
    const [user, partner] = [await aUser(t.app), await aUser(t.app)];
    const campaign = await aCampaign(t.app, { balance_bonus_kopeks: 100, partner_user_id: partner.id });
    await applyCampaignAtSignIn(t.app, user.id, campaign.slug);
    expect(await userRow(t.app, user.id)).toMatchObject({ referredById: partner.id });
    expect(await earningsOf(user.id)).toEqual([
      { userId: partner.id, reason: 'referral_registration_pending', amountKopeks: 0, campaignId: campaign.id },
    ]);
  });

  test('also when the bonus cannot be given, but never over another referrer', async () => {
    const [user, invited, partner, referrer] = [await aUser(t.app), await aUser(t.app), await aUser(t.app), await aUser(t.app)];
    const campaign = await aCampaign(t.app, { balance_bonus_kopeks: 0, partner_user_id: partner.id });
    await setUser(t.app, invited.id, { referred_by_id: referrer.id });
    expect(await applyCampaignAtSignIn(t.app, user.id, campaign.slug)).toBeNull();
    await applyCampaignAtSignIn(t.app, invited.id, campaign.slug);
    expect(await userRow(t.app, user.id)).toMatchObject({ referredById: partner.id });
    expect(await registrationOf(user.id)).toBeNull();
    expect(await userRow(t.app, invited.id)).toMatchObject({ referredById: referrer.id });
    expect(await earningsOf(invited.id)).toEqual([]);
  });

  test('a referral of the same partner is not registered again: no pending earning, no event, no message (spec 04 section 1.2)', async () => {
    const partner = await aUser(t.app, { language: 'en' });
    const registrant = await aReferralOf(t.app, partner.id);
    await accrueReward(t.app, { transactionId: await aDeposit(t.app, registrant.id, 50_000) });
    const rowsBefore = await earningsOf(registrant.id);
    const noticesBefore = await noticesTo(partner, registrant);
    const campaign = await aCampaign(t.app, { balance_bonus_kopeks: 100, partner_user_id: partner.id });
    expect(await applyCampaignAtSignIn(t.app, registrant.id, campaign.slug)).toMatchObject({ balanceKopeks: 100 });
    expect(await earningsOf(registrant.id)).toEqual(rowsBefore);
    expect(await noticesTo(partner, registrant)).toEqual(noticesBefore);
    expect(await userRow(t.app, registrant.id)).toMatchObject({ referredById: partner.id });
  });

  test('a user who has made the first top-up is welcomed without the announcement of a bonus for it', async () => {
    const partner = await aUser(t.app, { language: 'en' });
    const [old, fresh] = [await aUser(t.app, { language: 'en' }), await aUser(t.app, { language: 'en' })];
    await setUser(t.app, old.id, { has_made_first_topup: true });
    for (const registrant of [old, fresh]) {
      const campaign = await aCampaign(t.app, { bonus_type: 'none', partner_user_id: partner.id });
      await applyCampaignAtSignIn(t.app, registrant.id, campaign.slug);
      expect(await userRow(t.app, registrant.id)).toMatchObject({ referredById: partner.id });
    }
    const [[toOld], [toFresh]] = [await messagesTo(old.messengerId), await messagesTo(fresh.messengerId)];
    expect(toOld).toContain('You were invited by');
    expect(toOld).not.toContain('Top up');
    expect(toFresh).toContain('Top up');
  });

  test('a partner gets no bonus of the own campaign, while one invited by the registrant gives the bonus without becoming the referrer', async () => {
    const [registrant, partner] = [await aUser(t.app), await aUser(t.app)];
    const campaign = await aCampaign(t.app, { balance_bonus_kopeks: 100, partner_user_id: partner.id });
    expect(await applyCampaignAtSignIn(t.app, partner.id, campaign.slug)).toBeNull();
    await setUser(t.app, partner.id, { referred_by_id: registrant.id });
    expect(await applyCampaignAtSignIn(t.app, registrant.id, campaign.slug)).toMatchObject({ balanceKopeks: 100 });
    expect(await userRow(t.app, registrant.id)).toMatchObject({ referredById: null });
  });

  test('the registration is unique in the database whatever code runs (spec 01 H15)', async () => {
    const user = await aUser(t.app);
    const campaign = await aCampaign(t.app, { bonus_type: 'none' });
    await applyCampaignAtSignIn(t.app, user.id, campaign.slug);
    const other = await aCampaign(t.app, { bonus_type: 'none' });
    const again = storeRow(t.app, 'CampaignRegistration', { campaignId: other.id, userId: user.id });
    await expect(again).rejects.toMatchObject({ code: '23505' });
    expect(
      await rowOf(t.app, 'SELECT count(*)::int AS n FROM advertising_campaign_registrations WHERE user_id = $1::int', [user.id]),
    ).toEqual({
      n: 1,
    });
  });
});
