import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { addMs, HOUR_MS } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { setDiscount } from '../../identity/promo-account.ts';
import { text } from '../../messaging/texts.ts';
import { applyManualChange, lockUserSubscription } from '../../subscriptions/manual/manual-changes.ts';
import type { Subscription } from '../../subscriptions/types.ts';
import { lockRedeemer } from '../codes/redeem-repo.ts';
import { deactivateExpiredOffer, insertAccess, listTemporarySquads, lockOfferOfUser, takeOffer } from './claim-repo.ts';
import { CLAIM_REFUSALS, type ClaimRefusal } from './errors.ts';
import { insertLog, type LogDetails } from './log-repo.ts';
import { claimRefusal, discountEnd, givesTemporaryAccess, templateIdOf, temporaryAccessOf } from './rules.ts';
import { findTemplate } from './template-repo.ts';
import type { Offer } from './types.ts';

export interface ClaimedOffer {
  /** In the user's language. */
  message: string;
  /** Null for an offer of temporary access. */
  discountPercent: number | null;
  /** When the discount or the access expires; null = with the first purchase. */
  expiresAt: Date | null;
}

type Outcome = { claimed: ClaimedOffer } | { refused: ClaimRefusal | 'not_found' };

/**
 * Claims an offer of the user (spec 04 section 9.5): once, also with parallel calls, and never after it has expired. A discount
 * replaces the current one. Servers of temporary access are added to the subscription in this transaction; the panel is updated after
 * the commit, which the subscription's provisioning state shows.
 * @throws AppError 404 'Offer not found' | 400 with the texts of section 9.5
 */
export async function claimOffer(app: App, actor: UserActor, offerId: number): Promise<ClaimedOffer> {
  // A refusal is thrown after the commit, because the expiry of an offer is stored.
  const outcome = await inTransaction(app, (t) => claim(t, actor.userId, offerId));
  if ('refused' in outcome) throw CLAIM_REFUSALS[outcome.refused]();
  return outcome.claimed;
}

async function claim(t: App, userId: number, offerId: number): Promise<Outcome> {
  const subscription = await lockUserSubscription(t, userId);
  const user = subscription === undefined ? null : await lockRedeemer(t.db, userId);
  const offer = user && (await lockOfferOfUser(t.db, userId, offerId));
  if (!user || !offer) return { refused: 'not_found' };
  const now = t.clock.now();
  const refused = claimRefusal(offer, now);
  if (refused) {
    if (refused === 'expired') await recordExpiry(t, offer);
    return { refused };
  }
  const given = givesTemporaryAccess(offer)
    ? await giveTemporaryAccess(t, offer, subscription ?? null, user.language)
    : await giveDiscount(t, offer, user.language);
  if (typeof given === 'string') return { refused: given };
  if (!(await takeOffer(t.db, offer.id, now))) throw new Error('an offer under lock could not be claimed');
  return { claimed: given };
}

/** For an offer that the expiry job has not processed yet; one of the two writes the log row. */
async function recordExpiry(t: App, offer: Offer): Promise<void> {
  const now = t.clock.now();
  if (!(await deactivateExpiredOffer(t.db, offer.id, now))) return;
  await logClaim(t, offer, 'disabled', offer.discountPercent, { reason: 'offer_expired' });
}

async function giveDiscount(t: App, offer: Offer, language: string): Promise<ClaimedOffer> {
  const now = t.clock.now();
  const templateId = templateIdOf(offer.extraData);
  const template = templateId === null ? null : await findTemplate(t.db, templateId);
  const expiresAt = discountEnd(offer.extraData, template?.activeDiscountHours ?? null, now);
  const percent = offer.discountPercent;
  await setDiscount(t.db, offer.userId, { percent, source: offer.notificationType, expiresAt }, now);
  await logClaim(t, offer, 'claimed', percent, {
    context: 'discount_claim',
    discount_percent: percent,
    discount_expires_at: expiresAt?.toISOString() ?? null,
  });
  return { message: text(language, 'promo.offer_claimed_discount', { percent }), discountPercent: percent, expiresAt };
}

async function giveTemporaryAccess(
  t: App,
  offer: Offer,
  subscription: Subscription | null,
  language: string,
): Promise<ClaimedOffer | ClaimRefusal> {
  const { squads, hours } = temporaryAccessOf(offer.extraData);
  if (subscription === null) return 'no_subscription';
  if (squads.length === 0) return 'no_squads';
  const connected = new Set(subscription.connectedSquads);
  const newSquads = squads.filter((uuid) => !connected.has(uuid));
  if (newSquads.length === 0) return 'already_connected';
  const now = t.clock.now();
  const expiresAt = addMs(now, hours * HOUR_MS);
  // Squads of another temporary access do not count as connected: the last access that expires removes them.
  const temporary = new Set(await listTemporarySquads(t.db, subscription.id));
  await insertAccess(t.db, {
    subscriptionId: subscription.id,
    offerId: offer.id,
    squads: squads.map((uuid) => ({ uuid, wasAlreadyConnected: connected.has(uuid) && !temporary.has(uuid) })),
    expiresAt,
    now,
  });
  await applyManualChange(t, subscription.id, {
    changes: { connectedSquads: [...subscription.connectedSquads, ...newSquads] },
  });
  await logClaim(t, offer, 'claimed', offer.discountPercent, {
    context: 'test_access_claim',
    new_squads: newSquads,
    expires_at: expiresAt.toISOString(),
  });
  return { message: text(language, 'promo.offer_claimed_access', { hours }), discountPercent: null, expiresAt };
}

async function logClaim(
  t: App,
  offer: Offer,
  action: 'claimed' | 'disabled',
  percent: number,
  details: LogDetails,
): Promise<void> {
  await insertLog(t.db, {
    userId: offer.userId,
    offerId: offer.id,
    action,
    source: offer.notificationType,
    percent,
    effectType: offer.effectType,
    details,
    createdAt: t.clock.now(),
  });
}
