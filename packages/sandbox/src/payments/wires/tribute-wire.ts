import { createHmac, randomBytes } from 'node:crypto';
import { jsonReply, type LoopbackReply, type LoopbackRequest } from '../../loopback-server.ts';
import { type FakeShop, type FakeWire, kopeksOf, type SandboxInvoice } from '../invoice.ts';

/** The reusable link of the author; the same for all donations. */
const DONATION_REQUEST_ID = 1_042;

/** Tribute (03a section 2): a page where the donor chooses the sum, and one signed callback for each donation. */
export const tributeWire: FakeWire = {
  method: 'tribute',
  webhookPath: '/tribute-webhook',

  answer: async (request, shop) => {
    if (request.path !== '/donate') return jsonReply(404, { error: 'not_found' });
    return request.method === 'POST' ? donate(request, shop) : donatePage();
  },

  callbacks: (invoice, action, shop) => {
    if (action !== 'pay') return [];
    const body = JSON.stringify({
      name: 'new_donation',
      created_at: invoice.paidAt,
      sent_at: shop.now().toISOString(),
      payload: donation(invoice),
    });
    const signature = createHmac('sha256', shop.secret).update(body).digest('hex');
    return [{ body, headers: { 'content-type': 'application/json', 'trbt-signature': signature } }];
  },
};

function donation({ paidKopeks, metadata, number }: SandboxInvoice) {
  return {
    ...{ donation_request_id: DONATION_REQUEST_ID, donation_name: 'Sandbox', period: 'once', message: '', anonymously: false },
    ...{ amount: paidKopeks, currency: 'rub', telegram_user_id: metadata.messengerId, trb_user_id: number },
  };
}

/** The person is signed in at the real page; here they say who they are. */
async function donate(request: LoopbackRequest, shop: FakeShop): Promise<LoopbackReply> {
  const form = new URLSearchParams(request.body);
  const [messengerId, amountKopeks] = [Number(form.get('messenger_id')), kopeksOf(form.get('amount'))];
  if (!Number.isSafeInteger(messengerId) || messengerId <= 0 || amountKopeks === null) {
    return jsonReply(400, { error: 'invalid_request' });
  }
  const draft = { orderId: randomBytes(12).toString('hex'), amountKopeks, description: 'Donation', metadata: { messengerId } };
  const invoice = await shop.create(draft);
  return { status: 303, contentType: 'text/plain', body: '', headers: { location: shop.payUrl(invoice) } };
}

function donatePage(): LoopbackReply {
  const body = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Sandbox donation</title></head><body>
<form method="post"><label>Messenger id <input name="messenger_id" required></label> <label>Rubles <input name="amount" required></label>
<button>Donate</button></form></body></html>`;
  const policy = "default-src 'none'; form-action 'self'; frame-ancestors 'none'";
  return { status: 200, contentType: 'text/html; charset=utf-8', body, headers: { 'content-security-policy': policy } };
}
