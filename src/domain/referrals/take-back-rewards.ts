import type { App } from '../../core/app.ts';
import type { Db } from '../../core/db/db.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { LANGUAGES, type Language, text } from '../messaging/texts.ts';

/** Description, by language, of the movement that takes a reward back, or of the one that pays a debt from later earnings. */
export function takeBackTitles(key: 'transaction_taken_back' | 'transaction_debt'): Record<Language, string> {
  const titles = LANGUAGES.map((language) => [language, text(language, `partners.${key}`)]);
  return Object.fromEntries(titles) as Record<Language, string>;
}

/**
 * Takes back what a payment has earned its referrer and its payer, in proportion to what went back of it (spec 10 M4; queue
 * `referrals.take-back`, sent with every reversal). What the referrer has spent or withdrawn becomes a debt that later earnings pay first; what
 * the balance of the payer does not cover is a case. Acts once for each reversal and reward, however often and in whichever order it runs.
 */
export function takeBackRewards(app: App, { paymentId }: { paymentId: number }): Promise<void> {
  return inTransaction(app, async (t) => {
    const payment = await t.db.prisma.payment.findUnique({ where: { id: paymentId }, select: { transactionId: true } });
    if (payment?.transactionId != null) await reverseRewards(t, payment.transactionId);
  });
}

/** The same for the credit of a payment, in the caller's transaction; locks the payer and the earners (prisma/sql/rewards.sql). */
export async function reverseRewards(t: App, transactionId: number): Promise<void> {
  const titles = JSON.stringify(takeBackTitles('transaction_taken_back'));
  await t.db.sql('SELECT reverse_rewards($1::int, $2::jsonb, $3::timestamptz) AS done', [transactionId, titles, t.clock.now()]);
}

/** Pays a debt of a locked referrer from a reward of this amount that was just credited. */
export async function payDebt(t: App, userId: number, kopeks: number): Promise<void> {
  const titles = JSON.stringify(takeBackTitles('transaction_debt'));
  const values = [userId, kopeks, t.clock.now(), titles];
  await t.db.sql('SELECT pay_referral_debt($1::int, $2::bigint, $3::timestamptz, $4::jsonb) AS paid', values);
}

/** Records the bonus of a payer by its movement, with the top-up that earned it, so that it can be taken back. */
export async function recordBonus(db: Db, transactionId: number, sourceTransactionId: number): Promise<void> {
  await db.prisma.referralBonus.create({ data: { transactionId, sourceTransactionId }, select: { transactionId: true } });
}

/** A referrer who owes earnings that were taken back; kopeks. */
export interface ReferralDebtor {
  userId: number;
  kopeks: number;
  updatedAt: Date;
}

/** The referrers with debts, the greatest first, and what all owe together. */
export async function listDebts(app: App, limit: number): Promise<{ debtors: ReferralDebtor[]; totalKopeks: number }> {
  const [debtors, [sum]] = await Promise.all([
    app.db.sql<ReferralDebtor>(
      'SELECT user_id, kopeks, updated_at FROM referral_debts WHERE kopeks > 0 ORDER BY kopeks DESC, user_id LIMIT $1::int',
      [limit],
    ),
    app.db.sql<{ kopeks: number }>('SELECT coalesce(sum(kopeks), 0)::bigint AS kopeks FROM referral_debts'),
  ]);
  return { debtors, totalKopeks: sum!.kopeks };
}

/** What a referrer owes, kopeks. */
export async function readDebt(app: App, userId: number): Promise<number> {
  const [row] = await app.db.sql<{ kopeks: number }>('SELECT kopeks FROM referral_debts WHERE user_id = $1::int', [userId]);
  return row?.kopeks ?? 0;
}

/** Gives the debt of a merged account to the one that remains; both are locked. */
export async function moveDebt(t: App, fromUserId: number, toUserId: number): Promise<void> {
  const values = [fromUserId, toUserId, t.clock.now()];
  await t.db.sql('SELECT move_referral_debt($1::int, $2::int, $3::timestamptz) AS moved', values);
}
