import type { PaymentReport } from '../../../domain/payments/ports.ts';
import { dateField, objectField, plainJson, textField, type WireObject } from '../wire/json.ts';

/** Events that are money. `cancelled_donation` ends the repetition, and the money stays. */
const PAID_EVENTS: ReadonlySet<string> = new Set(['new_donation', 'recurrent_donation']);

/** Whole minor units, at least one. */
const MINOR_UNITS = /^[1-9]\d{0,11}$/;
const ID = /^[1-9]\d{0,15}$/;
const LINK_ID = /^[\w-]{1,64}$/;
const CREATED_AT = /^[\d:.TZ+-]{10,40}$/;
const CURRENCY = /^[a-z]{3,8}$/i;

/** Whether an event of the provider is a payment. */
export function isDonation(body: WireObject): boolean {
  return PAID_EVENTS.has(textField(body, 'name') ?? '');
}

/**
 * The donation of an event (03a section 2); null when it cannot be read. The id of the provider is that of the reusable link and equal for all
 * payments, so that link, donor, sum, currency and creation identify one: `created_at` stays the same in every redelivery.
 */
export function donationState(body: WireObject): PaymentReport | null {
  const payload = objectField(body, 'payload');
  const linkId = textField(payload, 'donation_request_id') ?? '';
  const amount = textField(payload, 'amount') ?? '';
  const currency = (textField(payload, 'currency') ?? '').toUpperCase();
  const createdAt = textField(body, 'created_at') ?? '';
  const donorId = textField(payload, 'telegram_user_id') ?? '';
  const isReadable = LINK_ID.test(linkId) && MINOR_UNITS.test(amount) && CURRENCY.test(currency) && CREATED_AT.test(createdAt);
  if (!isReadable) return null;
  const donor = ID.test(donorId) ? donorId : null;
  return {
    externalId: [linkId, donor ?? 'unknown', amount, currency.toLowerCase(), createdAt].join(':'),
    orderId: null,
    status: textField(body, 'name')!,
    outcome: 'paid',
    ...{ amountKopeks: Number(amount), currency },
    paidAt: dateField(body, 'created_at'),
    donor: { messengerId: donor === null ? null : Number(donor) },
    raw: plainJson(body),
  };
}
