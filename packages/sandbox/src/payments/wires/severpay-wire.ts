import { createHmac } from 'node:crypto';
import { jsonObject, jsonReply, type LoopbackReply } from '../../loopback-server.ts';
import {
  type FakeShop,
  type FakeWire,
  type InvoiceAction,
  kopeksOf,
  rublesText,
  type SandboxInvoice,
  type SandboxInvoiceStatus,
  webUrl,
} from '../invoice.ts';

/** Merchant id of the fake. */
const MID = 101;
const STATUS: Readonly<Record<SandboxInvoiceStatus, string>> = {
  pending: 'new',
  paid: 'success',
  // The provider accepts the whole sum or nothing.
  underpaid: 'process',
  failed: 'decline',
  expired: 'fail',
  refunded: 'success',
  chargeback: 'success',
};
const REPORTED: readonly InvoiceAction[] = ['pay', 'overpay', 'fail', 'expire'];

/** SeverPay (03a section 14): signed requests and signed callbacks, as PHP writes JSON; no refunds. */
export const severpayWire: FakeWire = {
  method: 'severpay',
  webhookPath: '/severpay-webhook',
  isAcknowledged: ({ status, text }) => status === 200 && jsonObject(text)?.status === true,

  answer: async (request, shop) => {
    const body = jsonObject(request.body);
    if (request.method !== 'POST' || !body) return wireError(400, 'Bad request');
    const { sign, ...fields } = body;
    const text = JSON.stringify(Object.fromEntries(Object.entries(fields).sort(([left], [right]) => (left < right ? -1 : 1))));
    const isSalted = typeof body.salt === 'string' && body.salt !== '';
    if (body.mid !== MID || !isSalted || sign !== hmac(text, shop.secret)) return wireError(403, 'Invalid sign');
    // PHP would sign another text of such a number.
    if (/"amount":\d+\.\d*0[,}]/.test(request.body)) return wireError(403, 'Invalid sign');
    if (request.path === '/payin/create') return create(body, shop);
    return request.path === '/payin/get' ? get(body, shop) : wireError(404, 'Unknown method');
  },

  callbacks: (invoice, action, shop) => {
    if (!REPORTED.includes(action)) return [];
    const { id, order_id, amount, currency, status } = wirePayin(invoice);
    const fields = { type: 'payin', data: { id, order_id, amount, currency, status }, salt: invoice.id.slice(0, 16) };
    const body = phpText({ ...fields, sign: hmac(phpText(fields), shop.secret) });
    return [{ body, headers: { 'content-type': 'application/json' } }];
  },
};

const hmac = (text: string, token: string) => createHmac('sha256', token).update(text).digest('hex');

/** JSON with PHP's default flags. */
function phpText(value: object): string {
  return JSON.stringify(value)
    .replaceAll('/', '\\/')
    .replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function wirePayin(invoice: SandboxInvoice) {
  const amount = Number(rublesText(invoice.paidKopeks || invoice.amountKopeks));
  return {
    id: invoice.number,
    uid: invoice.id,
    order_id: invoice.orderId,
    amount,
    currency: invoice.currency,
    status: STATUS[invoice.status],
  };
}

async function create(body: Record<string, unknown>, shop: FakeShop): Promise<LoopbackReply> {
  const amountKopeks = kopeksOf(body.amount);
  const lifetime = Number(body.lifetime ?? 1_440);
  if (typeof body.order_id !== 'string' || body.order_id === '') return wireError(200, 'order_id');
  if (typeof body.amount !== 'number' || amountKopeks === null) return wireError(200, 'amount');
  if (body.currency !== 'RUB') return wireError(200, 'currency');
  if (!/^[^@\s]+@[^@\s]+$/.test(String(body.client_email ?? ''))) return wireError(200, 'client_email');
  if (typeof body.client_id !== 'string' || body.client_id === '') return wireError(200, 'client_id');
  if (!Number.isInteger(lifetime) || lifetime < 30 || lifetime > 4_320) return wireError(200, 'lifetime');
  const expiresAt = new Date(shop.now().getTime() + lifetime * 60_000);
  const invoice = await shop.create({
    orderId: body.order_id,
    amountKopeks,
    description: '',
    returnUrl: webUrl(body.url_return),
    expiresAt: expiresAt.toISOString(),
  });
  const expire_at = Math.floor(expiresAt.getTime() / 1_000);
  return jsonReply(200, {
    status: true,
    msg: '',
    data: { id: invoice.number, uid: invoice.id, url: shop.payUrl(invoice), expire_at },
  });
}

async function get(body: Record<string, unknown>, shop: FakeShop): Promise<LoopbackReply> {
  const invoice = await shop.find(({ number, id }) => (body.id === undefined ? id === body.uid : number === body.id));
  return invoice ? jsonReply(200, { status: true, msg: '', data: wirePayin(invoice) }) : wireError(200, 'Payment not found');
}

function wireError(status: number, msg: string): LoopbackReply {
  return jsonReply(status, { status: false, msg });
}
