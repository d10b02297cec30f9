import type { Actor, UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { findUserByMessengerId } from '../../identity/find-user.ts';
import { filterMismatch, offerNotFoundWeb, userNotFound } from './errors.ts';
import { listLog, type OfferLogFilter } from './log-repo.ts';
import { findOffer, listOffers, listOwnOffers, type OfferFilter } from './repo.ts';
import type { Offer, OfferDetails, OfferLogEntry } from './types.ts';

/** A user has one open offer a type; those claimed lately stand beside them. */
const MAX_OWN_OFFERS = 500;

/**
 * One page of offers, newest first (spec 04 section 9.3).
 * @throws AppError 404 'User not found' (messenger id) | 400 when the messenger id is another user's than the user id
 */
export async function listPromoOffers(
  app: App,
  _actor: Actor,
  filter: OfferFilter & { messengerId: number | null },
): Promise<{ items: OfferDetails[]; total: number }> {
  const { messengerId, ...rest } = filter;
  if (messengerId === null) return listOffers(app.db, rest);
  const user = await findUserByMessengerId(app, messengerId);
  if (!user) throw userNotFound();
  if (filter.userId !== null && filter.userId !== user.id) throw filterMismatch();
  return listOffers(app.db, { ...rest, userId: user.id });
}

/** @throws AppError 404 'Promo offer not found' */
export async function readPromoOffer(app: App, _actor: Actor, offerId: number): Promise<OfferDetails> {
  const offer = await findOffer(app.db, offerId);
  if (!offer) throw offerNotFoundWeb();
  return offer;
}

/** One page of what became of offers, newest first (spec 04 section 9.1). */
export function listOfferLog(
  app: App,
  _actor: Actor,
  filter: OfferLogFilter,
): Promise<{ items: OfferLogEntry[]; total: number }> {
  return listLog(app.db, filter);
}

/** The user's own offers that have not run out, claimed ones among them, newest first (spec 04 section 9.5). */
export function readOwnOffers(app: App, actor: UserActor): Promise<Offer[]> {
  return listOwnOffers(app.db, actor.userId, app.clock.now(), MAX_OWN_OFFERS);
}
