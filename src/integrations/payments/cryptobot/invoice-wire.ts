import type { InvoiceRequest, PaymentOutcome, PaymentReport } from '../../../domain/payments/ports.ts';
import { dateField, plainJson, textField, type WireObject } from '../wire/json.ts';
import { kopeksFromText, rublesText } from '../wire/money.ts';
import type { CryptobotConnection } from './connection.ts';

const MAX_DESCRIPTION = 1_024;
const OUTCOMES: Readonly<Record<string, PaymentOutcome>> = { active: 'pending', paid: 'paid', expired: 'failed' };
/** Invoices of the software that served the installation before were in crypto currency; their payload ends with the kopeks. */
const OLD_PAYLOAD = /^(?:cabinet_topup|balance_topup)_\d+_(\d{1,12})$/;

/**
 * Body of POST /createInvoice: an invoice in rubles, so that the provider fixes the rate and reports our own amount (03a section 3).
 * The payload is our order id and comes back with the callback.
 */
export function invoiceBody(request: InvoiceRequest, connection: CryptobotConnection): string {
  const { acceptedAssets, expiresInSeconds } = connection;
  return JSON.stringify({
    currency_type: 'fiat',
    fiat: 'RUB',
    ...(acceptedAssets.length > 0 ? { accepted_assets: acceptedAssets.join(',') } : {}),
    amount: rublesText(request.amountKopeks),
    description: request.description.slice(0, MAX_DESCRIPTION),
    payload: request.orderId,
    expires_in: expiresInSeconds,
    ...(request.returnUrls.result ? { paid_btn_name: 'callback', paid_btn_url: request.returnUrls.result } : {}),
  });
}

/** The state of an invoice of the wire; null when it has no id or no readable amount. */
export function invoiceState(invoice: WireObject): PaymentReport | null {
  const externalId = textField(invoice, 'invoice_id');
  const status = textField(invoice, 'status');
  const payload = textField(invoice, 'payload');
  const isFiat = textField(invoice, 'currency_type') === 'fiat';
  const oldKopeks = isFiat ? null : (OLD_PAYLOAD.exec(payload ?? '')?.[1] ?? null);
  const amountKopeks = oldKopeks === null ? kopeksFromText(textField(invoice, 'amount') ?? '') : Number(oldKopeks);
  if (externalId === null || status === null || amountKopeks === null) return null;
  const outcome = OUTCOMES[status] ?? 'pending';
  const currency = isFiat ? textField(invoice, 'fiat') : oldKopeks === null ? textField(invoice, 'asset') : 'RUB';
  return {
    externalId,
    status,
    outcome,
    amountKopeks,
    currency: (currency ?? '').toUpperCase(),
    orderId: oldKopeks === null ? payload : null,
    paidAt: outcome === 'paid' ? dateField(invoice, 'paid_at') : null,
    raw: plainJson(invoice),
  };
}
