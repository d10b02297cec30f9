import { beforeAll, describe, expect, test } from 'vitest';
import { applyCampaignAtSignIn } from '../../src/domain/campaigns/apply-at-sign-in.ts';
import { checkLedger } from '../../src/domain/ledger/check-ledger.ts';
import { registerReferralAtSignIn } from '../../src/domain/referrals/register-referral.ts';
import { aCampaign } from '../domain/campaigns/campaign-samples.ts';
import { userRow } from '../domain/merge/merge-samples.ts';
import { rowOf } from '../domain/subscriptions/sale-samples.ts';
import { aUser } from '../support/builders.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';

let t: TestApp;
beforeAll(async () => {
  if (!serverUrl) throw new Error('Races need a PostgreSQL server: set TEST_DATABASE_URL');
  t = await testApp();
});

describe('campaign bonuses at once (H15)', () => {
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
    const held = await rowOf(
      t.app,
      `SELECT (SELECT balance_kopeks FROM users WHERE id = $1::int) AS balance,
         (SELECT count(*)::int FROM transactions WHERE user_id = $1::int) AS movements,
         (SELECT count(*)::int FROM advertising_campaign_registrations WHERE user_id = $1::int) AS registrations`,
      [user.id],
    );
    expect(held).toEqual({ balance: 1_000, movements: 1, registrations: 1 });
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test('forty newcomers of one partner: forty bonuses and earnings, none lost', async () => {
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
      const codeOf = async (id: number) => (await userRow(t.app, id)).referral_code as string;
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
