import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { formatPrice, rublesOf } from '../../core/money.ts';
import { recordFirstTopup } from '../identity/record-first-topup.ts';
import { fullName } from '../identity/rules.ts';
import { postMovement } from '../ledger/post-movement.ts';
import { notifyUser, recipientOf } from '../messaging/notify-user.ts';
import { htmlText, type TextKey, text } from '../messaging/texts.ts';
import {
  deletePendingEarning,
  findAccrualState,
  findSourcePayment,
  insertEarning,
  lockBoth,
  type SourcePayment,
} from './accrual-repo.ts';
import { REFERRAL_BONUS, REFERRAL_BONUS_NOTICE } from './events.ts';
import { findReferralUser } from './repo.ts';
import { type AccrualPlan, effectiveCommissionPercent, planAccrual } from './rules.ts';
import { payDebt, recordBonus, reverseRewards } from './take-back-rewards.ts';
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
