import type { App } from '../../core/app.ts';
import { committedStatement } from '../../core/db/db-errors.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { formatPrice } from '../../core/money.ts';
import { sendMessage } from '../messaging/send-message.ts';
import { htmlText, type TextKey, text } from '../messaging/texts.ts';
import { claimAttempt } from './callback-repo.ts';
import { type CreditVerdict, classifyCredit, moneyId } from './classify-report.ts';
import { claimReversals, isMoneyReturned, markUncredited, postTopup } from './credit-repo.ts';
import { openCase, reportCase } from './open-case.ts';
import { methodName } from './payment-methods.ts';
import { reversalTitles, topupTitles } from './payment-texts.ts';
import type { FailedAttempt, PaymentReport, ProviderSavedMethod } from './ports.ts';
import type { PaymentPurpose } from './purpose-payment.ts';
import { findPayment, lockPayment } from './repo.ts';
import { applyReversals } from './reversals.ts';
import { TOPUP_PURPOSES } from './rules.ts';
import type { CaseKind, CreditResult, Payment } from './types.ts';

/** A payment changes a few times in its whole existence; more changes between two statements are an error of the program. */
const MAX_READS = 5;

/**
 * Applies a state that the provider itself confirmed to a payment. This is the only way a top-up reaches a balance, whether a callback,
 * a manual check or the background check asked. It may run any number of times, concurrently or out of order (spec 03 sections 2.2 and
 * 11). Paid mark, ledger, balance, events, feed row, follow-up job and what the provider reports besides (`CreditExtras`) are one statement
 * (prisma/sql/topups.sql), hence one transaction.
 *
 * Money that the provider gave back afterwards is taken from the balance (`applyReversals`). Whatever needs the decision of an administrator
 * becomes a case.
 * @param state what the provider itself confirmed, fetched outside of any transaction
 * @param purposes what invoices pay besides the balance
 * @throws Error when the payment is neither a top-up nor of one of the purposes
 */
export async function creditPayment(
  app: App,
  paymentId: number,
  state: PaymentReport,
  purposes: readonly PaymentPurpose[] = [],
): Promise<CreditResult> {
  for (let attempt = 1; attempt <= MAX_READS; attempt++) {
    const payment = await findPayment(app.db, paymentId);
    if (!payment) throw new Error(`payment ${paymentId} does not exist`);
    const purpose = purposes.find((known) => known.purpose === payment.purpose);
    if (!purpose && !isTopup(payment)) throw new Error(`payment ${paymentId} is not a top-up`);
    const verdict = classifyCredit(payment, state, await isMoneyReturned(app.db, payment, state));
    const result =
      verdict !== 'credit'
        ? await applyUncredited(app, payment, state, verdict, purpose)
        : purpose
          ? await purpose.settle(app, payment, state)
          : await creditTopup(app, payment, state);
    if (result === 'changed') continue;
    await afterState(app, payment, state, result);
    return result;
  }
  throw new Error(`payment ${paymentId} keeps changing`);
}

/**
 * `creditPayment` for a caller that has read the payment, possibly before it asked the provider, with all charges of the report. A top-up
 * to credit is then one statement, which checks under its locks that the payment is still as read; for anything else the payment is read
 * again.
 * @returns the result of the first charge, `credited` where any was
 */
export async function creditSeenPayment(
  app: App,
  seen: Payment,
  report: PaymentReport,
  purposes: readonly PaymentPurpose[] = [],
): Promise<CreditResult> {
  const result = await creditSeen(app, seen, report, purposes);
  const others: CreditResult[] = [];
  for (const other of report.others ?? []) others.push(await creditPayment(app, seen.id, other, purposes));
  return others.includes('credited') ? 'credited' : result;
}

async function creditSeen(
  app: App,
  seen: Payment,
  state: PaymentReport,
  purposes: readonly PaymentPurpose[],
): Promise<CreditResult> {
  const isPlainTopup = isTopup(seen) && !purposes.some(({ purpose }) => purpose === seen.purpose);
  // Whose money went back may be another charge's: that is read first.
  if (isPlainTopup && seen.userId !== null && seen.outcome !== 'refunded' && classifyCredit(seen, state, false) === 'credit') {
    const result = await creditTopup(app, seen, state);
    if (result !== 'changed') {
      await afterState(app, seen, state, result);
      return result;
    }
  }
  return creditPayment(app, seen.id, state, purposes);
}

const moneyOf = ({ chargeId = null, externalId }: PaymentReport) => moneyId({ chargeId, externalId });

const isTopup = (payment: Payment) => TOPUP_PURPOSES.includes(payment.purpose);

/** What follows a state outside of the transaction that credits. Every part of it acts once, however often it runs. */
async function afterState(app: App, payment: Payment, state: PaymentReport, result: CreditResult): Promise<void> {
  const surplus = overpaidKopeks(payment, state);
  if (result === 'credited' && surplus > 0) reportCase(app, { kind: 'overpaid', payment, amountKopeks: surplus });
  await applyReversals(app, payment.method, payment, state);
  if (result === 'pending' && state.failedAttempt) await notifyAttempt(app, payment, state.failedAttempt);
}

/** Verdicts that need the decision of an administrator: the kind of the case, and the result for the caller. */
const CASES: Readonly<Partial<Record<CreditVerdict, { kind: CaseKind; result: CreditResult }>>> = {
  test_payment: { kind: 'test_payment', result: 'test_payment' },
  blocked: { kind: 'blocked', result: 'failed' },
  second_payment: { kind: 'second_payment', result: 'order_mismatch' },
  other_merchant: { kind: 'other_merchant', result: 'order_mismatch' },
  order_mismatch: { kind: 'order_mismatch', result: 'order_mismatch' },
};

async function applyUncredited(
  app: App,
  payment: Payment,
  state: PaymentReport,
  verdict: Exclude<CreditVerdict, 'credit'>,
  purpose: PaymentPurpose | undefined,
): Promise<CreditResult | 'changed'> {
  const now = app.clock.now();
  const { amountKopeks, currency, status } = state;
  switch (verdict) {
    case 'already_credited':
      await openSurplusCase(app, payment, state);
      return verdict;
    case 'refunded':
      if (state.outcome !== 'paid' || state.isTest) return verdict;
      return (await claimReversals(app.db, payment.id, state.chargeId ?? null)) ? verdict : 'changed';
    case 'pending':
    case 'failed':
      await markUncredited(app.db, payment.id, verdict, state, now);
      return verdict;
    case 'amount_mismatch':
      return inTransaction(app, async (t) => {
        if (await markUncredited(t.db, payment.id, verdict, state, now)) await purpose?.recordMismatch(t, payment, state);
        // A second charge that is too little finds the payment marked already; its money is another case.
        else if ((await lockPayment(t.db, payment.id))?.transactionId !== null) return 'changed';
        const details = { status, chargeId: state.chargeId ?? null };
        await openCase(t, { kind: verdict, payment, chargeId: moneyOf(state), amountKopeks, currency, details });
        return verdict;
      });
    default: {
      const { kind, result } = CASES[verdict]!;
      if (verdict === 'blocked') await markUncredited(app.db, payment.id, 'failed', state, now);
      // A report that no money came for is no case, whatever it is about.
      if (state.outcome === 'paid' || state.outcome === 'underpaid' || verdict === 'blocked') {
        const money = moneyOf(state);
        const reference = `${payment.id}:${money}`;
        const { externalId, orderId, chargeId = null, merchantId = null } = state;
        const details = { status, externalId, orderId, chargeId, merchantId };
        // Money of another merchant is no charge of ours, whatever its id is.
        const ours = verdict === 'other_merchant' ? null : money;
        await openCase(app, { kind, payment, reference, chargeId: ours, amountKopeks, currency, details });
      }
      return result;
    }
  }
}

/**
 * The payer of too little, whose money a case has credited, may complete the invoice afterwards: what came beyond the credit is a case like
 * any surplus. A surplus that was recorded with the credit has its case already. Of what is paid, only the money of the credit is
 * `already_credited`; any other is another verdict.
 */
async function openSurplusCase(app: App, payment: Payment, state: PaymentReport): Promise<void> {
  const surplus = overpaidKopeks(payment, state);
  const isPaid = state.outcome === 'paid' && !state.isTest && state.currency === payment.currency;
  if (surplus === 0 || !isPaid) return;
  const chargeId = `overpaid:${payment.id}`;
  await openCase(app, { kind: 'overpaid', payment, chargeId, amountKopeks: surplus, currency: payment.currency });
}

/** @returns `changed` when the payment is no longer as seen, so that the state may mean something else */
async function creditTopup(app: App, seen: Payment, state: PaymentReport): Promise<CreditResult | 'changed'> {
  if (seen.userId === null) return refuseCredit(app, seen, state, 'no_user');
  const topup = {
    ...{ payment: seen, state, now: app.clock.now() },
    ...{ titles: topupTitles(app, seen.method), reversalTitles: reversalTitles(app, seen.method) },
    ...{ methodName: methodName(app, seen.method), extras: creditExtras(seen, state) },
  };
  const { outcome, transactionId } = await committedStatement(app, () => postTopup(app.db, topup));
  if (outcome === 'no_user') return refuseCredit(app, seen, state, 'no_user');
  if (outcome === 'taken') return refuseCredit(app, seen, state, 'order_mismatch', { transactionId });
  if (outcome === 'credited') app.jobs.wake(['payments.after-topup']);
  return outcome;
}

async function refuseCredit(
  app: App,
  payment: Payment,
  state: PaymentReport,
  kind: 'no_user' | 'order_mismatch',
  details: Readonly<Record<string, unknown>> = {},
): Promise<CreditResult> {
  const { amountKopeks, currency, chargeId = null } = state;
  await openCase(app, { kind, payment, chargeId: moneyOf(state), amountKopeks, currency, details: { ...details, chargeId } });
  return kind;
}

/**
 * Tells the payer in the messenger why an attempt to pay failed, once for each attempt (spec 03 section 2.5, CloudPayments). The invoice stays
 * payable. Mark and message are one transaction.
 */
async function notifyAttempt(app: App, payment: Payment, attempt: FailedAttempt): Promise<void> {
  if (payment.userId === null) return;
  await inTransaction(app, async (t) => {
    const payer = await claimAttempt(t.db, payment.id, attempt.id);
    if (payer === null || payer.status !== 'active' || payer.messengerId === null) return;
    const html = htmlText(payer.language, 'messages.payment_attempt_failed', {
      amount: formatPrice(payment.amountKopeks, false),
      method: methodName(t, payment.method),
      reason: text(payer.language, `payments.attempt_${attempt.reason}` as TextKey),
    });
    await sendMessage(t, { messengerId: payer.messengerId, html });
  });
}

/** What a provider reports of a payment besides the credit, as `record_credit_extras()` records it (prisma/sql/topups.sql). */
export interface CreditExtras {
  feeKopeks: number | null;
  /** Kopeks beyond the invoice: a case for an administrator. */
  overpaidKopeks: number;
  savedMethod: SavedMethodRow | null;
}

interface SavedMethodRow {
  providerMethodId: string;
  methodType: string;
  title: string | null;
  cardFirst6: string | null;
  cardLast4: string | null;
  cardType: string | null;
  expiryMonth: string | null;
  expiryYear: string | null;
}

/** @returns null when there is nothing to record, as of most payments */
export function creditExtras(payment: Payment, state: PaymentReport): CreditExtras | null {
  const extras = {
    feeKopeks: state.feeKopeks ?? null,
    overpaidKopeks: overpaidKopeks(payment, state),
    savedMethod: state.savedMethod ? savedMethodRow(state.savedMethod) : null,
  };
  return extras.feeKopeks !== null || extras.overpaidKopeks > 0 || extras.savedMethod ? extras : null;
}

/** What was paid beyond the invoice; 0 when nothing was. */
function overpaidKopeks(payment: Payment, state: PaymentReport): number {
  return Math.max(state.amountKopeks - payment.amountKopeks, 0);
}

/** The length of `saved_payment_methods.provider_method_id`. */
const MAX_METHOD_ID = 255;

/**
 * Shortened to what the table holds: no text of a provider may keep money from being credited. An id that does not fit could not be charged by
 * its beginning, so that method is not kept.
 */
function savedMethodRow({ providerMethodId, methodType, title, card }: ProviderSavedMethod): SavedMethodRow | null {
  if (providerMethodId.length > MAX_METHOD_ID) return null;
  const shown = card ? `${card.type ?? methodType} *${card.last4}` : title;
  return {
    ...{ providerMethodId, methodType: methodType.slice(0, 40), title: shown?.slice(0, 255) ?? null },
    ...{ cardFirst6: card?.first6?.slice(0, 6) ?? null, cardLast4: card?.last4.slice(0, 4) ?? null },
    cardType: card?.type?.slice(0, 50) ?? null,
    ...{ expiryMonth: card?.expiryMonth?.slice(0, 2) ?? null, expiryYear: card?.expiryYear?.slice(0, 4) ?? null },
  };
}
