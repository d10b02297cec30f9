import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../core/clock.ts';
import { type Random, urlSafeToken } from '../../../core/random.ts';
import { isPast } from '../../subscriptions/rules/status.ts';
import type { Subscription } from '../../subscriptions/types.ts';
import type { Contact, ContactType, GuestPurchase, PurchaseStatus } from './types.ts';

/** `payments.purpose` of invoices for guest purchases. */
export const GUEST_PURCHASE = 'guest_purchase';

/** An unpaid purchase expires after this time; a later success still counts (spec 03 H15). */
export const PENDING_MS = 24 * HOUR_MS;
/** Tries of a job before manual action is needed (spec 03 section 8.4). */
export const MAX_RETRIES = 20;
/** Links and credentials are shown this long after the delivery. */
const SHOWN_MS = DAY_MS;
/** Credentials of a purchase that waits to be activated are shown this long after the payment. */
const SHOWN_WAITING_MS = 3 * DAY_MS;

const TOKEN_BYTES = 48;
/** Characters of a code as it is shown, base64url: 132 random bits. */
export const CODE_LENGTH = 22;
/** The first characters of a token, unique by an index: clients share no more of a gift (spec 10 U1). */
export const HEAD_LENGTH = 12;

const TOKEN = /^[\w-]{64}$/;
const CODE = /^[\w-]{12,64}$/;
const EMAIL = /^[^\s@<>"(),:;[\]\\]{1,64}@(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,63}$/i;
const USERNAME = /^@?([a-z][a-z0-9_]{4,31})$/i;
const MAX_EMAIL = 254;

/** The whole token of a new purchase: 384 random bits. */
export function newPurchaseToken(random: Random): string {
  return urlSafeToken(random, TOKEN_BYTES);
}

/** Whether a text has the form of a purchase's token; others are not looked up (spec 03 H2). */
export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/** Whether a text may be the beginning of a token that identifies a gift; others are not looked up (spec 03 H2, spec 10 U1). */
export function isCode(text: string): boolean {
  return CODE.test(text);
}

/** Reads a contact as typed. @returns null when it does not have the form of its type */
export function readContact(type: ContactType, text: string): Contact | null {
  const value = text.trim();
  if (type === 'email') return EMAIL.test(value) && value.length <= MAX_EMAIL ? { type, value: value.toLowerCase() } : null;
  const name = USERNAME.exec(value)?.[1];
  return name === undefined ? null : { type, value: `@${name}` };
}

/** The name behind a messenger contact, without `@`. */
export function usernameOf(contact: Contact): string {
  return contact.value.replace(/^@/, '');
}

/** Contact of the one who gets the subscription; null for a gift that is only a code. */
export function recipientOf(purchase: Pick<GuestPurchase, 'isGift' | 'recipient' | 'buyer'>): Contact | null {
  return purchase.isGift ? purchase.recipient : purchase.buyer;
}

/** Whether this token says that its bearer is the recipient: the buyer's where both are one contact, else only the recipient's (spec 10 U4). */
export function isRecipientsToken(
  purchase: Pick<GuestPurchase, 'isGift' | 'recipient' | 'buyer' | 'recipientToken'>,
  token: string,
): boolean {
  const { buyer } = purchase;
  const recipient = recipientOf(purchase);
  const isOneContact = recipient?.type === buyer.type && recipient.value.toLowerCase() === buyer.value.toLowerCase();
  return isOneContact || (purchase.isGift && token === purchase.recipientToken);
}

/** Whether a purchase is a gift for whoever enters its code: it rests in `paid` until then (spec 03 section 8.1). */
export function isCodeOnly(purchase: Pick<GuestPurchase, 'isGift' | 'recipient'>): boolean {
  return purchase.isGift && purchase.recipient === null;
}

/** Masks a contact so that only its owner recognises it. */
export function maskContact(value: string): string {
  const at = value.lastIndexOf('@');
  if (at > 0) return `${value.slice(0, Math.min(2, at))}***${value.slice(at)}`;
  return `${value.slice(0, 3)}***`;
}

/**
 * Whether a new start of this subscription would take time from its owner: a trial, and one that ran out of traffic, counts too (spec
 * 03 section 8.1, H6).
 */
export function isLive(subscription: Pick<Subscription, 'status' | 'endDate'> | null, now: Date): boolean {
  if (subscription === null || isPast(subscription, now)) return false;
  return subscription.status === 'active' || subscription.status === 'trial' || subscription.status === 'limited';
}

/** Whether the recipient has to consent before the subscription starts. */
export function needsActivation(
  purchase: Pick<GuestPurchase, 'isGift'>,
  subscription: Pick<Subscription, 'status' | 'endDate'> | null,
  now: Date,
): boolean {
  return isLive(subscription, now) || (purchase.isGift && subscription !== null);
}

/** Time of the next try: 5 minutes, doubling up to an hour, so that 20 tries take most of a day. */
export function nextAttempt(retryCount: number, now: Date): Date {
  return new Date(now.getTime() + Math.min(60, 5 * 2 ** Math.min(retryCount, 10)) * MINUTE_MS);
}

/** The state to show: an activation that waits only for the panel's link is in progress and cannot be requested again. */
export function shownStatus(purchase: Pick<GuestPurchase, 'status' | 'grantedAt'>): PurchaseStatus {
  return purchase.status === 'pending_activation' && purchase.grantedAt !== null ? 'paid' : purchase.status;
}

type Timed = Pick<GuestPurchase, 'status' | 'paidAt' | 'deliveredAt'>;

/** Whether the connection links are shown: only to a buyer for oneself, and for a day. */
export function showsLinks(purchase: Timed & Pick<GuestPurchase, 'isGift'>, now: Date): boolean {
  return !purchase.isGift && isWithin(purchase.deliveredAt, SHOWN_MS, now);
}

/** Whether credentials may still be shown; older ones are deleted. */
export function showsCredentials(purchase: Timed, now: Date): boolean {
  if (purchase.status === 'delivered') return isWithin(purchase.deliveredAt, SHOWN_MS, now);
  return purchase.status === 'pending_activation' && isWithin(purchase.paidAt, SHOWN_WAITING_MS, now);
}

function isWithin(since: Date | null, ms: number, now: Date): boolean {
  return since !== null && now.getTime() - since.getTime() < ms;
}

/** Credentials of purchases delivered, or else paid, before these times are deleted. */
export function credentialLimits(now: Date): { deliveredBefore: Date; paidBefore: Date } {
  return { deliveredBefore: new Date(now.getTime() - SHOWN_MS), paidBefore: new Date(now.getTime() - SHOWN_WAITING_MS) };
}
