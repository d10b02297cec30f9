import { createHash } from 'node:crypto';
import { jsonReply, type LoopbackReply, type LoopbackRequest } from '../../loopback-server.ts';
import {
  type FakeCallback,
  type FakeShop,
  type FakeWire,
  type InvoiceAction,
  kopeksOf,
  rublesText,
  type SandboxInvoice,
  type SandboxInvoiceStatus,
} from '../invoice.ts';

const SHOP_ID = 'sandbox';
const FORM = 'application/x-www-form-urlencoded';

const STATUS: Readonly<Record<SandboxInvoiceStatus, string>> = {
  pending: 'NEW',
  paid: 'SUCCESS',
  underpaid: 'UNDERPAID',
  failed: 'FAIL',
  expired: 'FAIL',
  refunded: 'SUCCESS',
  chargeback: 'SUCCESS',
};

/** PAL24's API v1 (03a section 7): bills by form, postbacks whose signature does not cover their status. */
export const pal24Wire: FakeWire = {
  method: 'pal24',
  webhookPath: '/pal24-webhook',

  answer: async (request, shop) => {
    if (request.headers.authorization !== `Bearer ${shop.secret}`) return jsonReply(401, { message: 'Unauthenticated.' });
    if (request.path === '/bill/create' && request.method === 'POST') return create(request, shop);
    const bill = await shop.find(({ id }) => id === request.query.get('id'));
    if (!bill) return refusal(404, 'api:error.bill_not_found');
    if (request.path === '/bill/status') return jsonReply(200, { ...wireBill(bill), success: 'true' });
    if (request.path === '/bill/payments') return jsonReply(200, { data: payments(bill), success: 'true' });
    return jsonReply(404, { message: 'Not Found' });
  },

  callbacks: (invoice, action, shop) => [
    action === 'refund' || action === 'chargeback' ? reversalPostback(invoice, action, shop) : paymentPostback(invoice, shop),
  ],
};

function statusOf({ status, paidKopeks, amountKopeks }: SandboxInvoice): string {
  return status === 'paid' && paidKopeks > amountKopeks ? 'OVERPAID' : STATUS[status];
}

function wireBill(invoice: SandboxInvoice) {
  return {
    id: invoice.id,
    order_id: invoice.orderId,
    active: invoice.status === 'pending' || invoice.status === 'underpaid',
    status: statusOf(invoice),
    // Of the bill, whatever was paid.
    amount: rublesText(invoice.amountKopeks),
    type: 'NORMAL',
    created_at: invoice.createdAt,
    currency_in: invoice.currency,
  };
}

function payments({ id, number, paidKopeks, currency }: SandboxInvoice) {
  if (paidKopeks === 0) return [];
  return [{ id: `PAY${number}`, bill_id: id, status: 'SUCCESS', amount: rublesText(paidKopeks), currency_in: currency }];
}

function paymentPostback(invoice: SandboxInvoice, shop: FakeShop): FakeCallback {
  const amount = rublesText(invoice.paidKopeks || invoice.amountKopeks);
  const fields = { InvId: invoice.orderId, OutSum: amount, Commission: '0.00', TrsId: invoice.id, Status: statusOf(invoice) };
  const rest = { CurrencyIn: invoice.currency, custom: String(invoice.metadata.custom ?? '') };
  return postback({ ...fields, ...rest }, [amount, invoice.orderId], shop);
}

function reversalPostback(invoice: SandboxInvoice, action: InvoiceAction, shop: FakeShop): FakeCallback {
  const { id, amountKopeks } = invoice.reversals.at(-1)!;
  const amount = rublesText(amountKopeks);
  const paymentId = `PAY${invoice.number}`;
  const ids = { Id: id, BillId: invoice.id, PaymentId: paymentId, InvId: invoice.orderId, Status: 'SUCCESS' };
  const signed = [invoice.id, paymentId, id];
  if (action === 'chargeback') return postback(ids, signed, shop);
  return postback({ ...ids, Amount: amount, Currency: invoice.currency }, [amount, invoice.currency, ...signed], shop);
}

function postback(fields: Record<string, string>, signed: readonly string[], { secret }: FakeShop): FakeCallback {
  const signature = createHash('md5')
    .update([...signed, secret].join(':'))
    .digest('hex')
    .toUpperCase();
  const body = new URLSearchParams({ ...fields, SignatureValue: signature }).toString();
  return { body, headers: { 'content-type': FORM } };
}

async function create(request: LoopbackRequest, shop: FakeShop): Promise<LoopbackReply> {
  if (!request.headers['content-type']?.startsWith(FORM)) return refusal(422, 'api:error.invalid_form');
  const form = new URLSearchParams(request.body);
  const amountKopeks = kopeksOf(form.get('amount'));
  const orderId = form.get('order_id');
  if (amountKopeks === null) return refusal(422, 'api:error.invalid_amount');
  if (form.get('shop_id') !== SHOP_ID || !orderId) return refusal(403, 'api:error.access_denied');
  if (form.get('type') !== 'normal' || form.get('currency_in') !== 'RUB') return refusal(422, 'api:error.invalid_currency');
  const option = form.get('payment_method');
  if (option !== 'SBP' && option !== 'BANK_CARD') return refusal(422, 'api:error.invalid_payment_method');
  const metadata = { custom: form.get('custom') };
  const bill = await shop.create({ orderId, amountKopeks, description: form.get('description') ?? '', option, metadata });
  const url = shop.payUrl(bill);
  return jsonReply(200, { success: 'true', link_url: url, link_page_url: url, bill_id: bill.id });
}

function refusal(status: number, key: string): LoopbackReply {
  return jsonReply(status, { success: false, error_key: key });
}
