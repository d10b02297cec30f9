import type { App } from '../../core/app.ts';
import { closeCase, creditCase, insertCase } from './case-repo.ts';
import { moneyId } from './classify-report.ts';
import { methodName } from './method-settings.ts';
import type { NewCase } from './open-case.ts';
import { reversalTitles, topupTitles } from './payment-texts.ts';
import type { PaymentReport } from './ports.ts';

/** The name of the service in cases that it resolves itself. */
const RESOLVED_BY = 'service';

/**
 * Credits money that its invoice cannot be used for to a balance, with everything that belongs to a top-up, and records why as a case that is
 * resolved by it. In the caller's transaction, which has locked the payment and the user, who is not deleted.
 */
export async function creditThroughCase(
  t: App,
  { kind, payment, amountKopeks, currency = null, details }: NewCase & { amountKopeks: number },
  state: PaymentReport,
  userId: number,
): Promise<void> {
  const now = t.clock.now();
  const { method, id: paymentId } = payment;
  const { orderId, externalId, chargeId = null } = state;
  const caseId = await insertCase(t.db, {
    ...{ kind, method, reference: String(paymentId), paymentId, userId, amountKopeks, currency, now },
    chargeId: moneyId({ chargeId, externalId }),
    details: { ...details, orderId, externalId, chargeId },
  });
  if (caseId === null) throw new Error(`payment ${paymentId} has its case already`);
  const decision = { caseId, resolvedBy: RESOLVED_BY, comment: null, now };
  const titles = { titles: topupTitles(t, method), reversalTitles: reversalTitles(t, method) };
  const { outcome } = await creditCase(t.db, decision, {
    ...{ userId, kopeks: amountKopeks, methodName: methodName(t, method) },
    ...titles,
  });
  if (outcome !== 'done') throw new Error(`the credit of case ${caseId} was ${outcome}`);
}

/** Records as a resolved case why money is on a balance that the caller has credited, in its transaction. */
export async function recordCredited(t: App, draft: NewCase & { reference: string; amountKopeks: number }): Promise<void> {
  const { kind, payment, reference, chargeId = null, amountKopeks, currency = null, details = {} } = draft;
  const now = t.clock.now();
  const { method, id: paymentId, userId } = payment;
  const facts = { kind, method, reference, chargeId, paymentId, userId, amountKopeks, currency, details, now };
  const caseId = await insertCase(t.db, facts);
  if (caseId === null) return;
  await closeCase(t.db, 'ignore', { caseId, resolvedBy: RESOLVED_BY, comment: 'credited to the balance', now });
}
