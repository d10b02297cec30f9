import type { App } from '../../core/app.ts';
import { committedStatement } from '../../core/db/committed-statement.ts';
import { classifyReversal, moneyId, type NamedMoney, namedByReversal, type ReversalVerdict } from './classify-report.ts';
import { reportCase } from './open-case.ts';
import { reversalTitles } from './payment-texts.ts';
import type { PaymentReport, ProviderReversal } from './ports.ts';
import { findPayment } from './repo.ts';
import { postOtherReversal, postReversal } from './reversal-repo.ts';
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
