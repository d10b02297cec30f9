import { LosslessNumber, stringify } from 'lossless-json';
import type { InvoiceRequest, PaymentOutcome, PaymentReport } from '../../../domain/payments/ports.ts';
import { dateField, isTrue, plainJson, textField, type WireObject } from '../wire/json.ts';
import { kopeksFromText, shortRublesText } from '../wire/money.ts';
import type { CloudpaymentsConnection } from './connection.ts';

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
