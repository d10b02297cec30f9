import { beforeAll, describe, expect, test } from 'vitest';
import { inTransaction } from '../../src/core/db/transaction.ts';
import { applyCampaignAtSignIn } from '../../src/domain/campaigns/apply-at-sign-in.ts';
import {
  changeCampaign,
  createCampaign,
  deleteCampaign,
  readCampaignChart,
  readCampaignStats,
  toggleCampaign,
} from '../../src/domain/campaigns/campaigns.ts';
import type { CampaignValues } from '../../src/domain/campaigns/types.ts';
import { checkLedger } from '../../src/domain/ledger/check-ledger.ts';
import { postMovement } from '../../src/domain/ledger/post-movement.ts';
import { registerReferralAtSignIn } from '../../src/domain/referrals/register-referral.ts';
import { aUser, unique } from '../support/builders.ts';
import { aCampaign } from '../support/campaign-samples.ts';
import { setUser, userRow } from '../support/merge-samples.ts';
import { aStoredSubscription, aTariff, rowOf, topUp } from '../support/sale-samples.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';

let t: TestApp;
beforeAll(async () => {
  if (!serverUrl) throw new Error('Races need a PostgreSQL server: set TEST_DATABASE_URL');
  t = await testApp();
});

describe('campaign bonuses at once (spec 01 H15)', () => {
  test('fifty sign-ins of one user through two campaigns: one bonus', async () => {
    const [user, partner] = [await aUser(t.app), await aUser(t.app)];
    const campaigns = [
      await aCampaign(t.app, { balance_bonus_kopeks: 1_000, partner_user_id: partner.id }),
      await aCampaign(t.app, { balance_bonus_kopeks: 1_000 }),
    ];
    const results = await Promise.all(
      Array.from({ length: 50 }, (_, index) => applyCampaignAtSignIn(t.app, user.id, campaigns[index % 2]!.slug)),
    );
    expect(results.filter((bonus) => bonus !== null)).toHaveLength(1);
    const stored = await rowOf(
      t.app,
      `SELECT (SELECT balance_kopeks FROM users WHERE id = $1::int) AS balance,
         (SELECT count(*)::int FROM transactions WHERE user_id = $1::int) AS movements,
         (SELECT count(*)::int FROM advertising_campaign_registrations WHERE user_id = $1::int) AS registrations`,
      [user.id],
    );
    expect(stored).toEqual({ balance: 1_000, movements: 1, registrations: 1 });
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test.each([
    ['balance', { balance_bonus_kopeks: 700 }, { balance: 700, subscriptions: 0 }],
    ['subscription', { subscription_duration_days: 3 }, { balance: 0, subscriptions: 1 }],
    ['tariff', { tariff_duration_days: 3 }, { balance: 0, subscriptions: 1 }],
    ['none', {}, { balance: 0, subscriptions: 0 }],
  ])('spec 04 section 6.7: twenty sign-ins of one user at once: one bonus (%s)', async (type, columns, expected) => {
    const user = await aUser(t.app);
    const tariff = type === 'tariff' ? { tariff_id: await aTariff(t.app) } : {};
    const campaigns: { id: number; slug: string }[] = [];
    for (let index = 0; index < 2; index++) campaigns.push(await aCampaign(t.app, { bonus_type: type, ...columns, ...tariff }));
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, index) => applyCampaignAtSignIn(t.app, user.id, campaigns[index % 2]!.slug)),
    );
    expect(results.filter((bonus) => bonus !== null)).toHaveLength(1);
    const stored = await rowOf<{ pushes: number }>(
      t.app,
      `SELECT (SELECT balance_kopeks FROM users WHERE id = $1::int) AS balance,
         (SELECT count(*)::int FROM subscriptions WHERE user_id = $1::int) AS subscriptions,
         (SELECT count(*)::int FROM advertising_campaign_registrations WHERE user_id = $1::int) AS registrations,
         (SELECT count(*)::int FROM jobs.job j JOIN subscriptions s ON j.data->>'subscriptionId' = s.id::text
           WHERE s.user_id = $1::int AND j.name = 'provisioning.push') AS pushes`,
      [user.id],
    );
    expect(stored).toEqual({ ...expected, registrations: 1, pushes: expected.subscriptions });
    const stats = await Promise.all(campaigns.map((campaign) => readCampaignStats(t.app, campaign.id)));
    expect(stats.reduce((sum, one) => sum + one.registrations, 0)).toBe(1);
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test('forty new users of one partner: forty bonuses and earnings, none lost', async () => {
    const partner = await aUser(t.app);
    const campaign = await aCampaign(t.app, { balance_bonus_kopeks: 500, partner_user_id: partner.id });
    const users = await Promise.all(Array.from({ length: 40 }, () => aUser(t.app)));
    const bonuses = await Promise.all(users.map((user) => applyCampaignAtSignIn(t.app, user.id, campaign.slug)));
    expect(bonuses.every((bonus) => bonus?.balanceKopeks === 500)).toBe(true);
    const row = await rowOf(
      t.app,
      'SELECT count(*)::int AS n FROM referral_earnings WHERE user_id = $1::int AND campaign_id = $2::int',
      [partner.id, campaign.id],
    );
    expect(row).toEqual({ n: 40 });
  });

  test('two who name each other as referrer at once: one of them gets the other', async () => {
    for (let round = 1; round <= 10; round++) {
      const [one, two] = [await aUser(t.app), await aUser(t.app)];
      const codeOf = async (id: number) => (await userRow(t.app, id)).referralCode;
      const [codeOne, codeTwo] = [await codeOf(one.id), await codeOf(two.id)];
      await Promise.all([registerReferralAtSignIn(t.app, one.id, codeTwo), registerReferralAtSignIn(t.app, two.id, codeOne)]);
      const row = await rowOf(t.app, 'SELECT count(referred_by_id)::int AS n FROM users WHERE id IN ($1::int, $2::int)', [
        one.id,
        two.id,
      ]);
      expect(row).toEqual({ n: 1 });
    }
  });
});

describe('campaigns changed at once', () => {
  const rejected = (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      () => 'done',
      (error: { detail?: string }) => error.detail ?? String(error),
    );
  const values = (slug: string): CampaignValues => ({
    name: 'Race',
    startParameter: slug,
    bonusType: 'none',
    balanceBonusKopeks: 0,
    subscriptionDurationDays: null,
    subscriptionTrafficGb: null,
    subscriptionDeviceLimit: null,
    subscriptionSquads: [],
    tariffId: null,
    tariffDurationDays: null,
    isActive: true,
    partnerUserId: null,
  });
  const token = { kind: 'token', tokenId: 1, name: 'race' } as const;
  const adminOf = (userId: number) => ({ kind: 'admin', userId, level: 100, isConfigAdmin: false }) as const;

  test('ten creations of one slug: one campaign, nine are refused because it exists', async () => {
    const admin = adminOf((await aUser(t.app)).id);
    const slug = `race-${unique()}`;
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => rejected(createCampaign(t.app, admin, values(slug)))));
    expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(1);
    const refused = `Campaign with start parameter '${slug}' already exists`;
    expect(outcomes.filter((outcome) => outcome === refused)).toHaveLength(9);
  });

  test('two campaigns that are given one slug at once: one gets it', async () => {
    const [one, two] = [await aCampaign(t.app), await aCampaign(t.app)];
    const startParameter = `race-${unique()}`;
    const outcomes = await Promise.all(
      [one, two].map(({ id }) => rejected(changeCampaign(t.app, token, id, { startParameter }))),
    );
    expect(outcomes.sort()).toEqual(['Campaign with this start_parameter already exists', 'done']);
  });

  test("an administrator's delete against ten sign-ins: the campaign is gone and nobody registered, or it remains for those who are", async () => {
    for (let round = 0; round < 8; round++) {
      const admin = adminOf((await aUser(t.app)).id);
      const campaign = await aCampaign(t.app, { balance_bonus_kopeks: 100 });
      const users = await Promise.all(Array.from({ length: 10 }, () => aUser(t.app)));
      const deleting = () => rejected(deleteCampaign(t.app, admin, campaign.id));
      const works = users.map(
        (user) => async () => (await applyCampaignAtSignIn(t.app, user.id, campaign.slug))?.balanceKopeks ?? 0,
      );
      const place = round % 4;
      const [outcome, ...given] = await Promise.all([deleting(), ...works.slice(place).map((work) => work())]);
      const sum = given.reduce((total, kopeks) => total + kopeks, 0);
      const row = await rowOf<{ campaigns: number; registrations: number; paid: number }>(
        t.app,
        `SELECT (SELECT count(*)::int FROM advertising_campaigns WHERE id = $1::int) AS campaigns,
           (SELECT count(*)::int FROM advertising_campaign_registrations WHERE campaign_id = $1::int) AS registrations,
           (SELECT coalesce(sum(balance_kopeks), 0)::int FROM users WHERE id = ANY($2::int[])) AS paid`,
        [campaign.id, users.map((user) => user.id)],
      );
      if (outcome === 'done') expect(row).toEqual({ campaigns: 0, registrations: 0, paid: 0 });
      else {
        expect(outcome).toMatch(/^Cannot delete campaign with \d+ registrations\. Deactivate it instead\.$/);
        expect(row).toEqual({ campaigns: 1, registrations: sum / 100, paid: sum });
      }
    }
  });

  test('deactivation against sign-ins: after it no user registers', async () => {
    const admin = adminOf((await aUser(t.app)).id);
    for (let round = 0; round < 5; round++) {
      const campaign = await aCampaign(t.app, { bonus_type: 'none' });
      const users = await Promise.all(Array.from({ length: 12 }, () => aUser(t.app)));
      const registrations = async () => (await readCampaignStats(t.app, campaign.id)).registrations;
      const signIns = Promise.all(users.map((user) => applyCampaignAtSignIn(t.app, user.id, campaign.slug)));
      await toggleCampaign(t.app, admin, campaign.id);
      const whenOff = await registrations();
      const given = (await signIns).filter((bonus) => bonus !== null).length;
      expect(await registrations()).toBe(whenOff);
      expect(given).toBe(whenOff);
    }
  });

  test('a partner who is revoked while a campaign is assigned does not keep it', async () => {
    const admin = adminOf((await aUser(t.app)).id);
    for (let round = 0; round < 10; round++) {
      const partner = await aUser(t.app);
      await setUser(t.app, partner.id, { partner_status: 'approved' });
      const campaign = await aCampaign(t.app);
      const revoke = () =>
        inTransaction(t.app, async (tx) => {
          await tx.db.sql('SELECT id FROM users WHERE id = $1::int FOR UPDATE', [partner.id]);
          await tx.db.sql("UPDATE users SET partner_status = 'none' WHERE id = $1::int RETURNING id", [partner.id]);
          await tx.db.sql(
            'UPDATE advertising_campaigns SET partner_user_id = NULL WHERE partner_user_id = $1::int RETURNING id',
            [partner.id],
          );
        });
      const giving = () => rejected(changeCampaign(t.app, admin, campaign.id, { partnerUserId: partner.id }));
      await Promise.all(round % 2 === 0 ? [giving(), revoke()] : [revoke(), giving()]);
      const row = await rowOf(t.app, 'SELECT partner_user_id FROM advertising_campaigns WHERE id = $1::int', [campaign.id]);
      expect(row).toEqual({ partnerUserId: null });
    }
  });
});

describe('counters of simultaneous changes', () => {
  test('payments, purchases and trials of many registrants: the maintained counters equal a recount', async () => {
    const campaigns = [await aCampaign(t.app, { bonus_type: 'none' }), await aCampaign(t.app, { bonus_type: 'none' })];
    const users = await Promise.all(Array.from({ length: 10 }, () => aUser(t.app)));
    const works = users.flatMap((user, index) => [
      () => applyCampaignAtSignIn(t.app, user.id, campaigns[index % 2]!.slug),
      () => topUp(t.app, user.id, 1_000),
      () => topUp(t.app, user.id, 300),
      () => aStoredSubscription(t.app, user.id, { is_trial: true }),
      () => setUser(t.app, user.id, { has_had_paid_subscription: true }),
      () => t.app.db.sql("UPDATE subscriptions SET status = 'expired' WHERE user_id = $1::int RETURNING id", [user.id]),
      () =>
        postMovement(t.app, {
          userId: user.id,
          type: 'subscription_payment',
          amountKopeks: -200,
          paymentMethod: 'balance',
          description: 'race',
          contra: { kind: 'sales_revenue', product: 'tariff' },
        }),
    ]);
    await Promise.all(works.map((work) => work()));
    const read = () =>
      Promise.all(campaigns.map(({ id }) => Promise.all([readCampaignStats(t.app, id), readCampaignChart(t.app, id)])));
    const along = await read();
    expect(along.reduce((sum, [stats]) => sum + stats.totalRevenueKopeks, 0)).toBe(13_000);
    await t.app.db.sql('SELECT recount_campaigns()::text AS done');
    expect(await read()).toEqual(along);
  });
});
