import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { rublesOf } from '../../core/money.ts';
import { appendEvent } from '../activity/record-event.ts';
import { recordFirstTopup } from '../identity/record-first-topup.ts';
import { postMovement } from '../ledger/post-movement.ts';
import { isTransactionTaken, type LockedPayer, lockPayer, markCredited, markRefunded, markUncredited } from './credit-repo.ts';
import { BALANCE_TOPUP } from './events.ts';
import { methodName } from './method-settings.ts';
import type { ProviderPaymentState } from './ports.ts';
import type { PaymentPurpose } from './purpose-payment.ts';
import { findPayment, lockPayment } from './repo.ts';
import { classifyState, TOPUP_PURPOSES } from './rules.ts';
import type { CreditResult, Payment } from './types.ts';

/**
 * Applies a state that the provider itself confirmed to a payment. This is the only way a top-up reaches a balance, whether a callback,
 * a manual check or the background check asked. It may run any number of times, concurrently or out of order (spec 03 sections 2.2 and
 * 11). Paid mark, ledger, balance, events, feed row and follow-up job are one transaction, in which no outside system is called.
 *
 * A refund of a credited payment is stored and logged as an alarm, not debited: the money may be spent and the balance must not become
 * negative, so an administrator decides.
 * @param state the answer of `fetchStatus`, fetched outside of any transaction
 * @param purposes what invoices pay besides the balance
 * @throws Error when the payment is neither a top-up nor of one of the purposes
 */
export async function creditPayment(
  app: App,
  paymentId: number,
  state: ProviderPaymentState,
  purposes: readonly PaymentPurpose[] = [],
): Promise<CreditResult> {
  const payment = await findPayment(app.db, paymentId);
  if (!payment) throw new Error(`payment ${paymentId} does not exist`);
  const purpose = purposes.find((known) => known.purpose === payment.purpose);
  if (!purpose && !TOPUP_PURPOSES.includes(payment.purpose)) throw new Error(`payment ${paymentId} is not a top-up`);
  const verdict = classifyState(payment, state);
  if (verdict === 'credit') return purpose ? purpose.settle(app, payment, state) : creditTopup(app, payment, state);
  await applyUncredited(app, payment, state, verdict, purpose);
  return verdict;
}

async function applyUncredited(
  app: App,
  payment: Payment,
  state: ProviderPaymentState,
  verdict: CreditResult,
  purpose: PaymentPurpose | undefined,
): Promise<void> {
  const now = app.clock.now();
  switch (verdict) {
    case 'pending':
    case 'failed':
      await markUncredited(app.db, payment.id, verdict, state, now);
      return;
    case 'amount_mismatch':
      await inTransaction(app, async (t) => {
        if (!(await markUncredited(t.db, payment.id, verdict, state, now))) return;
        await purpose?.recordMismatch(t, payment, state);
        raiseAlarm(t, payment, verdict, { reportedKopeks: state.amountKopeks, reportedCurrency: state.currency });
      });
      return;
    case 'refunded':
      if (await markRefunded(app.db, payment.id, state.status, now)) raiseAlarm(app, payment, verdict);
      return;
    case 'order_mismatch':
      raiseAlarm(app, payment, verdict, { reportedExternalId: state.externalId, reportedOrderId: state.orderId });
      return;
    default:
      return;
  }
}

async function creditTopup(app: App, seen: Payment, state: ProviderPaymentState): Promise<CreditResult> {
  const result = await inTransaction(app, async (t): Promise<CreditResult> => {
    const payer = seen.userId === null ? null : await lockPayer(t.db, seen.userId);
    if (!payer) return 'no_user';
    const payment = await lockPayment(t.db, seen.id);
    // Moved to another account (merge) since it was read, so the wrong user is locked: the caller has to try again.
    if (payment?.userId !== payer.id) throw new Error(`payment ${seen.id} belongs to another user now`);
    const verdict = classifyState(payment, state);
    if (verdict !== 'credit') return verdict;
    return postTopup(t, payment, payer, state);
  });
  if (result === 'no_user') raiseAlarm(app, seen, result);
  return result;
}

async function postTopup(t: App, payment: Payment, payer: LockedPayer, state: ProviderPaymentState): Promise<CreditResult> {
  const now = t.clock.now();
  const externalId = payment.externalId ?? state.externalId;
  const posting = await postMovement(t, {
    userId: payer.id,
    type: 'deposit',
    amountKopeks: payment.amountKopeks,
    contra: { kind: 'provider_clearing', provider: payment.method },
    paymentMethod: payment.method,
    externalId,
    description: topupTitle(t, payment.method),
    createdAt: payment.createdAt,
  });
  if (posting.outcome === 'no_user' || posting.outcome === 'insufficient')
    throw new Error(`posting a deposit returned ${posting.outcome}`);
  if (posting.outcome === 'duplicate' && (await isTransactionTaken(t.db, posting.transactionId, payer.id))) {
    raiseAlarm(t, payment, 'order_mismatch', { transactionId: posting.transactionId });
    return 'order_mismatch';
  }
  await markCredited(t.db, {
    paymentId: payment.id,
    transactionId: posting.transactionId,
    externalId,
    status: state.status,
    paidAt: state.paidAt ?? now,
    raw: state.raw,
    now,
  });
  // The ledger row was posted before; only its link to this payment was missing.
  if (posting.outcome === 'duplicate') return 'already_credited';
  await announceTopup(t, {
    paymentId: payment.id,
    method: payment.method,
    amountKopeks: payment.amountKopeks,
    transactionId: posting.transactionId,
    balanceKopeks: posting.balanceKopeks,
    payer,
  });
  return 'credited';
}

/** A top-up whose money has just been posted in this transaction. */
export interface PostedTopup {
  paymentId: number;
  method: string;
  amountKopeks: number;
  transactionId: number;
  balanceKopeks: number;
  payer: LockedPayer;
}

/** What belongs to every posted top-up, in its transaction: feed row, first-top-up flag, event to the payer and follow-up jobs. */
export async function announceTopup(t: App, topup: PostedTopup): Promise<void> {
  const { payer, amountKopeks, balanceKopeks } = topup;
  await appendEvent(t, {
    eventType: 'balance_topup',
    userId: payer.id,
    transactionId: topup.transactionId,
    amountKopeks,
    currency: 'RUB',
    extra: {
      status: payer.hasMadeFirstTopup ? 'repeat' : 'first',
      balance_before: balanceKopeks - amountKopeks,
      balance_after: balanceKopeks,
      referrer_info: payer.referredById === null ? null : { user_id: payer.referredById },
      promo_group_id: payer.promoGroupId,
      promo_group_name: payer.promoGroupName,
    },
  });
  // With a referrer the flag belongs to the referral bonus (spec 03 section 2.3).
  if (payer.referredById === null && !payer.hasMadeFirstTopup) await recordFirstTopup(t, payer.id);
  await t.events.emit(
    BALANCE_TOPUP,
    {
      amount_kopeks: amountKopeks,
      amount_rubles: rublesOf(amountKopeks),
      new_balance_kopeks: balanceKopeks,
      new_balance_rubles: rublesOf(balanceKopeks),
      description: methodName(t, topup.method),
    },
    { audience: 'user', userId: payer.id },
  );
  await t.jobs.send('payments.after-topup', { paymentId: topup.paymentId });
  // Only the referrer of this moment earns by this payment; one that is recorded later does not.
  if (payer.referredById !== null) await t.jobs.send('referrals.accrue', { transactionId: topup.transactionId });
}

/** Description of the ledger row. */
export function topupTitle(app: App, method: string): string {
  return `${app.settings.get('PAYMENT_BALANCE_DESCRIPTION')} (${methodName(app, method)})`;
}

/** Logs an alarm for administrators: the payment keeps its state, and the log says why nothing was credited or debited. */
export function raiseAlarm(
  app: App,
  payment: { id: number | null; method: string; userId: number | null },
  reason: string,
  facts: object = {},
): void {
  app.log.error(
    { alarm: `payment_${reason}`, paymentId: payment.id, method: payment.method, userId: payment.userId, ...facts },
    'a payment needs a decision of an administrator',
  );
}
