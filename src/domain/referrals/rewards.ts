import type { App } from '../../core/app.ts';
import type { Db } from '../../core/db/db.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { formatPrice, percentOf, rublesOf } from '../../core/money.ts';
import { recordFirstTopup } from '../identity/first-purchase.ts';
import { fullName } from '../identity/rules.ts';
import { postMovement } from '../ledger/post-movement.ts';
import { notifyUser, recipientOf } from '../messaging/send-message.ts';
import { htmlText, LANGUAGES, type Language, type TextKey, text } from '../messaging/texts.ts';
import { REFERRAL_BONUS, REFERRAL_BONUS_NOTICE } from './events.ts';
import {
  deletePendingEarning,
  findAccrualState,
  findReferralUser,
  findSourcePayment,
  insertEarning,
  lockBoth,
  type SourcePayment,
} from './repo.ts';
import type { ReferralUser } from './types.ts';

/**
 * Pays what a payment of a referred user earns: the first bonus to both, or the referrer's commission (spec 04 section 1.3; queue
 * `referrals.accrue`). Flag, movements, earning and notices are one transaction under the locks of both users; the earning stores the
 * payment, so that a repeated job pays nothing. Nothing happens while `REFERRAL_PROGRAM_ENABLED` is off (spec 03 section 2.3).
 * @param transactionId the payment's ledger row; any other movement than a payment from outside is ignored
 */
export async function accrueReward(app: App, { transactionId }: { transactionId: number }): Promise<void> {
  if (!app.settings.get('REFERRAL_PROGRAM_ENABLED')) return;
  const payment = await findSourcePayment(app.db, transactionId);
  if (payment) await inTransaction(app, (t) => accrue(t, payment));
}

async function accrue(t: App, payment: SourcePayment): Promise<void> {
  await lockBoth(t.db, [payment.referrerId, payment.referralId]);
  const referral = await findReferralUser(t.db, payment.referralId);
  const referrer = await findReferralUser(t.db, payment.referrerId);
  // Changed since it was read (a merge): the locks are on the wrong users, so the job has to start again.
  if (!referral || !referrer || referral.referredById !== referrer.id) {
    throw new Error(`the referrer of transaction ${payment.transactionId} has changed`);
  }
  const state = await findAccrualState(t.db, payment);
  // What went back as a whole earns nothing; a part of it is taken back at once (spec 10 M4).
  if (state.isAccrued || state.reversedKopeks >= payment.amountKopeks) return;
  const percent = effectiveCommissionPercent(referrer.commissionPercent, t.settings.get('REFERRAL_COMMISSION_PERCENT'));
  const plan = planAccrual({
    ...state,
    amountKopeks: payment.amountKopeks,
    percent,
    minimumTopupKopeks: t.settings.get('REFERRAL_MINIMUM_TOPUP_KOPEKS'),
    firstTopupBonusKopeks: t.settings.get('REFERRAL_FIRST_TOPUP_BONUS_KOPEKS'),
    inviterBonusKopeks: t.settings.get('REFERRAL_INVITER_BONUS_KOPEKS'),
    maxCommissionPayments: t.settings.get('REFERRAL_MAX_COMMISSION_PAYMENTS'),
  });
  if (plan.isFirstTopup) {
    if (!(await recordFirstTopup(t, payment.referralId)))
      throw new Error('a first top-up was recorded under the lock of its user');
    await deletePendingEarning(t.db, payment);
  }
  await payReferral(t, payment, plan, referral, referrer);
  await payReferrer(t, payment, plan, { referral, referrer, percent });
  if (state.reversedKopeks > 0) await reverseRewards(t, payment.transactionId);
}

/** The bonus of a referral is not an earning of a referrer: it has no row in `referral_earnings`. */
async function payReferral(
  t: App,
  payment: SourcePayment,
  plan: AccrualPlan,
  referral: ReferralUser,
  referrer: ReferralUser,
): Promise<void> {
  const kopeks = plan.referralKopeks;
  if (kopeks === 0 || referral.status === 'deleted') return;
  const bonusId = await credit(t, referral.id, kopeks, text(referral.language, 'partners.transaction_first_topup'));
  await recordBonus(t.db, bonusId, payment.transactionId);
  await announce(t, referral, { kopeks, name: fullName(referrer), messageKey: 'partners.message_first_topup' });
}

async function payReferrer(
  t: App,
  payment: SourcePayment,
  plan: AccrualPlan,
  { referral, referrer, percent }: { referral: ReferralUser; referrer: ReferralUser; percent: number },
): Promise<void> {
  const kopeks = plan.referrerKopeks;
  if (kopeks === 0 || referrer.status === 'deleted') return;
  const name = fullName(referral);
  const key: TextKey = plan.isFirstTopup ? 'partners.transaction_inviter' : 'partners.transaction_commission';
  await credit(t, referrer.id, kopeks, text(referrer.language, key, { referral_name: name, percent }));
  await insertEarning(t.db, payment, { amountKopeks: kopeks, reason: plan.reason, now: t.clock.now() });
  await payDebt(t, referrer.id, kopeks);
  await announce(t, referrer, {
    kopeks,
    name,
    messageKey: plan.isFirstTopup ? 'partners.message_inviter' : 'partners.message_commission',
  });
}

/** @returns the id of the movement */
async function credit(t: App, userId: number, amountKopeks: number, description: string): Promise<number> {
  const posting = await postMovement(t, {
    userId,
    type: 'referral_reward',
    amountKopeks,
    contra: { kind: 'referral_expense' },
    paymentMethod: null,
    description,
  });
  if (posting.outcome !== 'posted') throw new Error(`a referral reward was ${posting.outcome}`);
  return posting.transactionId;
}

async function announce(
  t: App,
  earner: ReferralUser,
  { kopeks, name, messageKey }: { kopeks: number; name: string; messageKey: TextKey },
): Promise<void> {
  const bonus = { bonus_kopeks: kopeks, bonus_rubles: rublesOf(kopeks), referral_name: name };
  await t.events.emit(REFERRAL_BONUS, bonus, { audience: 'user', userId: earner.id });
  if (!t.settings.get('REFERRAL_NOTIFICATIONS_ENABLED')) return;
  const formatted = formatPrice(kopeks, false);
  await notifyUser(t, recipientOf(earner), {
    html: htmlText(earner.language, messageKey, { bonus: formatted, referral_name: name }),
    mail: 'referral_bonus',
    mailParams: { formatted_bonus: formatted, bonus_rubles: bonus.bonus_rubles, referral_name: name },
    event: REFERRAL_BONUS_NOTICE,
    context: { ...bonus, formatted_bonus: formatted },
  });
}

/** Description, by language, of the movement that takes a reward back, or of the one that pays a debt from later earnings. */
export function takeBackTitles(key: 'transaction_taken_back' | 'transaction_debt'): Record<Language, string> {
  const titles = LANGUAGES.map((language) => [language, text(language, `partners.${key}`)]);
  return Object.fromEntries(titles) as Record<Language, string>;
}

/**
 * Revokes what a payment has earned its referrer and its payer, in proportion to what went back of it (spec 10 M4; queue
 * `referrals.take-back`, sent with every reversal). What the referrer has spent or withdrawn becomes a debt that later earnings pay first;
 * what the balance of the payer does not cover is a case. Acts once for each reversal and reward, however often and in whichever order it
 * runs.
 */
export function takeBackRewards(app: App, { paymentId }: { paymentId: number }): Promise<void> {
  return inTransaction(app, async (t) => {
    const payment = await t.db.prisma.payment.findUnique({ where: { id: paymentId }, select: { transactionId: true } });
    if (payment?.transactionId != null) await reverseRewards(t, payment.transactionId);
  });
}

/** The same for the credit of a payment, in the caller's transaction; locks the payer and the earners (prisma/sql/rewards.sql). */
async function reverseRewards(t: App, transactionId: number): Promise<void> {
  const titles = JSON.stringify(takeBackTitles('transaction_taken_back'));
  await t.db.sql('SELECT reverse_rewards($1::int, $2::jsonb, $3::timestamptz) AS done', [transactionId, titles, t.clock.now()]);
}

/** Pays a debt of a locked referrer from a reward of this amount that was just credited. */
async function payDebt(t: App, userId: number, kopeks: number): Promise<void> {
  const titles = JSON.stringify(takeBackTitles('transaction_debt'));
  const values = [userId, kopeks, t.clock.now(), titles];
  await t.db.sql('SELECT pay_referral_debt($1::int, $2::bigint, $3::timestamptz, $4::jsonb) AS paid', values);
}

/** Records the bonus of a payer by its movement, with the top-up that earned it, so that it can be taken back. */
async function recordBonus(db: Db, transactionId: number, sourceTransactionId: number): Promise<void> {
  await db.prisma.referralBonus.create({ data: { transactionId, sourceTransactionId }, select: { transactionId: true } });
}

/** A referrer who owes earnings that were taken back; kopeks. */
interface ReferralDebtor {
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

/** Moves the debt of a merged account to the one that remains; both are locked. */
export async function moveDebt(t: App, fromUserId: number, toUserId: number): Promise<void> {
  const values = [fromUserId, toUserId, t.clock.now()];
  await t.db.sql('SELECT move_referral_debt($1::int, $2::int, $3::timestamptz) AS moved', values);
}

// Pure rules of the referral program (spec 04 section 1).

/**
 * Percent of a referred user's payments that the referrer gets: the personal one where it is a percentage, else the service-wide one,
 * limited to 0..100. 0 = no commission.
 */
export function effectiveCommissionPercent(personal: number | null, global: number): number {
  if (personal !== null && personal >= 0 && personal <= 100) return personal;
  return Math.min(100, Math.max(0, global));
}

/** What the reward of a payment depends on; kopeks and percent. */
export interface AccrualFacts {
  amountKopeks: number;
  percent: number;
  hasMadeFirstTopup: boolean;
  /** `referral_commission_topup` rows of the pair so far. */
  commissionsPaid: number;
  minimumTopupKopeks: number;
  firstTopupBonusKopeks: number;
  inviterBonusKopeks: number;
  /** 0 = no limit. */
  maxCommissionPayments: number;
}

interface AccrualPlan {
  /** The referral's first top-up that counts. */
  isFirstTopup: boolean;
  /** To the referral. */
  referralKopeks: number;
  /** To the referrer. */
  referrerKopeks: number;
  reason: 'referral_first_topup' | 'referral_commission_topup';
}

/** Who gets what for a payment (spec 04 section 1.3). The limit counts commissions alone, and does not apply to the first bonus. */
export function planAccrual(facts: AccrualFacts): AccrualPlan {
  const commission = percentOf(facts.amountKopeks, facts.percent);
  if (!facts.hasMadeFirstTopup && facts.amountKopeks >= facts.minimumTopupKopeks) {
    const referrerKopeks = facts.inviterBonusKopeks + commission;
    return { isFirstTopup: true, referralKopeks: facts.firstTopupBonusKopeks, referrerKopeks, reason: 'referral_first_topup' };
  }
  const isLimited = facts.maxCommissionPayments > 0 && facts.commissionsPaid >= facts.maxCommissionPayments;
  return {
    isFirstTopup: false,
    referralKopeks: 0,
    referrerKopeks: isLimited ? 0 : commission,
    reason: 'referral_commission_topup',
  };
}
