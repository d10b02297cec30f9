import { jsonObject, jsonReply, type LoopbackReply, type LoopbackRequest } from '../../loopback-server.ts';
import { type FakeShop, type FakeWire, kopeksOf, type SandboxInvoice, type SandboxInvoiceStatus, webUrl } from '../invoice.ts';

/** Platega's merchant in the sandbox. */
const MERCHANT_ID = '5a4db0c5-0000-4000-8000-000000000001';
const METHOD_CODES = [2, 3, 11, 12, 13, 14];
const LIFE_MS = 15 * 60 * 1_000;

const STATUS: Readonly<Record<SandboxInvoiceStatus, string>> = {
  pending: 'PENDING',
  paid: 'CONFIRMED',
  // The payer pays the whole sum, or the transaction stays open.
  underpaid: 'PENDING',
  failed: 'CANCELED',
  expired: 'CANCELED',
  refunded: 'CHARGEBACKED',
  chargeback: 'CHARGEBACKED',
};

/** Platega's API (03a section 8): transactions, their cancellation, callbacks with the credentials of the merchant in headers. */
export const plategaWire: FakeWire = {
  method: 'platega',
  webhookPath: '/platega-webhook',

  answer: async (request, shop) => {
    const { 'x-merchantid': merchantId, 'x-secret': secret } = request.headers;
    if (merchantId?.toLowerCase() !== MERCHANT_ID || secret !== shop.secret) return wireError(401, 'Unauthorized');
    const [area, id = '', action] = request.path.split('/').slice(1);
    if (area !== 'transaction') return wireError(404, 'Not found');
    if (request.method === 'POST' && id === 'process') return create(request, shop);
    const invoice = await shop.find((candidate) => candidate.id === id);
    if (!invoice) return wireError(404, 'Transaction not found');
    if (request.method === 'GET' && action === undefined) return jsonReply(200, transaction(invoice));
    return request.method === 'POST' && action === 'cancel' ? cancel(invoice, shop) : wireError(405, 'Method not allowed');
  },

  callbacks: (invoice, action, shop) => {
    if (action === 'underpay') return [];
    const { amount, currency } = details(invoice);
    const status = STATUS[invoice.status];
    const body = { id: invoice.id, amount, currency, status, paymentMethod: Number(invoice.option), payload: payloadOf(invoice) };
    const headers = { 'content-type': 'application/json', 'X-MerchantId': MERCHANT_ID, 'X-Secret': shop.secret };
    return [{ body: JSON.stringify(body), headers }];
  },
};

const payloadOf = ({ metadata }: SandboxInvoice) => metadata.payload;

function details(invoice: SandboxInvoice) {
  return { amount: (invoice.paidKopeks || invoice.amountKopeks) / 100, currency: invoice.currency };
}

function transaction(invoice: SandboxInvoice) {
  return {
    id: invoice.id,
    status: STATUS[invoice.status],
    paymentDetails: details(invoice),
    mechantId: MERCHANT_ID,
    payload: payloadOf(invoice),
    comission: 0,
    externalId: null,
  };
}

async function create(request: LoopbackRequest, shop: FakeShop): Promise<LoopbackReply> {
  const body = jsonObject(request.body) ?? {};
  const { paymentMethod, payload, failedUrl, description } = body;
  const money = body.paymentDetails as { amount?: unknown; currency?: unknown } | undefined;
  const amountKopeks = typeof money?.amount === 'number' ? kopeksOf(money.amount) : null;
  const problems = [
    ...(typeof paymentMethod === 'number' && METHOD_CODES.includes(paymentMethod) ? [] : ['paymentMethod']),
    ...(amountKopeks !== null && money?.currency === 'RUB' ? [] : ['paymentDetails']),
    ...(webUrl(body.return) ? [] : ['return']),
    ...(webUrl(failedUrl) ? [] : ['failedUrl']),
    ...(typeof description === 'string' && Buffer.byteLength(description) <= 64 ? [] : ['description']),
    ...('id' in body ? ['id'] : []),
  ];
  if (problems.length > 0 || amountKopeks === null) return wireError(400, problems);
  const invoice = await shop.create({
    orderId: String(payload ?? '').replace(/^platega:/, ''),
    amountKopeks,
    description: String(description),
    option: String(paymentMethod),
    returnUrl: webUrl(body.return),
    metadata: { payload },
    expiresAt: new Date(shop.now().getTime() + LIFE_MS).toISOString(),
  });
  return jsonReply(200, {
    transactionId: invoice.id,
    redirect: shop.payUrl(invoice),
    status: STATUS[invoice.status],
    expiresIn: '00:15:00',
    paymentDetails: `${money?.amount} RUB`,
    merchantId: MERCHANT_ID,
    paymentMethod: invoice.option,
  });
}

async function cancel({ id }: SandboxInvoice, shop: FakeShop): Promise<LoopbackReply> {
  const accepted = (await shop.act(id, 'refund')) !== null;
  return jsonReply(200, {
    transactionId: id,
    accepted,
    manualControlRequired: !accepted,
    message: accepted ? 'Accepted' : 'Refused',
  });
}

function wireError(status: number, message: string | string[]): LoopbackReply {
  return jsonReply(status, { statusCode: status, message });
}
