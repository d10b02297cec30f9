import type { AttemptFailure, PaymentOutcome, PaymentReport } from '../../../domain/payments/ports.ts';
import { kopeksFromText } from '../wire/money.ts';

export type NotificationKind = 'check' | 'pay' | 'fail' | 'confirm' | 'refund' | 'cancel';

/** Each kind of notification has an address of its own in the provider's cabinet (03a section 12). */
export const NOTIFICATION_SUBPATHS: readonly NotificationKind[] = ['check', 'pay', 'fail', 'confirm', 'refund', 'cancel'];

/** Fields of a notification, decoded. */
export type NotificationForm = ReadonlyMap<string, string>;

const TRANSACTION_ID = /^\d{1,19}$/;

/** A field with a value; null where it is absent or empty. */
export function formField(form: NotificationForm, name: string): string | null {
  const value = form.get(name);
  return value === undefined || value === '' ? null : value;
}

/**
 * What a notification is about. Its fields stand above the path, since the signature covers the body only: a body without `GatewayName` was
 * sent before the payment, and is no proof of one.
 */
export function kindOf(form: NotificationForm, subpath: string): NotificationKind {
  if (formField(form, 'PaymentTransactionId') !== null || formField(form, 'OperationType') === 'Refund') return 'refund';
  const code = formField(form, 'ReasonCode');
  if (code === null ? formField(form, 'Reason') !== null : code !== '0') return 'fail';
  const named = NOTIFICATION_SUBPATHS.find((kind) => kind === subpath);
  if (named !== undefined) return named;
  if (formField(form, 'Status') === 'Cancelled') return 'cancel';
  return formField(form, 'GatewayName') === null ? 'check' : 'pay';
}

/** The order that a notification names; one that names none is about the payment itself. */
export function orderIdOf(form: NotificationForm): string | null {
  return formField(form, 'InvoiceId');
}

/** The id of a notification's own transaction; null when it is no number. */
export function transactionIdOf(form: NotificationForm): string | null {
  const id = formField(form, 'TransactionId');
  return id !== null && TRANSACTION_ID.test(id) ? id : null;
}

/** Whether the payment was made on a test terminal. */
export function isTestPayment(form: NotificationForm): boolean {
  return ['1', 'true'].includes((formField(form, 'TestMode') ?? '').toLowerCase());
}

/**
 * The state that a notification proves, since its whole body is signed; null = the provider is to be asked.
 * @param isTestTerminal test payments are those that the shop wants
 */
export function notifiedState(form: NotificationForm, subpath: string, isTestTerminal: boolean): PaymentReport | null {
  const transactionId = transactionIdOf(form);
  const amountKopeks = kopeksFromText(formField(form, 'Amount') ?? '');
  const kind = kindOf(form, subpath);
  if (transactionId === null || amountKopeks === null) return null;
  const known = { pay: paid(form), confirm: paid(form), fail: DECLINED, cancel: CANCELLED, refund: REFUNDED, check: null }[kind];
  if (known === null) return null;
  const orderId = orderIdOf(form);
  const isRefund = kind === 'refund';
  // A Refund names no currency, unlike the others.
  const currency = formField(form, 'Currency')?.toUpperCase() ?? null;
  return {
    ...known,
    externalId: orderId ?? `transaction:${formField(form, 'PaymentTransactionId') ?? transactionId}`,
    orderId,
    amountKopeks,
    currency: currency ?? '',
    paidAt: known.outcome === 'paid' ? utcDate(formField(form, 'DateTime')) : null,
    chargeId: isRefund ? formField(form, 'PaymentTransactionId') : transactionId,
    merchantId: formField(form, 'AccountId'),
    isTest: isTestPayment(form) && !isTestTerminal,
    ...(isRefund ? { reversals: [{ reversalId: transactionId, kind: 'refund' as const, amountKopeks, currency }] } : {}),
    ...(kind === 'fail' ? { failedAttempt: { id: transactionId, reason: attemptFailure(form) } } : {}),
    raw: Object.fromEntries(form),
  };
}

/** `ReasonCode` of a Fail notification, as the provider documents them; any other one is a refusal without a reason that helps. */
const FAILURES: Readonly<Record<string, AttemptFailure>> = {
  5004: 'card_blocked',
  5007: 'card_blocked',
  5014: 'card_data',
  5030: 'bank_unavailable',
  5033: 'card_expired',
  5041: 'card_blocked',
  5043: 'card_blocked',
  5051: 'insufficient_funds',
  5054: 'card_expired',
  5062: 'card_blocked',
  5065: 'card_limit',
  5082: 'card_data',
  5091: 'bank_unavailable',
  5092: 'bank_unavailable',
  5096: 'bank_unavailable',
  5206: 'not_confirmed',
  5207: 'not_confirmed',
};

function attemptFailure(form: NotificationForm): AttemptFailure {
  return FAILURES[formField(form, 'ReasonCode') ?? ''] ?? 'refused';
}

interface Known {
  status: string;
  outcome: PaymentOutcome;
}

/** A failed attempt leaves the order payable. */
const DECLINED: Known = { status: 'Declined', outcome: 'pending' };
/** A hold was lifted. */
const CANCELLED: Known = { status: 'Cancelled', outcome: 'failed' };
/** Says nothing about the payment itself. */
const REFUNDED: Known = { status: 'Refunded', outcome: 'pending' };

/** `Authorized` is money that is only held, and a body without a gateway was sent before the payment: both are asked about. */
function paid(form: NotificationForm): Known | null {
  const isPaid = formField(form, 'Status') === 'Completed' && formField(form, 'GatewayName') !== null;
  return isPaid ? { status: 'Completed', outcome: 'paid' } : null;
}

/** `2026-10-02 10:00:00` is UTC. */
function utcDate(text: string | null): Date | null {
  const date = text === null ? null : new Date(`${text.replace(' ', 'T')}Z`);
  return date && !Number.isNaN(date.getTime()) ? date : null;
}
