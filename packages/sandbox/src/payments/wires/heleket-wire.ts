import { createHash } from 'node:crypto';
import { jsonObject, jsonReply, type LoopbackReply, type LoopbackRequest } from '../../loopback-server.ts';
import {
  type FakeShop,
  type FakeWire,
  type InvoiceAction,
  kopeksOf,
  rublesText,
  type SandboxInvoice,
  type SandboxInvoiceStatus,
} from '../invoice.ts';

const MERCHANT = 'sandbox';
/** Kopeks that the sandbox takes for one unit of the crypto currency. */
const KOPEKS_A_UNIT = 10_000;
const LIFETIME = { min: 300, max: 43_200, default: 3_600 };

const STATUS: Readonly<Record<SandboxInvoiceStatus, string>> = {
  pending: 'check',
  paid: 'paid',
  underpaid: 'wrong_amount',
  failed: 'fail',
  expired: 'cancel',
  refunded: 'refund_paid',
  // Transfers of crypto currency cannot be taken back.
  chargeback: 'paid',
};
const OPEN_STATUSES = new Set(['check']);

/** Heleket's API v1 (03a section 4): requests signed in a header, callbacks with the signature among their members. */
export const heleketWire: FakeWire = {
  method: 'heleket',
  webhookPath: '/heleket-webhook',

  answer: async (request, shop) => {
    const isSigned = request.headers.sign === signatureOf(request.body, shop.secret);
    if (request.headers.merchant !== MERCHANT || !isSigned) return jsonReply(401, { state: 1, message: 'Unauthorized' });
    if (request.method !== 'POST') return jsonReply(405, { state: 1, message: 'Method Not Allowed' });
    if (request.path === '/payment') return create(request, shop);
    if (request.path === '/payment/info') return info(request, shop);
    return jsonReply(404, { state: 1, message: 'Not Found' });
  },

  callbacks: (invoice, action, shop) => (isReported(invoice, action) ? [callback(invoice, shop)] : []),
};

function isReported(invoice: SandboxInvoice, action: InvoiceAction): boolean {
  return action !== 'chargeback' && (action !== 'refund' || invoice.status === 'refunded');
}

function signatureOf(text: string, key: string): string {
  return createHash('md5')
    .update(Buffer.from(text).toString('base64') + key)
    .digest('hex');
}

/** A callback as PHP writes it: slashes escaped, the signature of all the other members at the end. */
function callback(invoice: SandboxInvoice, shop: FakeShop) {
  const { uuid, order_id, amount, payment_amount, payer_amount, payer_currency, currency, network, is_final } = wireInvoice(
    invoice,
    shop,
  );
  const members = {
    ...{ type: 'payment', uuid, order_id, amount, payment_amount, payment_amount_usd: payment_amount },
    ...{ merchant_amount: payment_amount, commission: '0.00000000', is_final, status: statusOf(invoice), from: null, network },
    ...{ currency, payer_currency, payer_amount, additional_data: null, convert: null, txid: null },
  };
  const text = JSON.stringify(members).replaceAll('/', '\\/');
  const body = `${text.slice(0, -1)},"sign":"${signatureOf(text, shop.secret)}"}`;
  return { body, headers: { 'content-type': 'application/json' } };
}

function statusOf({ status, paidKopeks, amountKopeks }: SandboxInvoice): string {
  return status === 'paid' && paidKopeks > amountKopeks ? 'paid_over' : STATUS[status];
}

function wireInvoice(invoice: SandboxInvoice, shop: FakeShop) {
  const status = statusOf(invoice);
  return {
    uuid: invoice.id,
    order_id: invoice.orderId,
    // That of the invoice, whatever was paid.
    amount: rublesText(invoice.amountKopeks),
    payment_amount: units(invoice.paidKopeks),
    payer_amount: units(invoice.amountKopeks),
    payer_currency: 'USDT',
    currency: invoice.currency,
    network: 'tron',
    address: null,
    url: shop.payUrl(invoice),
    expired_at: Math.floor(new Date(invoice.expiresAt).getTime() / 1_000),
    payment_status: status,
    is_final: !OPEN_STATUSES.has(status),
  };
}

function units(kopeks: number): string {
  return `${Math.trunc(kopeks / KOPEKS_A_UNIT)}.${String(kopeks % KOPEKS_A_UNIT).padStart(4, '0')}0000`;
}

async function create(request: LoopbackRequest, shop: FakeShop): Promise<LoopbackReply> {
  const body = jsonObject(request.body) ?? {};
  const { amount, currency, order_id: orderId, lifetime = LIFETIME.default } = body;
  const amountKopeks = typeof amount === 'string' ? kopeksOf(amount) : null;
  if (amountKopeks === null) return invalid('amount');
  if (currency !== 'RUB') return invalid('currency');
  if (typeof orderId !== 'string' || !/^[\w-]{1,128}$/.test(orderId)) return invalid('order_id');
  const seconds = Number(lifetime);
  if (!(seconds >= LIFETIME.min && seconds <= LIFETIME.max)) return invalid('lifetime');
  for (const name of ['url_callback', 'url_return', 'url_success']) {
    const url = body[name];
    if (url !== undefined && (typeof url !== 'string' || url.length < 6 || url.length > 255)) return invalid(name);
  }
  const expiresAt = new Date(shop.now().getTime() + seconds * 1_000).toISOString();
  const invoice = await shop.create({ orderId, amountKopeks, description: '', expiresAt });
  return jsonReply(200, { state: 0, result: wireInvoice(invoice, shop) });
}

async function info(request: LoopbackRequest, shop: FakeShop): Promise<LoopbackReply> {
  const { uuid, order_id: orderId } = jsonObject(request.body) ?? {};
  // The order id wins where both are given.
  const invoice = await shop.find((known) => (orderId === undefined ? known.id === uuid : known.orderId === orderId));
  return invoice
    ? jsonReply(200, { state: 0, result: wireInvoice(invoice, shop) })
    : jsonReply(404, { state: 1, message: 'Payment not found' });
}

function invalid(field: string): LoopbackReply {
  return jsonReply(422, { state: 1, errors: { [field]: ['Refused by the sandbox'] } });
}
