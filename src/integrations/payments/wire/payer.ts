import ipaddr from 'ipaddr.js';
import type { InvoiceRequest } from '../../../domain/payments/ports.ts';

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
