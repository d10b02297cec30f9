import type { StarTransaction } from '@grammyjs/types';
import type { StarsTransfer } from '../../domain/messaging/ports.ts';

/** A transaction of the Bot API: one with a source came in, one with a receiver went out. A refund has the id of its payment. */
export function starsTransfer({ id, amount, date, source, receiver }: StarTransaction): StarsTransfer {
  const partner = source ?? receiver;
  const isOfInvoice = partner?.type === 'user' && partner.transaction_type === 'invoice_payment';
  return {
    kind: !isOfInvoice ? 'other' : source ? 'payment' : 'refund',
    chargeId: id,
    payerMessengerId: partner?.type === 'user' ? partner.user.id : null,
    payload: isOfInvoice ? (partner.invoice_payload ?? null) : null,
    stars: amount,
    at: new Date(date * 1_000),
  };
}
