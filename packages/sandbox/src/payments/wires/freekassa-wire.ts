import { createHash, createHmac } from 'node:crypto';
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

/** Shop id of the fakes. */
const SHOP_ID = '7012';
const STATUS: Readonly<Record<SandboxInvoiceStatus, number>> = {
  pending: 0,
  paid: 1,
  // The provider accepts the whole sum or nothing.
  underpaid: 0,
  failed: 8,
  expired: 9,
  refunded: 6,
  chargeback: 1,
};

/** The payment systems of the shop. */
const CURRENCIES = [
  { id: 44, name: 'SBP (API)', currency: 'RUB', is_enabled: 1, is_favorite: 0, limits: { min: 10, max: 100_000 } },
  { id: 36, name: 'Card RUB API', currency: 'RUB', is_enabled: 1, is_favorite: 0, limits: { min: 50, max: 300_000 } },
  { id: 15, name: 'USDT', currency: 'USDT', is_enabled: 0, is_favorite: 0 },
];

/** Freekassa (03a section 10): API with signed requests, signed payment form, a notification when an order is paid. */
export const freekassaWire: FakeWire = orderWire({
  method: 'freekassa',
  webhookPath: '/freekassa-webhook',
  failureField: 'failure_url',
  hasForm: true,
  hasRefunds: true,
});

/** Kassa.ai (03a section 11): the same API without form and refunds. */
export const kassaAiWire: FakeWire = orderWire({
  method: 'kassa_ai',
  webhookPath: '/kassa-ai-webhook',
  failureField: 'fail_url',
  hasForm: false,
  hasRefunds: false,
});

interface Variant {
  method: string;
  webhookPath: string;
  failureField: string;
  hasForm: boolean;
  hasRefunds: boolean;
}

function orderWire(variant: Variant): FakeWire {
  return {
    method: variant.method,
    webhookPath: variant.webhookPath,
    isAcknowledged: ({ status, text }) => status === 200 && text === 'YES',

    answer: async (request, shop) => {
      if (variant.hasForm && request.method === 'GET' && request.path === '/form') return openForm(request, shop);
      const body = jsonObject(request.body);
      if (request.method !== 'POST' || !body) return wireError(400, 'Bad request');
      const problem = refusal(request.body, body, shop.secret);
      if (problem) return problem;
      if (request.path === '/v1/orders/create') return create(body, variant, shop);
      if (request.path === '/v1/orders') return list(body, shop);
      if (variant.hasForm && request.path === '/v1/currencies')
        return jsonReply(200, { type: 'success', currencies: CURRENCIES });
      if (variant.hasRefunds && request.path === '/v1/orders/refund') return refund(body, shop);
      return wireError(404, 'Unknown method');
    },

    callbacks: (invoice, action, shop) => {
      if (action !== 'pay' && action !== 'overpay') return [];
      const amount = rublesText(invoice.paidKopeks).replace(/\.00$/, '');
      const signature = md5([SHOP_ID, amount, shop.secret, invoice.orderId]);
      const form = new URLSearchParams({
        MERCHANT_ID: SHOP_ID,
        AMOUNT: amount,
        intid: String(invoice.number),
        MERCHANT_ORDER_ID: invoice.orderId,
        P_EMAIL: String(invoice.metadata.email ?? ''),
        P_PHONE: '',
        CUR_ID: invoice.option ?? '',
        SIGN: signature,
      });
      return [{ body: form.toString(), headers: { 'content-type': 'application/x-www-form-urlencoded' } }];
    },
  };
}

const md5 = (parts: readonly string[]) => createHash('md5').update(parts.join(':')).digest('hex');

/** Shop, signature and form of the nonce. The values are signed as they are in the text, so numbers are read from there. */
function refusal(text: string, body: Record<string, unknown>, secret: string): LoopbackReply | null {
  const written = (name: string) =>
    typeof body[name] === 'string' ? body[name] : (new RegExp(`"${name}":(-?[0-9.eE+]+)`).exec(text)?.[1] ?? '');
  const names = Object.keys(body).filter((name) => name !== 'signature');
  const expected = createHmac('sha256', secret).update(names.sort().map(written).join('|')).digest('hex');
  if (written('shopId') !== SHOP_ID || body.signature !== expected) return wireError(401, 'Wrong signature');
  return /^[1-9]\d{0,18}$/.test(written('nonce')) ? null : wireError(400, 'Wrong nonce');
}

async function create(body: Record<string, unknown>, variant: Variant, shop: FakeShop): Promise<LoopbackReply> {
  const amountKopeks = kopeksOf(body.amount);
  if (typeof body.paymentId !== 'string' || body.paymentId === '') return wireError(400, 'Wrong paymentId');
  if (!Number.isInteger(body.i)) return wireError(400, 'Wrong payment system');
  if (typeof body.amount !== 'number' || amountKopeks === null) return wireError(400, 'Wrong amount');
  if (body.currency !== 'RUB') return wireError(400, 'Wrong currency');
  if (!/^[^@\s]+@[^@\s]+$/.test(String(body.email ?? ''))) return wireError(400, 'Wrong email');
  if (typeof body.ip !== 'string' || body.ip === '' || body.ip === '127.0.0.1') return wireError(400, 'Wrong ip');
  if (Object.keys(body).some((name) => name.startsWith('fail') && name !== variant.failureField)) {
    return wireError(400, 'Unknown field');
  }
  const invoice = await shop.create({
    orderId: body.paymentId,
    amountKopeks,
    description: '',
    option: String(body.i),
    returnUrl: webUrl(body.success_url),
    metadata: { email: body.email },
  });
  const location = shop.payUrl(invoice);
  return jsonReply(200, { type: 'success', orderId: invoice.number, orderHash: invoice.id, location });
}

async function list(body: Record<string, unknown>, shop: FakeShop): Promise<LoopbackReply> {
  const invoice = await shop.find(({ orderId }) => orderId === body.paymentId);
  return jsonReply(200, { type: 'success', pages: 1, orders: invoice ? [wireOrder(invoice)] : [] });
}

async function refund(body: Record<string, unknown>, shop: FakeShop): Promise<LoopbackReply> {
  const invoice = await shop.find(({ number }) => number === body.orderId);
  const changed = invoice && (await shop.act(invoice.id, 'refund'));
  return changed ? jsonReply(200, { type: 'success', id: changed.number }) : wireError(400, 'Order cannot be refunded');
}

function wireOrder(invoice: SandboxInvoice) {
  return {
    merchant_order_id: invoice.orderId,
    fk_order_id: invoice.number,
    amount: Number(rublesText(invoice.paidKopeks || invoice.amountKopeks)),
    currency: invoice.currency,
    email: String(invoice.metadata.email ?? ''),
    account: '',
    date: invoice.createdAt.slice(0, 19).replace('T', ' '),
    status: STATUS[invoice.status],
  };
}

/** The payment form: its first visitor creates the order. */
async function openForm({ query }: LoopbackRequest, shop: FakeShop): Promise<LoopbackReply> {
  const [amount, orderId, currency] = [query.get('oa') ?? '', query.get('o') ?? '', query.get('currency') ?? ''];
  const amountKopeks = kopeksOf(amount);
  const isSigned = query.get('s') === md5([SHOP_ID, amount, shop.secret, currency, orderId]);
  if (query.get('m') !== SHOP_ID || !isSigned || amountKopeks === null || orderId === '') {
    return { status: 400, contentType: 'text/plain', body: 'Wrong signature' };
  }
  const draft = {
    orderId,
    amountKopeks,
    currency,
    description: '',
    option: query.get('i'),
    metadata: { email: query.get('em') },
  };
  const location = shop.payUrl(await shop.create(draft));
  return { status: 303, contentType: 'text/plain', body: '', headers: { location } };
}

function wireError(status: number, message: string): LoopbackReply {
  return jsonReply(status, { type: 'error', message });
}
