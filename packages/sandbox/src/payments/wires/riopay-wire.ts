import { createHmac } from 'node:crypto';
import { jsonObject, jsonReply, type LoopbackReply, type LoopbackRequest } from '../../loopback-server.ts';
import {
  type FakeShop,
  type FakeWire,
  kopeksOf,
  rublesText,
  type SandboxInvoice,
  type SandboxInvoiceStatus,
  webUrl,
} from '../invoice.ts';

const STATUS: Readonly<Record<SandboxInvoiceStatus, string>> = {
  pending: 'PENDING',
  paid: 'COMPLETED',
  // The payer pays the whole sum, or the order stays open.
  underpaid: 'PENDING',
  failed: 'FAILED',
  expired: 'EXPIRED',
  refunded: 'REFUND',
  chargeback: 'CHARGEBACK',
};

/** RioPay's API (03a section 13): orders, idempotent by the id of the shop, whole refunds, signed callbacks with the order. */
export const riopayWire: FakeWire = {
  method: 'riopay',
  webhookPath: '/riopay-webhook',

  answer: async (request, shop) => {
    if (request.headers['x-api-token'] !== shop.secret) return wireError(401, 'Unauthorized');
    const [version, area, id = '', second] = request.path.split('/').slice(1).map(decodeURIComponent);
    if (version !== 'v1') return wireError(404, 'Not Found');
    if (area === 'refunds' && request.method === 'POST') return refund(request, shop);
    if (area !== 'orders') return wireError(404, 'Not Found');
    if (request.method === 'PUT' && id === '') return create(request, shop);
    if (request.method !== 'GET') return wireError(405, 'Method Not Allowed');
    const invoice = await shop.find((known) => (id === 'external' ? known.orderId === second : known.id === id));
    return invoice ? jsonReply(200, wireOrder(invoice, shop)) : wireError(404, 'Order not found');
  },

  callbacks: (invoice, action, shop) => {
    if (action === 'underpay') return [];
    const body = JSON.stringify(wireOrder(invoice, shop));
    const signature = createHmac('sha512', shop.secret).update(body).digest('hex');
    const type = action === 'refund' ? 'REFUND_UPDATE' : 'ORDER_UPDATE';
    return [{ body, headers: { 'content-type': 'application/json', 'X-Signature': signature, 'X-Type': type } }];
  },
};

/** Amounts are the shortest text: 1000.5. */
const shortText = (kopeks: number) => String(Number(rublesText(kopeks)));

function wireOrder(invoice: SandboxInvoice, shop: FakeShop) {
  const kopeks = invoice.paidKopeks || invoice.amountKopeks;
  const commission = Math.round(kopeks * 0.05);
  return {
    id: invoice.id,
    status: STATUS[invoice.status],
    amount: shortText(kopeks),
    commission: shortText(commission),
    received: shortText(kopeks - commission),
    currency: invoice.currency,
    paymentType: 'SBP',
    shopId: 'sandbox-shop',
    terminalId: 'sandbox-terminal',
    merchantId: 'sandbox-merchant',
    externalId: invoice.orderId,
    externalUserId: invoice.metadata.externalUserId ?? null,
    paymentLink: shop.payUrl(invoice),
    successUrl: invoice.returnUrl,
    payedAt: invoice.paidAt,
    createdAt: invoice.createdAt,
    isTest: false,
  };
}

async function create(request: LoopbackRequest, shop: FakeShop): Promise<LoopbackReply> {
  const body = jsonObject(request.body) ?? {};
  const { amount, externalId, purpose, currency, externalUserId } = body;
  const amountKopeks = typeof amount === 'string' ? kopeksOf(amount) : null;
  if (amountKopeks === null) return wireError(400, 'amount must be a decimal string');
  if (typeof externalId !== 'string' || externalId === '') return wireError(400, 'externalId must be a string');
  if (body.isFeeOnUser !== false) return wireError(400, 'the sandbox expects isFeeOnUser false');
  if (typeof purpose !== 'string' || purpose.length > 255) return wireError(400, 'purpose is too long');
  const invoice = await shop.create({
    ...{ orderId: externalId, amountKopeks, description: purpose, currency: String(currency ?? 'RUB') },
    ...{ returnUrl: webUrl(body.successUrl), metadata: { externalUserId } },
  });
  return jsonReply(200, wireOrder(invoice, shop));
}

async function refund(request: LoopbackRequest, shop: FakeShop): Promise<LoopbackReply> {
  const { orderId, externalId } = jsonObject(request.body) ?? {};
  const invoice = await shop.find((known) => known.id === orderId && known.orderId === externalId);
  if (!invoice) return wireError(404, 'Order not found');
  const changed = await shop.act(invoice.id, 'refund');
  return changed ? jsonReply(201, { id: changed.reversals.at(-1)!.id, orderId }) : wireError(400, 'Order is not paid');
}

function wireError(statusCode: number, message: string): LoopbackReply {
  return jsonReply(statusCode, { statusCode, message, error: 'Error' });
}
