import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { refusal } from '../../../core/errors.ts';
import { limitOrRefuse } from '../../../core/rate-limit.ts';
import { requireUser } from '../../identity/require-user.ts';
import { isAnswered } from '../../ledger/run-once.ts';
import { readGivenQuote } from '../../subscriptions/purchase/signed-quote.ts';
import { isPersonKnown, prepareRecipient } from '../purchases/recipient.ts';
import type { Contact } from '../purchases/types.ts';
import { giftsDisabled, giftToSelf, invalidEmail, invalidUsername, RESTRICTED } from './errors.ts';
import { isGiftEnabled } from './is-gift-enabled.ts';
import { payFromBalance } from './pay-from-balance.ts';
import { payThroughProvider } from './pay-through-provider.ts';
import { isContactOf, readRecipient } from './rules.ts';
import { type BoughtGift, type CheckedGift, type GiftOrder, UNRESOLVABLE } from './types.ts';

export const subscriptionRestricted = refusal('subscription_restricted', 403, 'Purchases are restricted for this account');

const CALLS_A_MINUTE = 5;

/**
 * Buys a gift for another person, or one that is only a code (spec 03 section 9). The messenger is asked about the recipient, for at most 5 s,
 * before the transaction begins.
 * @param quote of `readGiftConfig`, sent back; null = none
 * @param caller `idempotencyKey`: a repeat gets the first answer and does not count as an attempt; `ip`: null = unknown
 * @throws AppError, in this order: 400 'Gift feature is not enabled' | 429 | 403 restricted | 400 of the recipient | 404 and 400 of the tariff
 * and its period | 400 'Insufficient balance', of the payment method, or 502 of the provider; 409 and 422 of the key; those of `requireQuoted`
 */
export async function buyGift(
  app: App,
  actor: UserActor,
  order: GiftOrder,
  caller: { idempotencyKey: string | null; ip: string | null },
  quote: string | null = null,
): Promise<BoughtGift> {
  if (!(await isAnswered(app, actor, caller.idempotencyKey))) {
    if (!(await isGiftEnabled(app))) throw giftsDisabled();
    await limitOrRefuse(app, `gift:purchase:user:${actor.userId}`, CALLS_A_MINUTE, 60);
  }
  const gift = { ...(await checkGift(app, actor, order)), quote: await readGivenQuote(app, quote) };
  return order.paymentMethod === null
    ? payFromBalance(app, actor, gift, caller.idempotencyKey)
    : payThroughProvider(app, actor, gift, order.paymentMethod, caller);
}

async function checkGift(app: App, actor: UserActor, order: GiftOrder): Promise<Omit<CheckedGift, 'quote'>> {
  const buyer = await requireUser(app, actor.userId);
  if (buyer.restrictionSubscription) throw subscriptionRestricted({ detail: RESTRICTED });
  const recipient = order.recipient && requireRecipient(order.recipient);
  if (recipient && isContactOf(recipient, buyer)) throw giftToSelf();
  // The account of an address is looked up, and made, when the money has come.
  const isNeeded = order.paymentMethod === null || recipient?.type === 'messenger';
  const prepared = recipient && isNeeded ? await prepareRecipient(app, recipient) : null;
  const isUnknown = prepared !== null && recipient?.type === 'messenger' && !(await isPersonKnown(app, prepared));
  return { order, buyer, recipient, prepared, warning: isUnknown ? UNRESOLVABLE : null };
}

/** @throws AppError 400 */
function requireRecipient({ type, value }: NonNullable<GiftOrder['recipient']>): Contact {
  const contact = readRecipient(type, value);
  if (!contact) throw type === 'email' ? invalidEmail() : invalidUsername();
  return contact;
}
