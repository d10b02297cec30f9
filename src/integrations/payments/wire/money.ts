import ipaddr from 'ipaddr.js';
import type { InvoiceRequest } from '../../../domain/payments/ports.ts';

/** Amounts as providers write them (03a section 0.2): exact decimals, never floating point. */

/** Kopeks as decimal rubles with two places: 12345 becomes `123.45`. */
export function rublesText(kopeks: number): string {
  return `${Math.trunc(kopeks / 100)}.${String(kopeks % 100).padStart(2, '0')}`;
}

/** Kopeks as the shortest decimal rubles: 50000 becomes `500`, 50050 `500.5`. */
export function shortRublesText(kopeks: number): string {
  return rublesText(kopeks)
    .replace(/\.00$/, '')
    .replace(/(\.\d)0$/, '$1');
}

/**
 * A decimal of the wire in kopeks. `500`, `500.0` and `500.00` are equal; zeros beyond two places are accepted.
 * @returns null for anything else: a sign, an exponent, separators, fractions of a kopek
 */
export function kopeksFromText(text: string): number | null {
  const match = /^(\d{1,12})(?:\.(\d{1,2})(0*))?$/.exec(text);
  return match ? Number(match[1]) * 100 + Number((match[2] ?? '').padEnd(2, '0')) : null;
}

/** Ranges in which no payer is: the address of a proxy, or of a developer's own machine. */
const NO_PAYER: ReadonlySet<string> = new Set(['loopback', 'private', 'linkLocal', 'uniqueLocal', 'unspecified']);

/** The payer's address for providers that require one; null where it is unknown or not a public one. */
export function publicPayerIp({ payerIp }: Pick<InvoiceRequest, 'payerIp'>): string | null {
  if (payerIp === undefined || !ipaddr.isValid(payerIp)) return null;
  const address = ipaddr.process(payerIp);
  return NO_PAYER.has(address.range()) ? null : address.toString();
}

/**
 * The payer's e-mail for providers that require one to tell payers apart (not for receipts). For people without one it is the form that the
 * providers ask messenger services to send (03a sections 10 and 14; spec 03 section 2.5): of the messenger id, or of the order for a guest.
 */
export function payerContact({ payerEmail, orderId, metadata }: InvoiceRequest): string {
  return payerEmail ?? `${metadata.user_messenger_id ?? `user_${orderId}`}@telegram.org`;
}
