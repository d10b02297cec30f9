import { generateKeyPairSync, sign } from 'node:crypto';
import { jsonObject, jsonReply, type LoopbackReply, type LoopbackRequest } from '../../loopback-server.ts';
import {
  type FakeCallback,
  type FakeShop,
  type FakeWire,
  kopeksOf,
  type SandboxInvoice,
  type SandboxInvoiceStatus,
  webUrl,
} from '../invoice.ts';

const TERMINAL_ID = '3a16a4ef-0000-4000-8000-000000000001';
const MAX_RUBLES = 999_999.99;

/** Statuses of the transaction of an invoice; none = nobody has tried to pay. */
const STATUS: Readonly<Partial<Record<SandboxInvoiceStatus, string>>> = {
  paid: 'Paid',
  failed: 'Declined',
  refunded: 'Paid',
};

/** WATA's H2H API (03a section 9): links, a search of transactions, refunds, callbacks signed with RSA. */
export const wataWire: FakeWire = {
  method: 'wata',
  webhookPath: '/wata-webhook',

  answer: async (request, shop) => {
    if (request.path === '/public-key') return jsonReply(200, { value: keys().publicPem });
    if (request.headers.authorization !== `Bearer ${shop.secret}`) return wireError(401, 'Unauthorized');
    if (request.method === 'POST' && request.path === '/links') return create(request, shop);
    if (request.method === 'POST' && request.path === '/transactions/refunds') return refund(request, shop);
    if (request.method === 'GET' && request.path === '/v2/transactions') return search(request, shop);
    return wireError(404, 'Not found');
  },

  callbacks: (invoice, action) => {
    if (action === 'refund') {
      const { id, amountKopeks } = invoice.reversals.at(-1)!;
      return [signed({ ...transaction(invoice), kind: 'Refund', transactionId: id, amount: amountKopeks / 100 })];
    }
    if (action !== 'pay' && action !== 'fail') return [];
    const after = transaction(invoice);
    // Asked before the payment, reported after it.
    return [signed({ ...after, transactionStatus: 'Created', paymentTime: null }), signed(after)];
  },
};

let pair: { privatePem: string; publicPem: string } | null = null;

/** The provider's key pair, made when it is first needed. */
function keys() {
  pair ??= makeKeys();
  return pair;
}

function makeKeys() {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  return {
    privatePem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  };
}

/** A callback as the provider signs it. */
function signed(fields: object): FakeCallback {
  const body = JSON.stringify(fields);
  return { body, headers: { 'content-type': 'application/json', 'x-signature': signAsWata(body) } };
}

/** The provider's signature of a body; base64. */
export function signAsWata(body: string): string {
  return sign('sha512', Buffer.from(body), keys().privatePem).toString('base64');
}

const transactionId = ({ id }: SandboxInvoice) => `7a6a${id.slice(4)}`;

/** The fields of a callback. */
function transaction(invoice: SandboxInvoice) {
  const status = STATUS[invoice.status];
  return {
    transactionType: 'SBP',
    kind: 'Payment',
    transactionId: transactionId(invoice),
    transactionStatus: status,
    errorCode: status === 'Declined' ? 'PAY_1' : null,
    errorDescription: null,
    terminalName: 'sandbox',
    terminalPublicId: TERMINAL_ID,
    amount: (invoice.paidKopeks || invoice.amountKopeks) / 100,
    currency: invoice.currency,
    orderId: invoice.orderId,
    orderDescription: invoice.description,
    paymentLinkId: invoice.id,
    paymentTime: invoice.paidAt,
    commission: 0,
    email: null,
  };
}

/** The transactions of an invoice as the search lists them. */
function listed(invoice: SandboxInvoice): object[] {
  if (!STATUS[invoice.status]) return [];
  const { transactionId: id, transactionStatus: status, commission: totalCommission, ...rest } = transaction(invoice);
  const payment = { ...rest, id, status, totalCommission };
  const refunds = invoice.reversals.map((reversal) => {
    return { ...payment, kind: 'Refund', id: reversal.id, status: 'Paid', amount: reversal.amountKopeks / 100 };
  });
  return [...refunds, payment];
}

async function create(request: LoopbackRequest, shop: FakeShop): Promise<LoopbackReply> {
  const { type, amount, currency, description, orderId, successRedirectUrl, expirationDateTime } = jsonObject(request.body) ?? {};
  const amountKopeks = typeof amount === 'number' && amount >= 10 && amount <= MAX_RUBLES ? kopeksOf(amount) : null;
  if (amountKopeks === null || currency !== 'RUB') return wireError(400, 'Amount');
  if (type !== 'OneTime' && type !== 'ManyTime') return wireError(400, 'Type');
  if (typeof orderId !== 'string') return wireError(400, 'OrderId');
  const expiresAt = typeof expirationDateTime === 'string' ? { expiresAt: expirationDateTime } : {};
  const draft = { orderId, amountKopeks, description: String(description ?? ''), returnUrl: webUrl(successRedirectUrl) };
  const invoice = await shop.create({ ...draft, ...expiresAt });
  return jsonReply(200, {
    id: invoice.id,
    ...{ url: shop.payUrl(invoice), status: 'Opened', amount, currency, orderId },
    ...{ terminalName: 'sandbox', terminalPublicId: TERMINAL_ID, creationTime: invoice.createdAt },
    expirationDateTime: invoice.expiresAt,
  });
}

async function search(request: LoopbackRequest, shop: FakeShop): Promise<LoopbackReply> {
  const invoice = await shop.find((known) => known.orderId === request.query.get('orderId'));
  return jsonReply(200, { items: invoice ? listed(invoice) : [], nextCursorId: null });
}

async function refund(request: LoopbackRequest, shop: FakeShop): Promise<LoopbackReply> {
  const { originalTransactionId, amount } = jsonObject(request.body) ?? {};
  const invoice = await shop.find((known) => transactionId(known) === originalTransactionId);
  const kopeks = kopeksOf(amount);
  if (!invoice || kopeks === null) return wireError(400, 'OriginalTransactionId');
  const changed = await shop.act(invoice.id, 'refund', kopeks);
  return changed
    ? jsonReply(200, { id: changed.reversals.at(-1)!.id, status: 'Paid', kind: 'Refund' })
    : wireError(400, 'Amount');
}

function wireError(status: number, message: string): LoopbackReply {
  return jsonReply(status, { error: { code: String(status), message, details: null, validationErrors: null } });
}
