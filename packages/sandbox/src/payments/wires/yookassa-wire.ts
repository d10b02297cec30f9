import { jsonObject, jsonReply, type LoopbackReply, type LoopbackRequest } from '../../loopback-server.ts';
import {
  type FakeShop,
  type FakeWire,
  type InvoiceDraft,
  kopeksOf,
  refundOfKey,
  rublesText,
  type SandboxInvoice,
  type SandboxInvoiceStatus,
  webUrl,
} from '../invoice.ts';

/** YooKassa's shop id in the sandbox. */
export const SANDBOX_SHOP_ID = 'sandbox';
/** Option of an invoice whose card is to be saved. */
const SAVE_OPTION = 'save_card';
/** For this long the provider remembers an idempotence key (03a section 5). */
const KEY_MS = 24 * 60 * 60 * 1_000;

const STATUS: Readonly<Record<SandboxInvoiceStatus, string>> = {
  pending: 'pending',
  paid: 'succeeded',
  // The real provider accepts the exact amount or nothing; an invoice that got less stays held.
  underpaid: 'waiting_for_capture',
  failed: 'canceled',
  expired: 'canceled',
  refunded: 'succeeded',
  chargeback: 'succeeded',
};

/** YooKassa's API v3 (03a section 5): payments and refunds with idempotence keys, notifications without a signature. */
export const yookassaWire: FakeWire = {
  method: 'yookassa',
  webhookPath: '/yookassa-webhook',

  answer: async (request, shop) => {
    const expected = `Basic ${Buffer.from(`${SANDBOX_SHOP_ID}:${shop.secret}`).toString('base64')}`;
    if (request.headers.authorization !== expected) return wireError(401, 'invalid_credentials', 'authorization');
    const [area, id] = request.path.split('/').slice(1);
    if (area === 'payments' && request.method === 'GET' && id) {
      const invoice = await shop.find((candidate) => candidate.id === id);
      return invoice ? jsonReply(200, payment(invoice, shop)) : wireError(404, 'not_found', 'payment_id');
    }
    if (area === 'refunds' && request.method === 'GET') return refundsOf(request.query.get('payment_id'), shop);
    if (request.method !== 'POST' || id) return wireError(405, 'invalid_request', 'method');
    const key = request.headers['idempotence-key'];
    if (!key) return wireError(400, 'invalid_request', 'Idempotence-Key');
    if (area === 'payments') return create(request, key, shop);
    return area === 'refunds' ? refund(request, key, shop) : wireError(404, 'not_found', 'path');
  },

  callbacks: (invoice, action, shop) => {
    const { status } = invoice;
    if (action === 'refund') {
      return [notification('refund.succeeded', wireRefund(invoice, invoice.reversals.at(-1)!))];
    }
    const event = { paid: 'payment.succeeded', underpaid: 'payment.waiting_for_capture' }[status as string] ?? 'payment.canceled';
    // Chargebacks are not reported.
    return status === 'chargeback' || status === 'pending' ? [] : [notification(event, payment(invoice, shop))];
  },
};

function notification(event: string, object: object) {
  return {
    body: JSON.stringify({ type: 'notification', event, object }),
    headers: { 'content-type': 'application/json' },
  };
}

function payment(invoice: SandboxInvoice, shop: FakeShop): Record<string, unknown> {
  const amount = { value: rublesText(invoice.paidKopeks || invoice.amountKopeks), currency: invoice.currency };
  const refunded = invoice.reversals.filter(({ kind }) => kind === 'refund').reduce((sum, part) => sum + part.amountKopeks, 0);
  const isPaid = invoice.paidAt !== null && invoice.status !== 'underpaid';
  return {
    id: invoice.id,
    status: STATUS[invoice.status],
    paid: isPaid,
    amount,
    description: invoice.description,
    recipient: { account_id: SANDBOX_SHOP_ID, gateway_id: '1' },
    created_at: invoice.createdAt,
    ...(invoice.paidAt ? { captured_at: invoice.paidAt, income_amount: incomeOf(invoice) } : {}),
    ...(invoice.status === 'pending'
      ? { confirmation: { type: 'redirect', confirmation_url: shop.payUrl(invoice) }, expires_at: invoice.expiresAt }
      : {}),
    ...(refunded > 0 ? { refunded_amount: { value: rublesText(refunded), currency: invoice.currency } } : {}),
    metadata: invoice.metadata,
    ...(savedMethodId(invoice) ? { payment_method: savedCard(invoice) } : {}),
    refundable: invoice.status === 'paid',
    test: true,
  };
}

/** What the shop gets: the fee is 3.5 %. */
function incomeOf({ paidKopeks, currency }: SandboxInvoice) {
  return { value: rublesText(paidKopeks - Math.round(paidKopeks * 0.035)), currency };
}

function savedCard(invoice: SandboxInvoice) {
  const card = { first6: '555555', last4: '4477', card_type: 'MasterCard', expiry_month: '12', expiry_year: '2030' };
  return { type: 'bank_card', id: savedMethodId(invoice), saved: true, title: 'Bank card *4477', card };
}

function wireRefund(invoice: SandboxInvoice, { id, amountKopeks, at }: SandboxInvoice['reversals'][number]) {
  const amount = { value: rublesText(amountKopeks), currency: invoice.currency };
  return { id, payment_id: invoice.id, status: 'succeeded', amount, created_at: at };
}

async function create(request: LoopbackRequest, key: string, shop: FakeShop): Promise<LoopbackReply> {
  const body = jsonObject(request.body) ?? {};
  if (typeof body.payment_method_id === 'string') return chargeSaved(body, body.payment_method_id, key, shop);
  const draft = readCreateBody(body);
  if ('problem' in draft) return wireError(400, 'invalid_request', draft.problem);
  return jsonReply(200, payment(await shop.create({ ...draft, orderId: key }, KEY_MS), shop));
}

/** A charge of a saved card is paid at once, without the payer. */
async function chargeSaved(body: Record<string, unknown>, methodId: string, key: string, shop: FakeShop): Promise<LoopbackReply> {
  const owner = await shop.find((invoice) => savedMethodId(invoice) === methodId);
  const amountKopeks = kopeksOf((body.amount as { value?: unknown } | undefined)?.value);
  if (!owner || amountKopeks === null) return wireError(400, 'invalid_request', owner ? 'amount' : 'payment_method_id');
  const metadata = (body.metadata ?? {}) as Record<string, unknown>;
  const draft = { orderId: key, amountKopeks, description: String(body.description ?? ''), metadata };
  const invoice = await shop.create(draft, KEY_MS);
  const paid = await shop.act(invoice.id, 'pay');
  return jsonReply(200, payment(paid ?? invoice, shop));
}

/** Id of the card that a payment saved; null when it saved none. */
const savedMethodId = ({ id, option, paidAt }: SandboxInvoice) =>
  option === SAVE_OPTION && paidAt !== null ? `card-${id}` : null;

async function refund(request: LoopbackRequest, key: string, shop: FakeShop): Promise<LoopbackReply> {
  const body = jsonObject(request.body) ?? {};
  const kopeks = kopeksOf((body.amount as { value?: unknown } | undefined)?.value);
  const invoice = await shop.find((candidate) => candidate.id === body.payment_id);
  if (!invoice || kopeks === null) return wireError(400, 'invalid_request', invoice ? 'amount' : 'payment_id');
  const done = refundOfKey(invoice, key, shop.now(), KEY_MS);
  if (done) return jsonReply(200, wireRefund(invoice, done));
  const changed = await shop.act(invoice.id, 'refund', kopeks, key);
  return changed ? jsonReply(200, wireRefund(changed, changed.reversals.at(-1)!)) : wireError(400, 'invalid_request', 'amount');
}

async function refundsOf(paymentId: string | null, shop: FakeShop): Promise<LoopbackReply> {
  const invoice = await shop.find((candidate) => candidate.id === paymentId);
  const refunds = invoice?.reversals.filter(({ kind }) => kind === 'refund') ?? [];
  return jsonReply(200, { type: 'list', items: refunds.map((reversal) => wireRefund(invoice!, reversal)) });
}

/** The body of POST /payments, validated like the real provider does; the amount in kopeks. */
function readCreateBody(body: Record<string, unknown>): { problem: string } | Omit<InvoiceDraft, 'orderId'> {
  const amount = body.amount as { value?: unknown; currency?: unknown } | undefined;
  const amountKopeks = /^\d{1,9}\.\d{2}$/.test(String(amount?.value ?? '')) ? kopeksOf(amount?.value) : null;
  if (amountKopeks === null || amount?.currency !== 'RUB') return { problem: 'amount' };
  const confirmation = body.confirmation as { type?: unknown; return_url?: unknown } | undefined;
  if (confirmation?.type !== 'redirect' || typeof confirmation.return_url !== 'string') return { problem: 'confirmation' };
  const receipt = body.receipt as { customer?: { email?: unknown; phone?: unknown }; items?: unknown } | undefined;
  if (!receipt?.customer?.email && !receipt?.customer?.phone) return { problem: 'receipt' };
  if (!Array.isArray(receipt.items) || receipt.items.length === 0) return { problem: 'receipt' };
  const method = body.payment_method_data as { type?: unknown } | undefined;
  return {
    amountKopeks,
    currency: 'RUB',
    description: String(body.description ?? ''),
    option: body.save_payment_method === true ? SAVE_OPTION : typeof method?.type === 'string' ? method.type : null,
    returnUrl: webUrl(confirmation.return_url),
    metadata: (body.metadata ?? {}) as Record<string, unknown>,
  };
}

function wireError(status: number, code: string, parameter: string): LoopbackReply {
  return jsonReply(status, { type: 'error', code, description: 'Refused by the sandbox', parameter });
}
