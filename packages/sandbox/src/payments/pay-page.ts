import type { LoopbackReply } from '../loopback-server.ts';
import { allowedActions, type InvoiceAction, rublesText, type SandboxInvoice } from './invoice.ts';

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;background:#eef1f6;color:#1c2430;margin:0;display:grid;place-items:center;min-height:100vh}
main{background:#fff;border-radius:16px;box-shadow:0 8px 30px #1c243018;padding:32px;width:min(380px,88vw)}
h1{font-size:34px;margin:4px 0 12px}p{margin:6px 0}small{color:#667}
form{display:inline-block;margin:18px 8px 0 0}button{font:inherit;border:0;border-radius:10px;padding:10px 18px;cursor:pointer;color:#fff;background:#2563eb}
button.fail,button.expire,button.chargeback{background:#b4232f}button.refund,button.overpay,button.underpay{background:#6b7280}a{color:#2563eb}`;

const LABELS: Readonly<Record<InvoiceAction, string>> = {
  pay: 'Pay',
  overpay: 'Pay too much',
  underpay: 'Pay too little',
  fail: 'Decline',
  expire: 'Let it expire',
  refund: 'Refund',
  chargeback: 'Charge back',
};

/** The hosted payment page of the fake provider, to which the payment URL leads. */
export function payPage(invoice: SandboxInvoice): LoopbackReply {
  const buttons = allowedActions(invoice)
    .map((action) => button(invoice, action, LABELS[action]))
    .join('');
  const back = invoice.returnUrl ? `<p><a href="${escapeHtml(invoice.returnUrl)}" rel="noreferrer">Back to the shop</a></p>` : '';
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>Sandbox payment</title><style>${STYLE}</style></head><body><main><small>Sandbox payment (${escapeHtml(invoice.wire)}), no real money</small>
<h1>${rublesText(invoice.amountKopeks)} ${escapeHtml(invoice.currency)}</h1><p>${escapeHtml(invoice.description)}</p>
<p><small>${escapeHtml(invoice.id)} · ${invoice.status}</small></p>${buttons}${back}</main></body></html>`;
  return {
    status: 200,
    contentType: 'text/html; charset=utf-8',
    body: html,
    headers: {
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'",
    },
  };
}

function button(invoice: SandboxInvoice, action: string, label: string): string {
  return `<form method="post" action="/pay/${encodeURIComponent(invoice.id)}/${action}"><button class="${action}">${label}</button></form>`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
