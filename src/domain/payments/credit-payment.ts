import type { App } from '../../core/app.ts';
import { committedStatement } from '../../core/db/committed-statement.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { markRefunded, markUncredited, postTopup } from './credit-repo.ts';
import { methodName } from './method-settings.ts';
import { topupTitles } from './payment-texts.ts';
import type { ProviderPaymentState } from './ports.ts';
import type { PaymentPurpose } from './purpose-payment.ts';
import { findPayment } from './repo.ts';
import { classifyState, TOPUP_PURPOSES } from './rules.ts';
import type { CreditResult, Payment } from './types.ts';

/** A payment changes a few times in its whole existence; more changes between two statements are an error of the program. */
const MAX_READS = 5;

/**
 * Applies a state that the provider itself confirmed to a payment. This is the only way a top-up reaches a balance, whether a callback,
 * a manual check or the background check asked. It may run any number of times, concurrently or out of order (spec 03 sections 2.2 and
 * 11). Paid mark, ledger, balance, events, feed row and follow-up job are one statement (prisma/sql/topups.sql), hence one transaction.
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
  for (let attempt = 1; attempt <= MAX_READS; attempt++) {
    const payment = await findPayment(app.db, paymentId);
    if (!payment) throw new Error(`payment ${paymentId} does not exist`);
    const purpose = purposes.find((known) => known.purpose === payment.purpose);
    if (!purpose && !isTopup(payment)) throw new Error(`payment ${paymentId} is not a top-up`);
    const verdict = classifyState(payment, state);
    if (verdict !== 'credit') {
      await applyUncredited(app, payment, state, verdict, purpose);
      return verdict;
    }
    const result = purpose ? await purpose.settle(app, payment, state) : await creditTopup(app, payment, state);
    if (result !== 'changed') return result;
  }
  throw new Error(`payment ${paymentId} keeps changing`);
}

/**
 * `creditPayment` for a caller that has read the payment, possibly before it asked the provider. A top-up to credit is then one statement,
 * which checks under its locks that the payment is still as it was read; for anything else the payment is read again.
 */
export async function creditSeenPayment(
  app: App,
  seen: Payment,
  state: ProviderPaymentState,
  purposes: readonly PaymentPurpose[] = [],
): Promise<CreditResult> {
  const isPlainTopup = isTopup(seen) && !purposes.some(({ purpose }) => purpose === seen.purpose);
  if (isPlainTopup && seen.userId !== null && classifyState(seen, state) === 'credit') {
    const result = await creditTopup(app, seen, state);
    if (result !== 'changed') return result;
  }
  return creditPayment(app, seen.id, state, purposes);
}

const isTopup = (payment: Payment) => TOPUP_PURPOSES.includes(payment.purpose);

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

/** @returns `changed` when the payment is no longer as it was seen, so that the state may mean something else */
async function creditTopup(app: App, seen: Payment, state: ProviderPaymentState): Promise<CreditResult | 'changed'> {
  if (seen.userId === null) return refuseCredit(app, seen, 'no_user');
  const topup = {
    ...{ payment: seen, state, now: app.clock.now() },
    ...{ titles: topupTitles(app, seen.method), methodName: methodName(app, seen.method) },
  };
  const { outcome, transactionId } = await committedStatement(app, () => postTopup(app.db, topup));
  if (outcome === 'no_user') return refuseCredit(app, seen, 'no_user');
  if (outcome === 'taken') return refuseCredit(app, seen, 'order_mismatch', { transactionId });
  if (outcome === 'credited') app.jobs.wake(['payments.after-topup']);
  return outcome;
}

function refuseCredit(app: App, payment: Payment, result: 'no_user' | 'order_mismatch', facts: object = {}): CreditResult {
  raiseAlarm(app, payment, result, facts);
  return result;
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
