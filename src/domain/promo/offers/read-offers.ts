import type { Actor, UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { findUserByMessengerId } from '../../identity/find-user.ts';
import { filterMismatch, offerNotFoundWeb, recipientNotFound } from './errors.ts';
import { listLog, type OfferLogFilter } from './log-repo.ts';
import { findOffer, listOffers, listOffersOfUser, type OfferFilter } from './repo.ts';
import type { Offer, OfferDetails, OfferLogEntry } from './types.ts';

/** A user has one open offer per type, and claimed ones that have not expired. */
const MAX_OFFERS = 500;

/**
 * One page of offers, newest first (spec 04 section 9.3).
 * @throws AppError 404 'User not found' (messenger id) | 400 when the messenger id is another user's than the user id
 */
export async function listPromoOffers(
  app: App,
  _actor: Actor,
  filter: OfferFilter & { messengerId?: number | null | undefined },
): Promise<{ items: OfferDetails[]; total: number }> {
  const { messengerId = null, ...rest } = filter;
  if (messengerId === null) return listOffers(app.db, rest);
  const user = await findUserByMessengerId(app, messengerId);
  if (!user) throw recipientNotFound();
  if (typeof filter.userId === 'number' && filter.userId !== user.id) throw filterMismatch();
  return listOffers(app.db, { ...rest, userId: user.id });
}

/** @throws AppError 404 'Promo offer not found' */
export async function readPromoOffer(app: App, _actor: Actor, offerId: number): Promise<OfferDetails> {
  const offer = await findOffer(app.db, offerId);
  if (!offer) throw offerNotFoundWeb();
  return offer;
}

/** One page of the log of offers, newest first (spec 04 section 9.1). */
export function listOfferLog(
  app: App,
  _actor: Actor,
  filter: OfferLogFilter,
): Promise<{ items: OfferLogEntry[]; total: number }> {
  return listLog(app.db, filter);
}

/** The user's offers that have not expired, claimed ones included, newest first (spec 04 section 9.5). */
export function listMyOffers(app: App, actor: UserActor): Promise<Offer[]> {
  return listOffersOfUser(app.db, actor.userId, app.clock.now(), MAX_OFFERS);
}
