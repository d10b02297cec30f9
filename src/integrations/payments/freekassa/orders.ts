import {
  type CreatedInvoice,
  type InvoiceRequest,
  type PaymentReference,
  type PaymentReport,
  ProviderError,
  type RefundAnswer,
  type RefundRequest,
} from '../../../domain/payments/ports.ts';
import { plainJson, textField } from '../wire/json.ts';
import { wireNumber } from '../wire/write-json.ts';
import { callOrderApi, type OrderAccess, type OrderApi } from './order-api.ts';
import { orderFields, orderReport, ordersOf, PAID, REFUNDED, refundIdOf } from './order-wire.ts';

/** Creates an order. @throws ProviderError */
export async function createOrder(
  access: OrderAccess,
  api: OrderApi,
  request: InvoiceRequest,
  order: Parameters<typeof orderFields>[1] & { expiresAt: Date },
): Promise<CreatedInvoice> {
  const answer = await callOrderApi(access, api, '/orders/create', orderFields(request, order));
  const externalId = textField(answer, 'orderId');
  const paymentUrl = textField(answer, 'location');
  if (externalId === null || paymentUrl === null) {
    throw new ProviderError(api.method, 'unavailable', 'The provider answered without an order');
  }
  return {
    externalId,
    paymentUrl,
    status: 'pending',
    expiresAt: order.expiresAt,
    merchantId: api.shopId,
    raw: plainJson(answer),
  };
}

/** Asks about the orders of our order id. @throws ProviderError `rejected` when there is none */
export async function fetchOrder(access: OrderAccess, api: OrderApi, reference: PaymentReference): Promise<PaymentReport> {
  const { externalId, orderId } = reference;
  if (orderId === null) throw new ProviderError(api.method, 'rejected', 'Orders are found by our order id only');
  const orders = ordersOf(await callOrderApi(access, api, '/orders', { paymentId: orderId }), orderId);
  // The address of the form is our own; the provider has no order before somebody opens it.
  if (orders.length === 0 && externalId === orderId) return unopenedForm(orderId);
  if (orders.length === 0) throw new ProviderError(api.method, 'rejected', 'The provider does not know this order');
  const report = orderReport(orders);
  if (!report) throw new ProviderError(api.method, 'unavailable', 'The provider answered with an order that cannot be read');
  return report;
}

function unopenedForm(orderId: string): PaymentReport {
  const nothing = { amountKopeks: 0, currency: 'RUB', paidAt: null, raw: null };
  return { externalId: orderId, orderId, status: 'pending', outcome: 'pending', ...nothing };
}

/**
 * Refunds an order, which is possible as a whole only. The call has no idempotency key, so the order is read first: a refund whose answer
 * was lost is not requested again.
 * @throws ProviderError
 */
export async function refundOrder(access: OrderAccess, api: OrderApi, request: RefundRequest): Promise<RefundAnswer> {
  const { orderId, isWhole } = request;
  if (!isWhole) throw new ProviderError(api.method, 'rejected', 'The provider refunds whole payments only');
  const fkOrderId = request.chargeId ?? request.externalId;
  const readStatus = async () => {
    const orders = ordersOf(await callOrderApi(access, api, '/orders', { paymentId: orderId }), orderId);
    return textField(orders.find((order) => textField(order, 'fk_order_id') === fkOrderId) ?? null, 'status');
  };
  const reversalId = refundIdOf(fkOrderId);
  const before = await readStatus();
  if (before === REFUNDED) return { reversalId, state: 'done' };
  if (before !== PAID) throw new ProviderError(api.method, 'rejected', 'The provider has no such paid order');
  await callOrderApi(access, api, '/orders/refund', { orderId: wireNumber(fkOrderId) });
  return { reversalId, state: (await readStatus()) === REFUNDED ? 'done' : 'pending' };
}
