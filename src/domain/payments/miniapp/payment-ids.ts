import type { Payment } from '../types.ts';

/** How one method's payments are named in the mini-app: fields of our answers, and fields by which a payment may be asked for. */
interface IdNames {
  /** Names of the provider's id in answers. */
  external?: readonly string[];
  /** Names of our order id in answers. */
  order?: readonly string[];
  /** Names of the chosen option in answers. */
  option?: readonly string[];
  hasStatus?: boolean;
  /** Fields of a query that contain the provider's id or our order id. */
  asksExternal?: readonly PaymentIdField[];
  asksOrder?: readonly PaymentIdField[];
}

type PaymentIdField = 'paymentLinkId' | 'invoiceId' | 'paymentId' | 'payload';

const NAMES: Readonly<Record<string, IdNames>> = {
  yookassa: { external: ['payment_id'], hasStatus: true, asksExternal: ['paymentId'] },
  mulenpay: { external: ['payment_id'] },
  platega: {
    external: ['payment_id'],
    order: ['correlation_id'],
    option: ['selected_option'],
    asksExternal: ['paymentId'],
    asksOrder: ['payload'],
  },
  wata: {
    external: ['payment_link_id', 'payment_id'],
    order: ['order_id'],
    hasStatus: true,
    asksExternal: ['paymentLinkId', 'paymentId', 'invoiceId'],
  },
  pal24: { external: ['bill_id'], order: ['order_id'], option: ['payment_method', 'selected_option'] },
  cryptobot: { external: ['invoice_id'], asksExternal: ['invoiceId'] },
  heleket: { external: ['uuid'], order: ['order_id'], asksExternal: ['paymentId', 'invoiceId'] },
  cloudpayments: { external: ['invoice_id'], asksExternal: ['invoiceId', 'paymentId'] },
  freekassa: { order: ['order_id'], asksOrder: ['paymentId'] },
};
/** Methods that the mini-app of others does not know. */
const USUAL: IdNames = { external: ['payment_id'], order: ['order_id'], asksExternal: ['paymentId'] };

/** How the mini-app asks for a payment: any of its ids as the answer of its creation named them. */
export interface PaymentQuery extends Partial<Record<PaymentIdField, string | null | undefined>> {
  method: string;
  localPaymentId?: number | null | undefined;
  amountKopeks?: number | null | undefined;
  startedAt?: string | null | undefined;
}

/** The ids of a payment under the names that the mini-app knows for its method (spec 02 section 12.5). */
export function paymentIds(payment: Pick<Payment, 'id' | 'method' | 'externalId' | 'orderId' | 'option' | 'status'>) {
  const names = NAMES[payment.method] ?? USUAL;
  const named = (keys: readonly string[] | undefined, value: string | null) => (keys ?? []).map((key) => [key, value] as const);
  return {
    local_payment_id: payment.id,
    ...Object.fromEntries([
      ...named(names.external, payment.externalId),
      ...named(names.order, payment.orderId),
      ...named(names.option, payment.option),
    ]),
    ...(payment.method === 'platega' ? { payload: `${PLATEGA_PREFIX}${payment.orderId}` } : {}),
    ...(names.hasStatus ? { status: payment.status } : {}),
  };
}

const PLATEGA_PREFIX = 'platega:';

/** By which id a payment is to be looked up; null = the query names none that the method has. */
export function requestedId(
  method: string,
  query: PaymentQuery,
): { local: number } | { external: string } | { order: string } | null {
  if (query.localPaymentId != null) return { local: query.localPaymentId };
  const names = NAMES[method] ?? USUAL;
  const first = (fields: readonly PaymentIdField[] | undefined) => fields?.map((field) => query[field]?.trim()).find(Boolean);
  const external = first(names.asksExternal);
  if (external) return { external };
  const order = first(names.asksOrder);
  return order ? { order: order.replace(PLATEGA_PREFIX, '') } : null;
}
