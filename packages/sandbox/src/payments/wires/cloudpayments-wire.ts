import { createHmac } from 'node:crypto';
import { jsonObject, jsonReply, type LoopbackReply, type LoopbackRequest } from '../../loopback-server.ts';
import {
  type FakeCallback,
  type FakeShop,
  type FakeWire,
  kopeksOf,
  refundOfKey,
  rublesText,
  type SandboxInvoice,
  webUrl,
} from '../invoice.ts';

const PUBLIC_ID = 'pk_sandbox';
/** For this long the provider remembers an `X-Request-ID` (03a section 12). */
const KEY_MS = 60 * 60 * 1_000;

/** CloudPayments (03a section 12): orders, the search by our order id, refunds; signed notifications as forms, each kind at its own path. */
export const cloudpaymentsWire: FakeWire = {
  method: 'cloudpayments',
  webhookPath: '/cloudpayments-webhook',

  answer: async (request, shop) => {
    const expected = `Basic ${Buffer.from(`${PUBLIC_ID}:${shop.secret}`).toString('base64')}`;
    if (request.headers.authorization !== expected) return jsonReply(401, { Success: false, Message: 'Unauthorized' });
    if (request.method !== 'POST') return jsonReply(405, { Success: false, Message: 'Method not allowed' });
    if (request.path === '/orders/create') return create(request, shop);
    if (request.path === '/v2/payments/find') return find(request, shop);
    if (request.path === '/payments/get') return get(request, shop);
    return request.path === '/payments/refund'
      ? refund(request, shop)
      : jsonReply(404, { Success: false, Message: 'No such path' });
  },

  callbacks: (invoice, action, shop) => {
    if (action === 'pay') return [notification('pay', paymentFields(invoice), shop)];
    if (action === 'fail') {
      return [
        notification(
          'fail',
          { ...paymentFields(invoice), Status: 'Declined', Reason: 'InsufficientFunds', ReasonCode: '5051' },
          shop,
        ),
      ];
    }
    return action === 'refund' ? [notification('refund', refundFields(invoice), shop)] : [];
  },

  isAcknowledged: ({ status, text }) => status === 200 && jsonObject(text)?.code === 0,
};

const transactionId = ({ number }: SandboxInvoice) => `${5_000_000 + number}`;
const reversalId = ({ number }: SandboxInvoice, index: number) => `${900_000_000 + number * 100 + index}`;

function paymentFields(invoice: SandboxInvoice): Record<string, string> {
  const amount = rublesText(invoice.paidKopeks || invoice.amountKopeks);
  return {
    TransactionId: transactionId(invoice),
    ...{ Amount: amount, Currency: invoice.currency, PaymentAmount: amount, PaymentCurrency: invoice.currency },
    DateTime: (invoice.paidAt ?? invoice.createdAt).slice(0, 19).replace('T', ' '),
    ...{ CardFirstSix: '424242', CardLastFour: '4242', CardType: 'Visa', CardExpDate: '12/30', TestMode: '0' },
    ...{ Status: 'Completed', OperationType: 'Payment', GatewayName: 'Sandbox' },
    ...commonFields(invoice),
  };
}

function refundFields(invoice: SandboxInvoice): Record<string, string> {
  const last = invoice.reversals.length - 1;
  return {
    TransactionId: reversalId(invoice, last),
    PaymentTransactionId: transactionId(invoice),
    ...{ Amount: rublesText(invoice.reversals[last]!.amountKopeks), OperationType: 'Refund' },
    DateTime: invoice.reversals[last]!.at.slice(0, 19).replace('T', ' '),
    ...commonFields(invoice),
  };
}

function commonFields({ orderId, metadata }: SandboxInvoice): Record<string, string> {
  return { InvoiceId: orderId, ...(typeof metadata.accountId === 'string' ? { AccountId: metadata.accountId } : {}) };
}

function notification(kind: string, fields: Record<string, string>, shop: FakeShop): FakeCallback {
  const body = new URLSearchParams(fields).toString();
  const sign = (text: string) => createHmac('sha256', shop.secret).update(text).digest('base64');
  const decoded = decodeURIComponent(body.replaceAll('+', ' '));
  return {
    subpath: kind,
    body,
    headers: {
      'content-type': 'application/x-www-form-urlencoded; charset=utf-8',
      'content-hmac': sign(body),
      'x-content-hmac': sign(decoded),
    },
  };
}

async function create(request: LoopbackRequest, shop: FakeShop): Promise<LoopbackReply> {
  const body = jsonObject(request.body) ?? {};
  const amountKopeks = typeof body.Amount === 'number' ? kopeksOf(body.Amount) : null;
  if (amountKopeks === null) return refused('Amount is required');
  if (typeof body.InvoiceId !== 'string' || typeof body.Description !== 'string') return refused('InvoiceId is required');
  if (body.RequireConfirmation !== false) return refused('The terminal has one stage');
  const accountId = typeof body.AccountId === 'string' ? { accountId: body.AccountId } : {};
  const invoice = await shop.create({
    ...{ orderId: body.InvoiceId, amountKopeks, currency: String(body.Currency), description: body.Description },
    ...{ returnUrl: webUrl(body.SuccessRedirectUrl), metadata: { ...accountId } },
  });
  const { id, number } = invoice;
  return jsonReply(200, {
    Success: true,
    Message: null,
    Model: {
      Id: id.slice(0, 16),
      Number: number,
      Amount: body.Amount,
      Currency: body.Currency,
      Url: shop.payUrl(invoice),
      Status: 'Created',
    },
  });
}

const STATUS: Readonly<Record<string, string>> = { failed: 'Declined', paid: 'Completed', refunded: 'Completed' };

async function find(request: LoopbackRequest, shop: FakeShop): Promise<LoopbackReply> {
  const orderId = jsonObject(request.body)?.InvoiceId;
  return found(await shop.find((candidate) => candidate.orderId === orderId));
}

async function get(request: LoopbackRequest, shop: FakeShop): Promise<LoopbackReply> {
  const id = jsonObject(request.body)?.TransactionId;
  return found(await shop.find((candidate) => transactionId(candidate) === String(id)));
}

/** The latest transaction of an order, where somebody has tried to pay it. */
function found(invoice: SandboxInvoice | undefined): LoopbackReply {
  const status = STATUS[invoice?.status ?? ''];
  if (!invoice || !status) return jsonReply(200, { Success: false, Message: 'Not found' });
  const { TransactionId, Amount, TestMode: _test, ...fields } = paymentFields(invoice);
  return jsonReply(200, {
    Success: status === 'Completed',
    Message: null,
    Model: {
      ...fields,
      ...{ TransactionId: Number(TransactionId), Amount: Number(Amount), TestMode: false, Status: status },
      ...(invoice.paidAt ? { ConfirmDate: '/Date(1767225600000)/', ConfirmDateIso: invoice.paidAt.slice(0, 19) } : {}),
      Refunded: invoice.reversals.length > 0,
    },
  });
}

async function refund(request: LoopbackRequest, shop: FakeShop): Promise<LoopbackReply> {
  const body = jsonObject(request.body) ?? {};
  const amountKopeks = kopeksOf(body.Amount);
  const invoice = await shop.find((candidate) => transactionId(candidate) === String(body.TransactionId));
  const key = request.headers['x-request-id'];
  if (!invoice || amountKopeks === null) return refused('The transaction was not found');
  const known = key === undefined ? undefined : refundOfKey(invoice, key, shop.now(), KEY_MS);
  if (known) return done(reversalId(invoice, invoice.reversals.indexOf(known)));
  const changed = await shop.act(invoice.id, 'refund', amountKopeks, key);
  return changed ? done(reversalId(changed, changed.reversals.length - 1)) : refused('The amount is too large');
}

const done = (id: string) => jsonReply(200, { Success: true, Message: null, Model: { TransactionId: Number(id) } });
const refused = (message: string) => jsonReply(200, { Success: false, Message: message });
