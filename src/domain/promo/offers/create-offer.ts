import type { Actor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { addMs, HOUR_MS } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { recipientNotFound, subscriptionForeign, subscriptionNotFound, userRequired } from './errors.ts';
import { findRecipient } from './find-recipient.ts';
import { findOffer, lockSubscriptionForShare, lockUserForShare, upsertOffer } from './repo.ts';
import { checkedTerms } from './rules.ts';
import type { NamedUser, OfferDetails, OfferTerms } from './types.ts';

export interface NewOffer extends OfferTerms, Omit<NamedUser, 'email'> {
  subscriptionId?: number | null | undefined;
}

/**
 * Creates an offer for one user, or overwrites the open one of its type (spec 04 sections 9.2 and 9.3).
 * @throws AppError 400 and 404 with the texts of section 9.3, in its order; ValidationError 422 out of bounds
 */
export async function createOffer(app: App, _actor: Actor, request: NewOffer): Promise<OfferDetails> {
  const terms = checkedTerms(request);
  const user = await findRecipient(app, request);
  if (!user) throw userRequired();
  return inTransaction(app, async (t) => {
    if (!(await lockUserForShare(t.db, user.id))) throw recipientNotFound();
    const { subscriptionId = null } = request;
    await lockSubscriptionOf(t, subscriptionId, user.id);
    const now = t.clock.now();
    const id = await upsertOffer(t.db, {
      ...terms,
      userId: user.id,
      subscriptionId,
      expiresAt: addMs(now, terms.validHours * HOUR_MS),
      now,
    });
    return (await findOffer(t.db, id))!;
  });
}

/** Locks the subscription for share. @throws AppError 404 'Subscription not found' | 400 'Subscription does not belong to the user' */
export async function lockSubscriptionOf(t: App, subscriptionId: number | null, userId: number): Promise<void> {
  if (subscriptionId === null) return;
  const ownerId = await lockSubscriptionForShare(t.db, subscriptionId);
  if (ownerId === null) throw subscriptionNotFound();
  if (ownerId !== userId) throw subscriptionForeign();
}
