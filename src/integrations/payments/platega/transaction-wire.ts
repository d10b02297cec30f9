import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../core/clock.ts';
import type { InvoiceRequest, PaymentOutcome, PaymentReport, ProviderReversal } from '../../../domain/payments/ports.ts';
import { dateField, objectField, plainJson, textField, type WireObject } from '../wire/json.ts';
import { kopeksFromText, shortRublesText } from '../wire/money.ts';
import { wireJson, wireNumber } from '../wire/write-json.ts';

/** Codes of payment methods: SBP by QR code, bank cards, international cards, crypto currency. Code 10 does not exist (03a section 8). */
const METHOD_CODES: readonly string[] = ['2', '11', '12', '13'];
const DEFAULT_CODE = '2';
const MAX_DESCRIPTION_BYTES = 64;
/** Precedes our order id, as in the payments of other software and in the mini-app. */
const PAYLOAD_PREFIX = 'platega:';
const REVERSED = 'CHARGEBACKED';
const OUTCOMES: Readonly<Record<string, PaymentOutcome>> = {
  PENDING: 'pending',
  CONFIRMED: 'paid',
  CANCELED: 'failed',
  [REVERSED]: 'failed',
};

/** Body of POST /transaction/process; null for a method code that does not exist. */
export function transactionBody(request: InvoiceRequest, pages: { success: string; failed: string }): string | null {
  const { amountKopeks, description, orderId, metadata, option = DEFAULT_CODE } = request;
  if (!METHOD_CODES.includes(option)) return null;
  const userId = metadata.user_id ?? null;
  const userName = metadata.user_username ?? null;
  return wireJson({
    paymentMethod: Number(option),
    paymentDetails: { amount: wireNumber(shortRublesText(amountKopeks)), currency: 'RUB' },
    description: cutToBytes(description, MAX_DESCRIPTION_BYTES),
    return: pages.success,
    failedUrl: pages.failed,
    payload: `${PAYLOAD_PREFIX}${orderId}`,
    // For the provider's checks of fraud.
    ...(userId === null
      ? {}
      : { metadata: { userId: String(userId), ...(userName === null ? {} : { userName: String(userName) }) } }),
  });
}

/** As many whole characters from the beginning as fit into the bytes of UTF-8. */
export function cutToBytes(text: string, maxBytes: number): string {
  let cut = '';
  let bytes = 0;
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > maxBytes) break;
    cut += character;
  }
  return cut;
}

/** The end of an invoice by its `expiresIn`, `HH:MM:SS` from now; null when it says none. */
export function expiryOf(answer: WireObject, now: Date): Date | null {
  const match = /^(\d{1,4}):(\d{2}):(\d{2})$/.exec(textField(answer, 'expiresIn') ?? '');
  if (!match) return null;
  const [hours, minutes, seconds] = match.slice(1).map(Number) as [number, number, number];
  return new Date(now.getTime() + hours * HOUR_MS + minutes * MINUTE_MS + seconds * SECOND_MS);
}

/** Our order id in a payload; null where there is none of ours. */
export function orderIdOf(payload: string | null): string | null {
  if (payload === null || payload === '') return null;
  return payload.startsWith(PAYLOAD_PREFIX) ? payload.slice(PAYLOAD_PREFIX.length) : payload;
}

/** The merchant of an answer, in lower case; the provider itself spells the name `mechantId`. */
export function merchantIdOf(answer: WireObject): string | null {
  return (textField(answer, 'merchantId') ?? textField(answer, 'mechantId'))?.toLowerCase() ?? null;
}

/** The id of the one reversal that a transaction can have: the provider takes back, or gives back, the whole. */
export function reversalIdOf(transactionId: string): string {
  return `${transactionId}:reversed`;
}

/** The state in the answer to GET /transaction/{id}; null when it has no id, status or readable amount. */
export function transactionState(answer: WireObject): PaymentReport | null {
  const externalId = textField(answer, 'id');
  const status = textField(answer, 'status');
  const money = moneyOf(answer);
  if (externalId === null || status === null || money === null) return null;
  const outcome = OUTCOMES[status.toUpperCase()] ?? 'pending';
  return {
    externalId,
    status,
    outcome,
    ...money,
    orderId: orderIdOf(textField(answer, 'payload')),
    paidAt: outcome === 'paid' ? (dateField(answer, 'paidAt') ?? dateField(answer, 'confirmedAt')) : null,
    merchantId: merchantIdOf(answer),
    reversals: status.toUpperCase() === REVERSED ? [reversalOf(externalId)] : [],
    raw: plainJson(answer),
  };
}

/**
 * One word stands for a chargeback and for our own cancellation. It is read as a refund, so that a cancellation whose answer was lost is
 * recognised as the one that was requested.
 */
function reversalOf(transactionId: string): ProviderReversal {
  return { reversalId: reversalIdOf(transactionId), kind: 'refund', amountKopeks: null };
}

/** `paymentDetails` is an object, or a text such as `100 RUB`. */
function moneyOf(answer: WireObject): { amountKopeks: number; currency: string } | null {
  const details = objectField(answer, 'paymentDetails');
  const [amount, currency] = details
    ? [textField(details, 'amount'), textField(details, 'currency')]
    : (textField(answer, 'paymentDetails') ?? '').split(' ');
  const amountKopeks = kopeksFromText(amount ?? '');
  return amountKopeks === null || !currency ? null : { amountKopeks, currency: currency.toUpperCase() };
}
