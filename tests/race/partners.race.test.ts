import { beforeAll, describe, expect, test } from 'vitest';
import type { AdminActor } from '../../src/core/actor.ts';
import type { App } from '../../src/core/app.ts';
import { inTransaction } from '../../src/core/db/transaction.ts';
import { assignCampaignToPartner, revokePartner } from '../../src/domain/campaigns/partner-campaigns.ts';
import { checkLedger } from '../../src/domain/ledger/check-ledger.ts';
import { postMovement } from '../../src/domain/ledger/post-movement.ts';
import { processCallback } from '../../src/domain/payments/process-callback.ts';
import { findPayment } from '../../src/domain/payments/repo.ts';
import { topupBalance } from '../../src/domain/payments/topup-balance.ts';
import { applyForPartnership, changePartnerCommission, decideApplication } from '../../src/domain/referrals/partners/partners.ts';
import { attributeReferral } from '../../src/domain/referrals/register-referral.ts';
import { accrueReward, readDebt, takeBackRewards } from '../../src/domain/referrals/rewards.ts';
import { aUser, type BuiltUser, unique } from '../support/builders.ts';
import { aCampaign } from '../support/campaign-samples.ts';
import { setUser, userRow } from '../support/merge-samples.ts';
import { count, detailOf, times } from '../support/parallel.ts';
import { callback, callbackJobs, paymentFacts, reversePayment, runCallbackJobs } from '../support/payment-samples.ts';
import { aDeposit, aReferralOf, aReferralPair, countersAndCounts, earningsOf, rewardsOf } from '../support/referral-samples.ts';
import { ScriptedProvider, withProvider } from '../support/scripted-provider.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';

let t: TestApp;
let admin: AdminActor;
beforeAll(async () => {
  if (!serverUrl) throw new Error('Races need a PostgreSQL server: set TEST_DATABASE_URL');
  t = await testApp({ environment: { DEFAULT_LANGUAGE: 'en' } });
  admin = { kind: 'admin', userId: (await aUser(t.app)).id, level: 100, isConfigAdmin: false };
});

const nothing = {
  companyName: null,
  websiteUrl: null,
  messengerChannel: null,
  description: null,
  expectedMonthlyReferrals: null,
  desiredCommissionPercent: null,
};

describe('rewards at once (spec 04 section 1.4)', () => {
  test('spec 04 section 1.4, hazard 1: twenty callbacks about one first top-up, then the job ten times: one bonus, one reward', async () => {
    const provider = new ScriptedProvider();
    const app = await withProvider(t.app, provider);
    const pair = await aReferralPair(app);
    const actor = { kind: 'user', userId: pair.referral.id } as const;
    const { paymentId } = await topupBalance(
      app,
      actor,
      { amountKopeks: 50_000, method: 'sandbox', option: null },
      { idempotencyKey: null },
    );
    const externalId = (await paymentFacts(app, paymentId)).externalId!;
    provider.set(externalId, 'paid');
    await times(20, () => callback(app, externalId));
    await Promise.all((await callbackJobs(app, externalId)).map((callbackId) => processCallback(app, { callbackId })));
    const jobs = await app.db.sql<{ data: { transactionId: number } }>(
      `SELECT j.data FROM jobs.job j JOIN payments p ON p.transaction_id = (j.data->>'transactionId')::int
       WHERE j.name = 'referrals.accrue' AND p.id = $1::int`,
      [paymentId],
    );
    expect(jobs).toHaveLength(1);
    await times(10, () => accrueReward(app, jobs[0]!.data));
    expect(await earningsOf(app, pair)).toMatchObject([{ reason: 'referral_first_topup', amountKopeks: 22_500 }]);
    expect(await rewardsOf(app, pair.referral.id)).toEqual([10_000]);
    expect(await rewardsOf(app, pair.referrer.id)).toEqual([22_500]);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('spec 10 M4: rewards, reversals of their payment and what takes them back at once: nothing is left, nothing is taken twice', async () => {
    const provider = new ScriptedProvider();
    const app = await withProvider(t.app, provider);
    const other = await withProvider((await testApp()).app, provider);
    for (let round = 0; round < 8; round++) {
      const pair = await aReferralPair(app);
      const order = { amountKopeks: 50_000, method: 'sandbox', option: null };
      const { paymentId } = await topupBalance(app, { kind: 'user', userId: pair.referral.id }, order, { idempotencyKey: null });
      const externalId = (await paymentFacts(app, paymentId)).externalId!;
      provider.set(externalId, 'paid');
      await callback(app, externalId);
      await runCallbackJobs(app, externalId);
      const { transactionId } = (await findPayment(app.db, paymentId))!;
      const reward = { transactionId: transactionId! };
      if (round % 2 === 0) await accrueReward(app, reward);
      const goBack = async (on: App, reversalId: string, amountKopeks: number | null) => {
        await reversePayment(on, (await findPayment(on.db, paymentId))!, [{ reversalId, kind: 'refund', amountKopeks }]);
        await takeBackRewards(on, { paymentId });
      };
      const part = `part-${unique()}`;
      await Promise.all([
        ...Array.from({ length: 3 }, (_, index) => accrueReward(index % 2 === 0 ? app : other, reward)),
        goBack(app, part, 17_777),
        goBack(other, part, 17_777),
        goBack(other, `rest-${unique()}`, 32_223),
        ...Array.from({ length: 4 }, (_, index) => takeBackRewards(index % 2 === 0 ? app : other, { paymentId })),
        postMovement(app, {
          userId: pair.referrer.id,
          type: 'subscription_payment',
          amountKopeks: -5_000,
          description: null,
          contra: { kind: 'sales_revenue', product: 'tariff' },
          paymentMethod: 'balance',
        }),
      ]);
      await accrueReward(app, reward);
      await takeBackRewards(app, { paymentId });
      expect((await earningsOf(app, pair)).map((row) => row.amountKopeks)).toEqual([0]);
      const [{ spent }] = (await app.db.sql<{ spent: number }>(
        "SELECT coalesce(-sum(amount_kopeks), 0)::bigint AS spent FROM transactions WHERE user_id = $1::int AND type = 'subscription_payment'",
        [pair.referrer.id],
      )) as [{ spent: number }];
      expect((await userRow(app, pair.referrer.id)).balanceKopeks - (await readDebt(app, pair.referrer.id)) + spent).toBe(0);
      expect((await userRow(app, pair.referral.id)).balanceKopeks).toBe(0);
    }
    expect(await checkLedger(app)).toEqual([]);
  });

  test('spec 04 section 1.4, hazard 1: ten different payments at once: one of them is the first', async () => {
    const pair = await aReferralPair(t.app);
    const payments = await times(10, () => aDeposit(t.app, pair.referral.id, 20_000));
    await Promise.all(payments.map((transactionId) => accrueReward(t.app, { transactionId })));
    const reasons = (await earningsOf(t.app, pair)).map((row) => row.reason);
    expect(count(reasons, 'referral_first_topup')).toBe(1);
    expect(count(reasons, 'referral_commission_topup')).toBe(9);
    expect(await rewardsOf(t.app, pair.referral.id)).toEqual([10_000]);
  });

  test('spec 04 section 1.4, hazard 3: a limit of three commissions, ten payments at once: three', async () => {
    const { app } = await testApp({ environment: { REFERRAL_MAX_COMMISSION_PAYMENTS: '3' } });
    const pair = await aReferralPair(app, { referral: { has_made_first_topup: true } });
    const payments = await times(10, () => aDeposit(app, pair.referral.id, 20_000));
    await Promise.all(payments.map((transactionId) => accrueReward(app, { transactionId })));
    expect(await rewardsOf(app, pair.referrer.id)).toEqual([5_000, 5_000, 5_000]);
  });

  test('two users of one referral chain who pay at the same time do not deadlock', async () => {
    const top = await aUser(t.app);
    const middle = await aReferralOf(t.app, top.id);
    const bottom = await aReferralOf(t.app, middle.id);
    const payments = await times(20, (i) => aDeposit(t.app, (i % 2 === 0 ? middle : bottom).id, 20_000));
    await Promise.all(payments.map((transactionId) => accrueReward(t.app, { transactionId })));
    expect(await rewardsOf(t.app, top.id)).toHaveLength(10);
    expect(await checkLedger(t.app)).toEqual([]);
    const { stored, counted } = await countersAndCounts(t.app);
    expect(stored).toEqual(counted);
  });
});

describe('partnership at once (spec 04 section 3.4)', () => {
  test('spec 04 section 3.4, hazard 1: twenty applications of one user: one pending row', async () => {
    const user = await aUser(t.app, { language: 'en' });
    const outcomes = await times(20, () => detailOf(applyForPartnership(t.app, { kind: 'user', userId: user.id }, nothing)));
    expect(count(outcomes, 'done')).toBe(1);
    expect(count(outcomes, 'Your application is being considered already')).toBe(19);
    const rows = await t.app.db.sql('SELECT id FROM partner_applications WHERE user_id = $1::int', [user.id]);
    expect(rows).toHaveLength(1);
  });

  test('ten approvals and ten rejections of one application: one decision, and the user has its status', async () => {
    const user = await aUser(t.app, { language: 'en' });
    const { id } = await applyForPartnership(t.app, { kind: 'user', userId: user.id }, nothing);
    const outcomes = await times(20, (i) =>
      detailOf(
        decideApplication(
          t.app,
          admin,
          id,
          i % 2 === 0 ? { status: 'approved', percent: 40, comment: null } : { status: 'rejected', comment: null },
        ),
      ),
    );
    expect(count(outcomes, 'done')).toBe(1);
    expect(count(outcomes, 'The application has been decided on already')).toBe(19);
    const [row] = await t.app.db.sql<{ status: string }>('SELECT status FROM partner_applications WHERE id = $1::int', [id]);
    expect(await userRow(t.app, user.id)).toMatchObject({ partnerStatus: row!.status });
  });

  test('spec 04 section 3.4, hazard 2: a revocation against assignments and commissions leaves nothing attached', async () => {
    for (let round = 0; round < 5; round++) {
      const partner = await aUser(t.app);
      await setUser(t.app, partner.id, { partner_status: 'approved', referral_commission_percent: 30 });
      const campaigns = await times(6, () => aCampaign(t.app));
      const outcomes = await Promise.all([
        ...campaigns
          .slice(0, 3)
          .map((c) => detailOf(assignCampaignToPartner(t.app, admin, { userId: partner.id, campaignId: c.id }))),
        detailOf(revokePartner(t.app, admin, partner.id)),
        detailOf(revokePartner(t.app, admin, partner.id)),
        detailOf(changePartnerCommission(t.app, admin, partner.id, 50)),
        ...campaigns
          .slice(3)
          .map((c) => detailOf(assignCampaignToPartner(t.app, admin, { userId: partner.id, campaignId: c.id }))),
      ]);
      expect([outcomes[3], outcomes[4]].sort()).toEqual(['The user is not a partner', 'done']);
      expect(outcomes.every((outcome) => outcome === 'done' || outcome === 'The user is not a partner')).toBe(true);
      const assigned = await t.app.db.sql('SELECT id FROM advertising_campaigns WHERE partner_user_id = $1::int', [partner.id]);
      expect(assigned).toEqual([]);
      expect(await userRow(t.app, partner.id)).toMatchObject({ partnerStatus: 'none', referralCommissionPercent: null });
    }
  });

  test('ten partners and one campaign: one has it', async () => {
    const partners = await times(10, () => aUser(t.app));
    for (const partner of partners) await setUser(t.app, partner.id, { partner_status: 'approved' });
    const { id: campaignId } = await aCampaign(t.app);
    const outcomes = await Promise.all(
      partners.map(({ id }) => detailOf(assignCampaignToPartner(t.app, admin, { userId: id, campaignId }))),
    );
    expect(count(outcomes, 'done')).toBe(1);
    expect(count(outcomes, 'The campaign belongs to another partner')).toBe(9);
  });
});

describe('spec 04 section 16.4: referral cycles are impossible', () => {
  const attribute = (referralId: number, referrerId: number) =>
    detailOf(inTransaction(t.app, (x) => attributeReferral(x, { referrerId, referralId })));
  const cycles = () =>
    t.app.db.sql(
      `WITH RECURSIVE up (start, id, depth) AS (
         SELECT id, referred_by_id, 1 FROM users WHERE referred_by_id IS NOT NULL
         UNION ALL SELECT up.start, u.referred_by_id, up.depth + 1 FROM up JOIN users u ON u.id = up.id
           WHERE u.referred_by_id IS NOT NULL AND up.depth < 20 AND up.id <> up.start)
       SELECT start FROM up WHERE id = start`,
    );

  test('two opposite attributions, and rings of three to six, all at once', async () => {
    for (let round = 0; round < 6; round++) {
      for (const size of [2, 3, 4, 5, 6]) {
        const ring = await times(size, () => aUser(t.app));
        await Promise.all(ring.map((user, i) => attribute(user.id, ring[(i + 1) % size]!.id)));
        const closed = await t.app.db.sql('SELECT id FROM users WHERE id = ANY($1::int[]) AND referred_by_id IS NULL', [
          ring.map((user) => user.id),
        ]);
        expect(closed.length, `ring of ${size}`).toBeGreaterThan(0);
      }
    }
    expect(await cycles()).toEqual([]);
  });

  test('the referrer of a user whose first referral comes at the same time is the same in the referral stats', async () => {
    for (let round = 0; round < 20; round++) {
      const [referrer, user, first] = (await times(3, () => aUser(t.app))) as [BuiltUser, BuiltUser, BuiltUser];
      const outcomes = await Promise.all([attribute(user.id, referrer.id), attribute(first.id, user.id)]);
      expect(outcomes).toEqual(['done', 'done']);
    }
    const differing = await t.app.db.sql(
      'SELECT u.id FROM users u JOIN referrer_stats f ON f.user_id = u.id WHERE f.referred_by_id IS DISTINCT FROM u.referred_by_id',
    );
    expect(differing).toEqual([]);
  });

  test('two changes that share no user cannot close a ring between them', async () => {
    for (let round = 0; round < 10; round++) {
      const [a, b, c, d] = (await times(4, () => aUser(t.app))) as [BuiltUser, BuiltUser, BuiltUser, BuiltUser];
      await attribute(a.id, b.id);
      await attribute(c.id, d.id);
      await Promise.all([attribute(b.id, c.id), attribute(d.id, a.id)]);
    }
    expect(await cycles()).toEqual([]);
  });
});
