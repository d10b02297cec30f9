import type { InvoiceRequest, PaymentOutcome, ProviderPaymentState } from '../../../domain/payments/ports.ts';
import type { YookassaConnection } from './connection.ts';

/** Metadata key of our order id. */
const ORDER_ID_KEY = 'order_id';
const MAX_DESCRIPTION = 128;
const MAX_METADATA_KEYS = 16;

/** The fields of a v3 payment that are used. */
interface WirePayment {
  id: string;
  status: string;
  paid?: boolean;
  amount: { value: string; currency: string };
  refunded_amount?: { value: string; currency: string };
  confirmation?: { confirmation_url?: string };
  captured_at?: string;
  created_at?: string;
  expires_at?: string;
  metadata?: Record<string, string>;
}

/** Kopeks as the decimal rubles of the wire: 12345 becomes `123.45`. */
export function rublesText(kopeks: number): string {
  const whole = Math.trunc(kopeks / 100);
  return `${whole}.${String(kopeks % 100).padStart(2, '0')}`;
}

/** A decimal of the wire as kopeks, without floating point; null for another text. */
export function kopeksFromText(value: string): number | null {
  const match = /^(\d{1,12})(?:\.(\d{1,2}))?$/.exec(value);
  return match ? Number(match[1]) * 100 + Number((match[2] ?? '').padEnd(2, '0')) : null;
}

/** Body of POST /payments (spec 03 section 2.5). `receiptEmail` is the contact for the receipt. */
export function paymentBody(
  request: InvoiceRequest,
  connection: YookassaConnection,
  receiptEmail: string,
  returnUrl: string,
): string {
  const amount = { value: rublesText(request.amountKopeks), currency: 'RUB' };
  const description = request.description.slice(0, MAX_DESCRIPTION);
  const sbp = request.option === 'sbp';
  const known = Object.entries(request.metadata).flatMap(([key, value]) =>
    value === null ? [] : [[key, String(value).slice(0, 512)]],
  );
  return JSON.stringify({
    amount,
    capture: true,
    confirmation: { type: 'redirect', return_url: returnUrl },
    description,
    metadata: Object.fromEntries([[ORDER_ID_KEY, request.orderId], ...known].slice(0, MAX_METADATA_KEYS)),
    receipt: {
      customer: { email: receiptEmail },
      items: [
        {
          description,
          quantity: '1.00',
          amount,
          vat_code: connection.vatCode,
          payment_mode: connection.paymentMode,
          payment_subject: connection.paymentSubject,
        },
      ],
    },
    ...(sbp ? { payment_method_data: { type: 'sbp' } } : {}),
    ...(!sbp && connection.saveCard ? { save_payment_method: true } : {}),
  });
}

/** The payment in an answer, or null for another text. */
export function parsePayment(text: string): WirePayment | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  return isPayment(value) ? value : null;
}

function isPayment(value: unknown): value is WirePayment {
  if (!isRecord(value) || typeof value.id !== 'string' || typeof value.status !== 'string') return false;
  return isRecord(value.amount) && typeof value.amount.value === 'string' && typeof value.amount.currency === 'string';
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Paid means `succeeded`, `paid` and not refunded in full. */
function outcomeOf(payment: WirePayment, amountKopeks: number): PaymentOutcome {
  if (payment.status === 'canceled') return 'failed';
  if (payment.status !== 'succeeded' || payment.paid !== true) return 'pending';
  const refunded = payment.refunded_amount ? kopeksFromText(payment.refunded_amount.value) : 0;
  return refunded !== null && refunded < amountKopeks ? 'paid' : 'failed';
}

/** The state for the domain; null when the amount is not a decimal. */
export function paymentState(payment: WirePayment): ProviderPaymentState | null {
  const amountKopeks = kopeksFromText(payment.amount.value);
  if (amountKopeks === null) return null;
  const outcome = outcomeOf(payment, amountKopeks);
  return {
    externalId: payment.id,
    status: payment.status,
    outcome,
    amountKopeks,
    currency: payment.amount.currency.toUpperCase(),
    orderId: payment.metadata?.[ORDER_ID_KEY] ?? null,
    paidAt: outcome === 'paid' ? dateOrNull(payment.captured_at ?? payment.created_at) : null,
    raw: payment,
  };
}

/** A date of the wire, or null when absent or unreadable. */
export function dateOrNull(text: string | undefined): Date | null {
  const date = text === undefined ? null : new Date(text);
  return date && !Number.isNaN(date.getTime()) ? date : null;
}
