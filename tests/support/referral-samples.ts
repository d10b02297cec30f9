import type { App } from '../../src/core/app.ts';
import { inTransaction } from '../../src/core/db/transaction.ts';
import { postMovement } from '../../src/domain/ledger/post-movement.ts';
import { attributeReferral } from '../../src/domain/referrals/register-referral.ts';
import { aUser, type BuiltUser, unique } from './builders.ts';
import { setUser } from './merge-samples.ts';

export interface ReferralPair {
  referrer: BuiltUser;
  referral: BuiltUser;
}

/** Two users, one of whom invited the other. Columns overwrite what the builder wrote. */
export async function aReferralPair(
  app: App,
  columns: { referrer?: Record<string, unknown>; referral?: Record<string, unknown> } = {},
): Promise<ReferralPair> {
  const referrer = await aUser(app, { language: 'en' });
  await setUser(app, referrer.id, columns.referrer ?? {});
  return { referrer, referral: await aReferralOf(app, referrer.id, columns.referral) };
}

/** A new user who is registered as a referral. */
export async function aReferralOf(app: App, referrerId: number, columns: Record<string, unknown> = {}): Promise<BuiltUser> {
  const referral = await aUser(app, { language: 'en' });
  await inTransaction(app, (t) => attributeReferral(t, { referrerId, referralId: referral.id }));
  await setUser(app, referral.id, columns);
  return referral;
}

/** A deposit from outside. @returns its transaction */
export async function aDeposit(app: App, userId: number, amountKopeks: number, paymentMethod = 'yookassa'): Promise<number> {
  const posting = await postMovement(app, {
    userId,
    type: 'deposit',
    amountKopeks,
    contra: { kind: 'provider_clearing', provider: paymentMethod },
    paymentMethod,
    externalId: `deposit-${unique()}`,
    description: null,
  });
  if (posting.outcome !== 'posted') throw new Error(posting.outcome);
  return posting.transactionId;
}

/** Rewards of a referrer by one referral, oldest first. */
export function earningsOf(app: App, { referrer, referral }: ReferralPair) {
  return app.db.sql<{
    reason: string;
    amountKopeks: number;
    referralTransactionId: number | null;
    campaignId: number | null;
  }>(
    `SELECT reason, amount_kopeks, referral_transaction_id, campaign_id FROM referral_earnings
     WHERE user_id = $1::int AND referral_id = $2::int ORDER BY id`,
    [referrer.id, referral.id],
  );
}

/** What a user was paid as `referral_reward`, oldest first. */
export async function rewardsOf(app: App, userId: number): Promise<number[]> {
  const rows = await app.db.sql<{ amountKopeks: number }>(
    "SELECT amount_kopeks FROM transactions WHERE user_id = $1::int AND type = 'referral_reward' ORDER BY id",
    [userId],
  );
  return rows.map((row) => row.amountKopeks);
}

/** A reward written straight into the table: for lists and statistics. */
export async function anEarning(
  app: App,
  pair: ReferralPair,
  earning: { kopeks: number; at: Date; campaignId?: number },
): Promise<void> {
  const transactionId = await aDeposit(app, pair.referral.id, 100);
  await app.db.sql(
    `INSERT INTO referral_earnings (user_id, referral_id, amount_kopeks, reason, referral_transaction_id, campaign_id, created_at)
     VALUES ($1::int, $2::int, $3::bigint, 'referral_commission_topup', $4::int, $5::int, $6::timestamptz) RETURNING id`,
    [pair.referrer.id, pair.referral.id, earning.kopeks, transactionId, earning.campaignId ?? null, earning.at],
  );
}

/** The counters that triggers maintain, and what a count of the rows gives. */
export async function countersAndCounts(app: App) {
  const read = async () => ({
    totals: await app.db.sql(
      `SELECT user_id, referrals, paid_referrals, earned_kopeks FROM referrer_stats
       WHERE referrals <> 0 OR paid_referrals <> 0 OR earned_kopeks <> 0 ORDER BY user_id`,
    ),
    days: await app.db.sql(
      `SELECT user_id, day::text, referrals, earned_kopeks FROM referrer_days WHERE referrals <> 0 OR earned_kopeks <> 0 ORDER BY user_id, day`,
    ),
    byDay: await app.db.sql(
      `SELECT day::text, sum(referrals)::int AS referrals, sum(paid_referrals)::int AS paid, sum(earned_kopeks)::bigint AS kopeks
       FROM referral_day_counters GROUP BY day HAVING sum(referrals) <> 0 OR sum(paid_referrals) <> 0 OR sum(earned_kopeks) <> 0 ORDER BY day`,
    ),
  });
  const stored = await read();
  await app.db.sql('SELECT recount_referrals()');
  return { stored, counted: await read() };
}
