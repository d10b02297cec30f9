import { createHash, createHmac } from 'node:crypto';
import { jsonObject, jsonReply, type LoopbackReply, type LoopbackRequest } from '../../loopback-server.ts';
import {
  type FakeShop,
  type FakeWire,
  kopeksOf,
  rublesText,
  type SandboxInvoice,
  type SandboxInvoiceStatus,
} from '../invoice.ts';

const STATUS: Readonly<Record<SandboxInvoiceStatus, string>> = {
  pending: 'active',
  paid: 'paid',
  // The payer sends the whole sum or the invoice stays open.
  underpaid: 'active',
  failed: 'active',
  expired: 'expired',
  refunded: 'paid',
  chargeback: 'paid',
};

/** The Crypto Pay API (03a section 3): invoices in rubles, one signed callback when an invoice is paid, no refunds. */
export const cryptobotWire: FakeWire = {
  method: 'cryptobot',
  webhookPath: '/cryptobot-webhook',

  answer: async (request, shop) => {
    if (request.headers['crypto-pay-api-token'] !== shop.secret) return wireError(401, 'UNAUTHORIZED');
    if (request.path === '/api/createInvoice') return create(request, shop);
    if (request.path === '/api/getInvoices') return list(request, shop);
    return wireError(405, 'METHOD_NOT_FOUND');
  },

  callbacks: (invoice, action, shop) => {
    if (action !== 'pay' && action !== 'overpay') return [];
    const update = { update_id: invoice.number, update_type: 'invoice_paid', request_date: shop.now().toISOString() };
    const body = JSON.stringify({ ...update, payload: wireInvoice(invoice, shop) });
    const key = createHash('sha256').update(shop.secret).digest();
    const signature = createHmac('sha256', key).update(body).digest('hex');
    return [{ body, headers: { 'content-type': 'application/json', 'crypto-pay-api-signature': signature } }];
  },
};

function wireInvoice(invoice: SandboxInvoice, shop: FakeShop) {
  const url = shop.payUrl(invoice);
  return {
    invoice_id: invoice.number,
    hash: invoice.id,
    currency_type: 'fiat',
    fiat: invoice.currency,
    amount: rublesText(invoice.paidKopeks || invoice.amountKopeks),
    bot_invoice_url: url,
    mini_app_invoice_url: url,
    web_app_invoice_url: url,
    description: invoice.description,
    status: STATUS[invoice.status],
    created_at: invoice.createdAt,
    expiration_date: invoice.expiresAt,
    ...(invoice.paidAt ? { paid_at: invoice.paidAt, paid_asset: 'USDT', paid_amount: '1.00' } : {}),
    payload: invoice.orderId,
  };
}

async function create(request: LoopbackRequest, shop: FakeShop): Promise<LoopbackReply> {
  const body = jsonObject(request.body) ?? {};
  const amountKopeks = kopeksOf(body.amount);
  if (body.currency_type !== 'fiat' || body.fiat !== 'RUB') return wireError(400, 'CURRENCY_TYPE_INVALID');
  if (amountKopeks === null) return wireError(400, 'AMOUNT_INVALID');
  if (typeof body.payload !== 'string' || body.payload === '') return wireError(400, 'PAYLOAD_INVALID');
  const seconds = Number(body.expires_in);
  const expiresAt = seconds > 0 ? { expiresAt: new Date(shop.now().getTime() + seconds * 1_000).toISOString() } : {};
  const draft = { orderId: body.payload, amountKopeks, description: String(body.description ?? ''), ...expiresAt };
  return jsonReply(200, { ok: true, result: wireInvoice(await shop.create(draft), shop) });
}

async function list(request: LoopbackRequest, shop: FakeShop): Promise<LoopbackReply> {
  const ids = String(jsonObject(request.body)?.invoice_ids ?? '').split(',');
  const found = await Promise.all(ids.map((id) => shop.find(({ number }) => String(number) === id)));
  const items = found.filter((invoice) => invoice !== undefined).map((invoice) => wireInvoice(invoice, shop));
  return jsonReply(200, { ok: true, result: { items } });
}

function wireError(code: number, name: string): LoopbackReply {
  return jsonReply(code, { ok: false, error: { code, name } });
}
