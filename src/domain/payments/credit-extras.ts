import type { PaymentReport, ProviderSavedMethod } from './ports.ts';
import type { Payment } from './types.ts';

/** What a provider reports of a payment besides the credit, as `record_credit_extras()` records it (prisma/sql/topups.sql). */
export interface CreditExtras {
  feeKopeks: number | null;
  /** Kopeks beyond the invoice: a case for an administrator (spec 03a section 0.2). */
  overpaidKopeks: number;
  savedMethod: SavedMethodRow | null;
}

interface SavedMethodRow {
  providerMethodId: string;
  methodType: string;
  title: string | null;
  cardFirst6: string | null;
  cardLast4: string | null;
  cardType: string | null;
  expiryMonth: string | null;
  expiryYear: string | null;
}

/** @returns null when there is nothing to record, as of most payments */
export function creditExtras(payment: Payment, state: PaymentReport): CreditExtras | null {
  const extras = {
    feeKopeks: state.feeKopeks ?? null,
    overpaidKopeks: overpaidKopeks(payment, state),
    savedMethod: state.savedMethod ? savedMethodRow(state.savedMethod) : null,
  };
  return extras.feeKopeks !== null || extras.overpaidKopeks > 0 || extras.savedMethod ? extras : null;
}

/** What was paid beyond the invoice; 0 when nothing was. */
export function overpaidKopeks(payment: Payment, state: PaymentReport): number {
  return Math.max(state.amountKopeks - payment.amountKopeks, 0);
}

/** The length of `saved_payment_methods.provider_method_id`. */
const MAX_METHOD_ID = 255;

/**
 * Shortened to what the table holds: no text of a provider may keep money from being credited. An id that does not fit could not be charged by
 * its beginning, so that method is not kept.
 */
function savedMethodRow({ providerMethodId, methodType, title, card }: ProviderSavedMethod): SavedMethodRow | null {
  if (providerMethodId.length > MAX_METHOD_ID) return null;
  const shown = card ? `${card.type ?? methodType} *${card.last4}` : title;
  return {
    ...{ providerMethodId, methodType: methodType.slice(0, 40), title: shown?.slice(0, 255) ?? null },
    ...{ cardFirst6: card?.first6?.slice(0, 6) ?? null, cardLast4: card?.last4.slice(0, 4) ?? null },
    cardType: card?.type?.slice(0, 50) ?? null,
    ...{ expiryMonth: card?.expiryMonth?.slice(0, 2) ?? null, expiryYear: card?.expiryYear?.slice(0, 4) ?? null },
  };
}
