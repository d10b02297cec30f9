import type { InvoiceRequest } from '../../../domain/payments/ports.ts';
import { shortRublesText } from '../wire/money.ts';
import { formSignature } from './signatures.ts';

/** Payment system ids that the form takes; cards have one for each network, so that the payer chooses. */
const FORM_SYSTEMS: Readonly<Record<string, string>> = { sbp: '42' };

/**
 * Address of the provider's payment form (03a section 10). Nothing is requested from the provider, and the parameters are signed.
 * @param form `url` of the form; `system`: preferred payment system, null = by the sub-option
 */
export function formUrl(
  request: InvoiceRequest,
  form: { url: string; shopId: string; word1: string; currency: string; system: string | null },
): string {
  const { orderId, payerEmail, option } = request;
  const { shopId, word1, currency } = form;
  const amount = shortRublesText(request.amountKopeks);
  const system = form.system ?? FORM_SYSTEMS[option ?? ''] ?? null;
  const query = new URLSearchParams({
    m: shopId,
    oa: amount,
    currency,
    o: orderId,
    s: formSignature({ shopId, amount, word1, currency, orderId }),
    lang: 'ru',
    ...(payerEmail === undefined ? {} : { em: payerEmail }),
    ...(system === null ? {} : { i: system }),
  });
  return `${form.url}?${query}`;
}
