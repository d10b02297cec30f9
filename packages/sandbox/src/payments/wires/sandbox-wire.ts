import { createHmac } from 'node:crypto';
import { jsonObject, jsonReply, type LoopbackReply, type LoopbackRequest } from '../../loopback-server.ts';
import { type FakeShop, type FakeWire, type SandboxInvoice, webUrl } from '../invoice.ts';

/** The sandbox's own wire: one invoice per order id, callbacks signed with HMAC-SHA-256 over the body. */
export const sandboxWire: FakeWire = {
  method: 'sandbox',
  webhookPath: '/sandbox-payment-webhook',
  answer: async (request, shop) => {
    if (request.headers.authorization !== `Bearer ${shop.secret}`) return jsonReply(401, { error: 'unauthorized' });
    const [area, id] = request.path.split('/').slice(1);
    if (area !== 'invoices') return jsonReply(404, { error: 'not_found' });
    if (request.method === 'GET' && id) {
      const invoice = await shop.find((candidate) => candidate.id === id);
      return invoice ? jsonReply(200, wireInvoice(invoice, shop)) : jsonReply(404, { error: 'not_found' });
    }
    return request.method === 'POST' && !id ? create(request, shop) : jsonReply(405, { error: 'method_not_allowed' });
  },
  callbacks: (invoice, _action, shop) => {
    const event = `invoice.${invoice.status}`;
    const body = JSON.stringify({ event_id: `${invoice.id}:${invoice.status}`, event, invoice: wireInvoice(invoice, shop) });
    const signature = createHmac('sha256', shop.secret).update(body).digest('hex');
    return [{ body, headers: { 'content-type': 'application/json', 'x-sandbox-signature': signature } }];
  },
};

async function create(request: LoopbackRequest, shop: FakeShop): Promise<LoopbackReply> {
  const body = jsonObject(request.body);
  const amount = body?.amount_kopeks;
  if (!body || typeof body.order_id !== 'string' || !Number.isSafeInteger(amount) || (amount as number) <= 0) {
    return jsonReply(400, { error: 'invalid_request' });
  }
  const invoice = await shop.create({
    orderId: body.order_id,
    amountKopeks: amount as number,
    currency: String(body.currency ?? 'RUB'),
    description: String(body.description ?? ''),
    option: typeof body.option === 'string' ? body.option : null,
    returnUrl: webUrl(body.return_url),
    metadata: (body.metadata ?? {}) as Record<string, unknown>,
  });
  return jsonReply(200, wireInvoice(invoice, shop));
}

function wireInvoice(invoice: SandboxInvoice, shop: FakeShop) {
  return {
    id: invoice.id,
    order_id: invoice.orderId,
    status: invoice.status === 'chargeback' ? 'refunded' : invoice.status,
    amount_kopeks: invoice.paidKopeks || invoice.amountKopeks,
    currency: invoice.currency,
    description: invoice.description,
    metadata: invoice.metadata,
    pay_url: shop.payUrl(invoice),
    created_at: invoice.createdAt,
    paid_at: invoice.paidAt,
    expires_at: invoice.expiresAt,
  };
}
