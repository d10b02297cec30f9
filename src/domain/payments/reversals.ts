import type { App } from '../../core/app.ts';
import { committedStatement } from '../../core/db/db-errors.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { formatPrice } from '../../core/money.ts';
import { sendMessage } from '../messaging/send-message.ts';
import { htmlText, text } from '../messaging/texts.ts';
import { type TakenBack, takeBackTerm } from '../subscriptions/grant-subscription.ts';
import { classifyReversal, moneyId, type NamedMoney, namedByReversal, type ReversalVerdict } from './classify-report.ts';
import { reportCase } from './open-case.ts';
import { methodName } from './payment-methods.ts';
import { reversalTitles } from './payment-texts.ts';
import type { PaymentReport, ProviderReversal } from './ports.ts';
import type { PaymentPurpose } from './purpose-payment.ts';
import { findPayment } from './repo.ts';
import { claimReversal, type FollowedReversal, postOtherReversal, postReversal, type ReversedPayer } from './reversal-repo.ts';
import type { Payment } from './types.ts';

/** A payment is credited once in its existence; more changes between two statements are an error of the program. */
const MAX_READS = 5;

/** Why a reversal is not applied to the payment that it names. */
type OtherReason = Exclude<ReversalVerdict, 'same'> | 'unknown_payment' | 'ambiguous_charge';

/**
 * Applies what a report says was given back or taken back, each reversal once (03a section 0.5), in whatever order the reports come (spec 10 M1).
 * What went to the payer's balance is debited, at most what the balance has; the rest is a case for an administrator. A payment that was never
 * credited only changes its state. A reversal of other money settles the case of that money, or is a case of its own, and moves nothing.
 * @param payment what is known of the payment of the report; null = nothing
 */
export async function applyReversals(app: App, method: string, payment: Payment | null, report: PaymentReport): Promise<void> {
  for (const reversal of report.reversals ?? []) await applyReversal(app, method, payment, report, reversal);
}

async function applyReversal(
  app: App,
  method: string,
  seen: Payment | null,
  report: PaymentReport,
  reversal: ProviderReversal,
): Promise<void> {
  let payment = seen;
  for (let attempt = 1; attempt <= MAX_READS; attempt++) {
    const verdict = payment ? classifyReversal(payment, report, reversal) : 'unknown_payment';
    if (!payment || verdict !== 'same') return returnOther(app, method, payment, report, reversal, verdict as OtherReason);
    const { id, userId, transactionId } = payment;
    const named = namedForPayment(payment, report, reversal);
    const { outcome, remainderKopeks } = await committedStatement(app, () =>
      postReversal(app.db, {
        paymentId: id,
        seenTransactionId: transactionId,
        named,
        reversal,
        titles: reversalTitles(app, method),
        now: app.clock.now(),
      }),
    );
    if (outcome === 'ambiguous') return returnOther(app, method, payment, report, reversal, 'ambiguous_charge');
    if (outcome === 'reversed') reportReversed(app, { paymentId: id, method, userId, kind: reversal.kind, remainderKopeks });
    if (outcome !== 'changed') return;
    payment = await findPayment(app.db, id);
  }
  throw new Error(`payment ${seen?.id} keeps changing`);
}

/**
 * Until a payment is credited, a reversal that names no charge is of the charge that it is reported with, which is then not credited
 * (`classifyCredit`); another charge of the invoice is.
 */
function namedForPayment(payment: Payment, report: PaymentReport, reversal: ProviderReversal): NamedMoney {
  const named = namedByReversal(report, reversal);
  if (payment.transactionId !== null || report.outcome !== 'paid') return named;
  return { ...named, chargeId: named.chargeId ?? report.chargeId ?? null };
}

/** Reasons for which a reversal may still be about money that waits here as a case. */
const OF_OTHER_MONEY: readonly OtherReason[] = ['other_money', 'unknown_payment'];

async function returnOther(
  app: App,
  method: string,
  payment: Payment | null,
  report: PaymentReport,
  reversal: ProviderReversal,
  reason: OtherReason,
): Promise<void> {
  const named = namedByReversal(report, reversal);
  const { reversalId, kind, amountKopeks } = reversal;
  const currency = (reversal.currency === undefined ? report.currency : reversal.currency) || null;
  const known = { id: payment?.id ?? null, method, userId: payment?.userId ?? null };
  const details = { ...named, reason };
  const chargeId = OF_OTHER_MONEY.includes(reason) ? moneyId(named) : null;
  const { outcome, remainderKopeks } = await committedStatement(app, () =>
    postOtherReversal(app.db, {
      ...{ payment: known, chargeId, reversal, currency, details },
      ...{ titles: reversalTitles(app, method), now: app.clock.now() },
    }),
  );
  if (outcome === 'reversed') reportReversed(app, { paymentId: known.id, method, userId: known.userId, kind, remainderKopeks });
  if (outcome !== 'unknown') return;
  reportCase(app, { kind: 'reversal_unknown', payment: known, reference: reversalId, amountKopeks, currency, details });
}

function reportReversed(app: App, facts: { remainderKopeks: number; [fact: string]: unknown }): void {
  app.jobs.wake(['payments.after-reversal', ...(facts.remainderKopeks > 0 ? (['payments.notify-case'] as const) : [])]);
  app.log.warn(facts, 'a payment was reversed');
}

/**
 * What follows a reversal (queue `payments.after-reversal`), once, in one transaction: money that the balance did not cover was spent, so
 * that the subscription it paid for is kept, shortened or ended (`REFUND_SUBSCRIPTION_RULE`); what was bought and not given yet is not
 * given any more; what the payment has earned a referrer is taken back; the payer is notified; the tax receipt is corrected.
 * @param purposes what invoices pay besides the balance
 */
export async function runAfterReversal(
  app: App,
  { reversalId }: { reversalId: number },
  purposes: readonly PaymentPurpose[] = [],
): Promise<void> {
  await inTransaction(app, async (t) => {
    const reversal = await claimReversal(t.db, reversalId, t.clock.now());
    if (!reversal) return;
    await t.jobs.send('receipts.queue', { paymentId: reversal.paymentId });
    if (reversal.isCredited) await t.jobs.send('referrals.take-back', { paymentId: reversal.paymentId });
    const { payer } = reversal;
    const purpose = purposes.find((known) => known.purpose === reversal.purpose);
    const ownerId = purpose ? await purpose.reverse(t, reversal.paymentId, reversal.isWhole) : (payer?.userId ?? null);
    const taken = ownerId === null ? null : await takeBack(t, reversal, ownerId);
    if (taken) t.log.warn({ reversalId, userId: ownerId, ...taken }, 'a subscription was taken back with its money');
    if (payer) await notifyPayer(t, reversal, payer, payer.userId === ownerId ? taken : null);
  });
}

/** Reverses what the spent part of the money had bought, as the rule says. */
async function takeBack(t: App, reversal: FollowedReversal, ownerId: number): Promise<TakenBack | null> {
  const spentKopeks = reversal.isCredited ? reversal.amountKopeks - reversal.debitedKopeks : 0;
  const rule = t.env.refundSubscriptionRule;
  return spentKopeks > 0 && rule !== 'keep' ? takeBackTerm(t, ownerId, spentKopeks, rule) : null;
}

async function notifyPayer(
  t: App,
  { method, debitedKopeks }: FollowedReversal,
  { userStatus, messengerId, language, balanceKopeks }: ReversedPayer,
  taken: TakenBack | null,
): Promise<void> {
  if (userStatus !== 'active' || messengerId === null || (debitedKopeks === 0 && !taken)) return;
  const html = htmlText(language, 'messages.payment_reversed', {
    amount: formatPrice(debitedKopeks, false),
    balance: formatPrice(balanceKopeks, false),
    method: methodName(t, method),
  });
  const term = taken && text(language, taken.isOver ? 'messages.term_ended' : 'messages.term_shortened', { days: taken.days });
  await sendMessage(t, { messengerId, html: term ? `${html}\n${term}` : html });
}

/** What went back of the money of a payment. `waiting` = the provider was asked for a refund and has not answered. */
export type ReturnedMoney = 'none' | 'part' | 'whole' | 'waiting';

/**
 * What went back of a payment, with its row locked for share, so that no refund is requested and no reversal applied until the end of the
 * caller's transaction. Lock it before the row of what it paid for (docs/database.md, Locks and their order).
 */
export async function lockReturnedMoney(t: App, paymentId: number): Promise<ReturnedMoney> {
  await t.db.sql('SELECT id FROM payments WHERE id = $1::int FOR SHARE', [paymentId]);
  // A statement of its own: it sees what was committed while the lock was waited for.
  const [row] = await t.db.sql<{ returned: ReturnedMoney }>(
    `SELECT CASE WHEN p.outcome = 'refunded' THEN 'whole' WHEN r.waiting THEN 'waiting' WHEN r.done THEN 'part' ELSE 'none' END AS returned
     FROM payments p CROSS JOIN LATERAL (
       SELECT coalesce(bool_or(v.status = 'requested'), false) AS waiting, coalesce(bool_or(v.status = 'done'), false) AS done
       FROM payment_reversals v WHERE v.payment_id = p.id) r
     WHERE p.id = $1::int`,
    [paymentId],
  );
  return row?.returned ?? 'none';
}
