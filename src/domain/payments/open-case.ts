import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { formatPrice } from '../../core/money.ts';
import { adminChat } from '../messaging/admin-chat.ts';
import { sendMessage } from '../messaging/send-message.ts';
import { htmlText, type TextKey, text } from '../messaging/texts.ts';
import { methodName } from './payment-methods.ts';
import { claimNotice, findCase, insertCase } from './reversal-repo.ts';
import type { CaseKind, Payment, PaymentCase } from './types.ts';

/** What is known of a payment that has a case; `id` null = none is stored here. */
export type CasePayment = Pick<Payment, 'method' | 'userId'> & { id: number | null };

/** What a case is about. */
export interface NewCase {
  kind: CaseKind;
  payment: CasePayment;
  /** What makes the case one: the second case of a kind with the same reference is not opened. Default: the id of the payment. */
  reference?: string;
  /** The provider's id of the money (`moneyId`): reports that it went back settle the case. */
  chargeId?: string | null;
  amountKopeks?: number | null;
  currency?: string | null;
  /** Facts for the administrator; no credentials. */
  details?: Readonly<Record<string, unknown>>;
}

/**
 * Opens a case for an administrator, once: nothing is credited or debited for this money until it is resolved (`cases` of the command
 * line). The administrators are notified by a job. Works inside and outside of a transaction.
 */
export async function openCase(app: App, draft: NewCase): Promise<void> {
  const { kind, payment, details = {} } = draft;
  const reference = draft.reference ?? String(payment.id ?? '');
  const id = await insertCase(app.db, {
    ...{ kind, reference, details, method: payment.method, paymentId: payment.id, userId: payment.userId },
    ...{ amountKopeks: draft.amountKopeks ?? null, currency: draft.currency ?? null, chargeId: draft.chargeId ?? null },
    now: app.clock.now(),
  });
  if (id !== null) reportCase(app, draft, id);
}

/** Starts the notice of a case that a transaction has opened, and logs it. @param caseId where it is known */
export function reportCase(app: App, { kind, payment, details }: NewCase, caseId?: number): void {
  app.jobs.wake(['payments.notify-case']);
  app.log.error(
    { alarm: `payment_${kind}`, caseId, paymentId: payment.id, method: payment.method, userId: payment.userId, ...details },
    'a payment needs a decision of an administrator',
  );
}

/** The amount of a case for an administrator, in its currency (none is roubles): `48.5 ₽`, `12.00 USD`, or `—` when none is known. */
export function caseAmount({ amountKopeks, currency }: Pick<PaymentCase, 'amountKopeks' | 'currency'>): string {
  if (amountKopeks === null) return '—';
  return currency === null || currency === 'RUB'
    ? formatPrice(amountKopeks, false)
    : `${(amountKopeks / 100).toFixed(2)} ${currency}`;
}

/** Tells the administrators' chat about an open case, once (queue `payments.notify-case`). */
export async function notifyCase(app: App, { caseId }: { caseId: number }): Promise<void> {
  await inTransaction(app, async (t) => {
    const found = await findCase(t.db, caseId);
    if (!found || !(await claimNotice(t.db, caseId, t.clock.now()))) return;
    const chat = adminChat(t, 'ADMIN_NOTIFICATIONS_ERRORS_TOPIC_ID');
    if (chat === null) return;
    const language = t.settings.get('DEFAULT_LANGUAGE');
    const html = htmlText(language, 'payments.case_opened', {
      case_id: found.id,
      reason: text(language, `payments.case_${found.kind}` as TextKey),
      method: methodName(t, found.method),
      amount: caseAmount(found),
      payment_id: found.paymentId ?? '—',
      user_id: found.userId ?? '—',
    });
    await sendMessage(t, { ...chat, html });
  });
}
