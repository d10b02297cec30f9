import type { Tariff } from '../../catalog/types.ts';
import type { UserRecord } from '../../identity/types.ts';
import { quoteTariff } from '../../pricing/tariff-price.ts';
import type { PricedUser, PricingSettings } from '../../pricing/types.ts';
import { periodPrice } from '../landings/rules.ts';
import { isCodeOnly, readContact } from '../purchases/rules.ts';
import type { Contact, GuestPurchase } from '../purchases/types.ts';

/**
 * Rules of gifts between accounts.
 *
 * Codes: a gift is shown with 22 base64url characters, 132 random bits. Clients show and share the first 12 of them, so any beginning of the
 * token from that length on is accepted (spec 10 U1): 72 bits, of which failed tries are limited by user and by address.
 */

/** Shortest text that is looked at as a code. */
export const MIN_CODE_LENGTH = 8;

const EMAIL = /^[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}$/;
const USERNAME = /^@?[a-zA-Z][a-zA-Z0-9_]{4,31}$/;

/** A code as entered: trimmed, without `GIFT-` or `GIFT_` in any case. */
export function readGiftCode(text: string): string {
  return text
    .trim()
    .replace(/^gift[-_]/i, '')
    .trim();
}

/** Reads a recipient as typed. @returns null when it does not have the form of its type */
export function readRecipient(type: Contact['type'], text: string): Contact | null {
  const value = text.trim();
  return (type === 'email' ? EMAIL : USERNAME).test(value) ? readContact(type, value) : null;
}

type Person = Pick<UserRecord, 'id' | 'email' | 'username' | 'messengerId'>;

/** Whether a contact is this user's. */
export function isContactOf(contact: Contact, user: Pick<Person, 'email' | 'username'>): boolean {
  const known = contact.type === 'email' ? user.email : user.username && `@${user.username}`;
  return known !== null && known.toLowerCase() === contact.value.toLowerCase();
}

/** How the recipient sees the buyer: e-mail, else `@username`, else `id:…`. */
export function buyerContact({ id, email, username, messengerId }: Person): Contact {
  if (email) return { type: 'email', value: email };
  return { type: 'messenger', value: username ? `@${username}` : `id:${messengerId ?? id}` };
}

/** Kopeks that a gift costs a buyer. */
export interface GiftPrice {
  kopeks: number;
  /** Before all discounts. */
  originalKopeks: number;
  /** Of the personal offer, where it lowered the price; else null. */
  offerPercent: number | null;
}

/**
 * Price of a listed period: the group's percentage, then the personal offer's; at least one kopek.
 * @returns null when the tariff has no price for the period. Tariffs charged by the day and freely chosen periods are not given
 */
export function giftPrice(
  tariff: Tariff,
  periodDays: number,
  buyer: { user: PricedUser; settings: PricingSettings; now: Date },
): GiftPrice | null {
  const originalKopeks = periodPrice(tariff, periodDays);
  if (originalKopeks === null) return null;
  const quote = quoteTariff({ tariff, periodDays, deviceLimit: tariff.deviceLimit, customTrafficGb: null, ...buyer });
  if (quote.kind === 'refusal') return null;
  const kopeks = Math.max(1, quote.finalKopeks);
  return { kopeks, originalKopeks, offerPercent: kopeks < quote.subtotalKopeks ? quote.offerDiscountPercent : null };
}

/** What a user may do with a gift whose code was entered. */
export type ClaimVerdict = 'not_found' | 'own' | 'not_claimable' | 'claimed' | 'claim';

/**
 * Whether a user may activate a gift (spec 03 section 9, H2): one that is only a code by the first who enters it, any other by its recipient.
 * `claimed`: it is this user's already, delivered or in progress.
 * @param isGivable false when the payer has the money back, or is about to get it
 */
export function claimVerdict(
  gift: Pick<GuestPurchase, 'isGift' | 'recipient' | 'userId' | 'buyerUserId' | 'status' | 'grantedAt'>,
  userId: number,
  isGivable: boolean,
): ClaimVerdict {
  if (!gift.isGift || (gift.userId !== null && gift.userId !== userId)) return 'not_found';
  if (gift.buyerUserId === userId) return 'own';
  if (gift.userId !== userId && !isCodeOnly(gift)) return 'not_found';
  if (gift.status === 'delivered') return 'claimed';
  if (gift.status !== 'paid' && gift.status !== 'pending_activation') return 'not_claimable';
  if (gift.grantedAt !== null) return 'claimed';
  return isGivable ? 'claim' : 'not_claimable';
}

/** Why the money of a gift is not given back; null = it may be. */
export type RefundObstacle = 'not_a_gift' | 'refunded' | 'returned' | 'unpaid' | 'claimed' | 'no_buyer';

/**
 * Whether an administrator may give the money of a gift back to the balance: it was paid, nobody has begun to use it, and the provider has not
 * given it back.
 * @param isReturned also of a part, and while a refund through the provider is under way
 */
export function refundObstacle(
  gift: Pick<
    GuestPurchase,
    | 'isGift'
    | 'recipient'
    | 'userId'
    | 'buyerUserId'
    | 'status'
    | 'paidAt'
    | 'grantedAt'
    | 'activationRequestedAt'
    | 'refundTransactionId'
  >,
  isReturned: boolean,
): RefundObstacle | null {
  if (!gift.isGift) return 'not_a_gift';
  if (gift.refundTransactionId !== null) return 'refunded';
  if (isReturned) return 'returned';
  if (gift.paidAt === null) return 'unpaid';
  if (gift.grantedAt !== null || gift.status === 'delivered') return 'claimed';
  // A failed gift was given to nobody, whoever asked for it.
  const isAskedFor = gift.activationRequestedAt !== null || (isCodeOnly(gift) && gift.userId !== null);
  if (gift.status !== 'failed' && isAskedFor) return 'claimed';
  return gift.buyerUserId === null ? 'no_buyer' : null;
}
