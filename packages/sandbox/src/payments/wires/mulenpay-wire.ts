import { createHash } from 'node:crypto';
import { jsonObject, jsonReply, type LoopbackReply, type LoopbackRequest } from '../../loopback-server.ts';
import {
  type FakeShop,
  type FakeWire,
  kopeksOf,
  rublesText,
  type SandboxInvoice,
  type SandboxInvoiceStatus,
} from '../invoice.ts';

const SHOP_ID = 1;
const [CREATED, PROCESSING, CANCELED, PAID] = [0, 1, 2, 3];

const STATUS: Readonly<Record<SandboxInvoiceStatus, number>> = {
  pending: CREATED!,
  paid: PAID!,
  // The provider accepts the whole sum or nothing.
  underpaid: PROCESSING!,
  failed: CANCELED!,
  expired: CANCELED!,
  refunded: CANCELED!,
  chargeback: PAID!,
};

/** MulenPay's API v2 (03a section 6): signed requests, callbacks without a signature, as the vendor's OpenAPI describes them. */
export const mulenpayWire: FakeWire = {
  method: 'mulenpay',
  webhookPath: '/mulenpay-webhook',

  answer: async (request, shop) => {
    if (request.headers.authorization !== `Bearer ${shop.secret}`) return refusal(401, 'Unauthorized');
    const [version, area, id, action] = request.path.split('/').slice(1);
    if (version !== 'v2' || area !== 'payments') return refusal(404, 'Not Found');
    if (request.method === 'POST' && !id) return create(request, shop);
    const invoice = await shop.find(({ number }) => String(number) === id);
    if (!invoice) return refusal(404, 'Payment not found');
    if (request.method === 'GET' && !action) return jsonReply(200, { success: true, payment: wirePayment(invoice) });
    if (request.method !== 'PUT' || action !== 'refund') return refusal(405, 'Method Not Allowed');
    const refunded = await shop.act(invoice.id, 'refund');
    return refunded ? jsonReply(200, { success: true }) : refusal(422, 'The payment cannot be refunded');
  },

  callbacks: (invoice, action) => {
    const isPaid = action === 'pay' || action === 'overpay';
    if (!isPaid && action !== 'fail' && action !== 'expire') return [];
    const { id, uuid, amount } = wirePayment(invoice);
    const status = isPaid ? 'success' : 'cancel';
    const body = JSON.stringify({ id, amount: Number(amount), currency: invoice.currency, uuid, payment_status: status });
    return [{ body, headers: { 'content-type': 'application/json' } }];
  },
};

function wirePayment(invoice: SandboxInvoice) {
  return {
    id: invoice.number,
    uuid: invoice.orderId,
    amount: rublesText(invoice.paidKopeks || invoice.amountKopeks),
    currency: invoice.currency.toLowerCase(),
    description: invoice.description,
    status: STATUS[invoice.status],
  };
}

async function create(request: LoopbackRequest, shop: FakeShop): Promise<LoopbackReply> {
  const body = jsonObject(request.body) ?? {};
  const { amount, uuid } = body;
  const amountKopeks = typeof amount === 'string' && /^\d+\.\d{2}$/.test(amount) ? kopeksOf(amount) : null;
  if (amountKopeks === null) return refusal(422, 'amount');
  if (body.currency !== 'rub' || body.shopId !== SHOP_ID) return refusal(422, 'currency or shopId');
  if (typeof uuid !== 'string' || uuid === '') return refusal(422, 'uuid');
  const items = Array.isArray(body.items) ? (body.items as { quantity?: unknown; price?: unknown }[]) : [];
  const sum = items.reduce((kopeks, { quantity, price }) => kopeks + Number(quantity) * (kopeksOf(price) ?? 0), 0);
  if (sum !== amountKopeks) return refusal(422, 'items');
  const sign = createHash('sha1').update(`rub${amount}${SHOP_ID}${shop.secret}`).digest('hex');
  if (body.sign !== sign) return refusal(422, 'sign');
  const invoice = await shop.create({ orderId: uuid, amountKopeks, description: String(body.description ?? '') });
  return jsonReply(201, { success: true, paymentUrl: shop.payUrl(invoice), id: invoice.number });
}

function refusal(status: number, error: string): LoopbackReply {
  return jsonReply(status, { error, status });
}
