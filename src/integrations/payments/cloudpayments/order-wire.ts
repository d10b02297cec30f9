import { LosslessNumber, stringify } from 'lossless-json';
import type { AttemptFailure, InvoiceRequest, PaymentOutcome, PaymentReport } from '../../../domain/payments/ports.ts';
import { dateField, isTrue, plainJson, textField, type WireObject } from '../wire/json.ts';
import { kopeksFromText, shortRublesText } from '../wire/money.ts';
import type { CloudpaymentsConnection } from './cloudpayments-provider.ts';

type NotificationKind = 'check' | 'pay' | 'fail' | 'confirm' | 'refund' | 'cancel';

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

/**
 * States of a payment. `Completed` is paid only where the notification or the date of its confirmation says so too. A declined attempt leaves
 * the order payable, so that it stays pending.
 */
const OUTCOMES: Readonly<Record<string, PaymentOutcome>> = { Completed: 'paid', Cancelled: 'failed' };
const MAX_DESCRIPTION = 1_000;

/** What the provider calls the account of the payer: our user id; null for payers without an account. */
export function accountIdOf({ metadata }: InvoiceRequest): string | null {
  const userId = metadata.user_id;
  return userId === undefined || userId === null ? null : String(userId);
}

/** Body of POST /orders/create (03a section 12): one stage, so that no money is only held. */
export function orderBody(request: InvoiceRequest, { currency, returnUrl }: CloudpaymentsConnection): string {
  const { orderId, amountKopeks, description, payerEmail, returnUrls } = request;
  const accountId = accountIdOf(request);
  const [success, failed] = [returnUrls.success ?? returnUrl, returnUrls.failed ?? returnUrl];
  const data = Object.fromEntries(Object.entries(request.metadata).filter(([, value]) => value !== null));
  return text({
    Amount: new LosslessNumber(shortRublesText(amountKopeks)),
    Currency: currency,
    Description: description.slice(0, MAX_DESCRIPTION),
    InvoiceId: orderId,
    ...(accountId === null ? {} : { AccountId: accountId }),
    ...(payerEmail ? { Email: payerEmail } : {}),
    RequireConfirmation: false,
    SendEmail: false,
    ...(success ? { SuccessRedirectUrl: success } : {}),
    ...(failed ? { FailRedirectUrl: failed } : {}),
    JsonData: { ...data, invoice_id: orderId },
  });
}

/** Body of POST /payments/get. */
export function transactionBody(transactionId: string): string {
  return text({ TransactionId: new LosslessNumber(transactionId) });
}

/** Body of POST /payments/refund. */
export function refundBody(transactionId: string, amountKopeks: number): string {
  return text({ TransactionId: new LosslessNumber(transactionId), Amount: new LosslessNumber(shortRublesText(amountKopeks)) });
}

function text(body: object): string {
  return stringify(body)!;
}

/** A state of an order without any payment: the provider knows nothing about it yet. */
export function unpaidState(orderId: string, { currency }: CloudpaymentsConnection): PaymentReport {
  const money = { amountKopeks: 0, currency, paidAt: null, raw: null };
  return { ...money, externalId: orderId, orderId, status: 'pending', outcome: 'pending' };
}

/** The state of the `Model` of POST /v2/payments/find, the latest payment of an order; null when it cannot be read. */
export function foundState(model: WireObject, connection: CloudpaymentsConnection): PaymentReport | null {
  const orderId = textField(model, 'InvoiceId');
  const status = textField(model, 'Status');
  const transactionId = textField(model, 'TransactionId');
  const amountKopeks = kopeksFromText(textField(model, 'Amount') ?? '');
  if (orderId === null || status === null || transactionId === null || amountKopeks === null) return null;
  const paidAt = dateField(model, 'ConfirmDateIso') ?? dateField(model, 'ConfirmDate');
  const known = OUTCOMES[status] ?? 'pending';
  // While a payment is being authorized it may be shown as Completed; it is confirmed when it has the date.
  const outcome = known === 'paid' && !isConfirmed(model) ? 'pending' : known;
  return {
    externalId: orderId,
    orderId,
    // Money that went back in part or as a whole, where the notification about it may have been lost.
    ...{ status, outcome: outcome === 'paid' && isTrue(model, 'Refunded') ? 'blocked' : outcome },
    ...{ amountKopeks, currency: (textField(model, 'Currency') ?? '').toUpperCase() },
    paidAt: outcome === 'paid' ? paidAt : null,
    chargeId: transactionId,
    merchantId: textField(model, 'AccountId'),
    isTest: isTrue(model, 'TestMode') && !connection.isTestTerminal,
    raw: plainJson(model),
  };
}

function isConfirmed(model: WireObject): boolean {
  return [textField(model, 'ConfirmDateIso'), textField(model, 'ConfirmDate')].some((date) => date !== null && date !== '');
}
