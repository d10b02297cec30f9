import type { Actor, UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { type Changes, givenFields } from '../../../core/changes.ts';
import { addMs, HOUR_MS } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { findUserByEmail, findUserById, findUserByMessengerId } from '../../identity/find-user.ts';
import { setDiscount } from '../../identity/promo-account.ts';
import type { UserRecord } from '../../identity/types.ts';
import { text } from '../../messaging/texts.ts';
import { findPrimaryPromoGroup } from '../../promo-groups/find-groups.ts';
import type { PromoGroup } from '../../promo-groups/types.ts';
import { isDiscountExpired } from '../codes/promocodes.ts';
import { findDiscount, lockRedeemer } from '../codes/repo.ts';
import type { PersonalDiscount } from '../codes/types.ts';
import {
  adminTemplateNotFound,
  filterMismatch,
  offerNotFoundWeb,
  recipientNotFound,
  subscriptionForeign,
  subscriptionNotFound,
  userMismatch,
  userRequired,
  webTemplateNotFound,
} from './errors.ts';
import {
  findOffer,
  findTemplate,
  listLog,
  listOffers,
  listOffersOfUser,
  listTemplates,
  lockSubscriptionForShare,
  lockTemplate,
  lockUserForShare,
  nameFirstTemplates,
  type OfferFilter,
  type OfferLogFilter,
  updateTemplate,
  upsertOffer,
} from './repo.ts';
import { checkedTemplate, checkedTerms } from './rules.ts';
import type { NamedUser, Offer, OfferDetails, OfferLogEntry, OfferTemplate, OfferTemplateValues, OfferTerms } from './types.ts';

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

/**
 * The user that a Web API request names, in any status; null when it names no user.
 * @throws AppError 404 'User not found' | 400 'Provided user_id does not match messenger_id'
 */
export async function findRecipient(app: App, named: Omit<NamedUser, 'email'>): Promise<UserRecord | null> {
  const { userId = null, messengerId = null } = named;
  if (userId === null && messengerId === null) return null;
  const user = userId === null ? await findUserByMessengerId(app, messengerId!) : await findUserById(app, userId);
  if (!user) throw recipientNotFound();
  if (messengerId !== null && user.messengerId !== messengerId) throw userMismatch('messenger_id');
  return user;
}

/**
 * The user that an administrator names (spec 04 section 9.4); the e-mail is used only without a messenger id.
 * @throws AppError 404 'User not found', 'User not found by messenger_id', 'User not found by email' | 400 when the user id is
 * another user's
 */
export async function findNamedUser(app: App, named: NamedUser): Promise<UserRecord | null> {
  const { userId = null, messengerId = null } = named;
  const email = named.email?.trim() || null;
  let user: UserRecord | null = null;
  if (messengerId !== null) {
    user = await findUserByMessengerId(app, messengerId);
    if (!user) throw recipientNotFound(' by messenger_id');
    if (userId !== null && user.id !== userId) throw userMismatch('messenger_id');
  } else if (email !== null) {
    user = await findUserByEmail(app, email);
    if (!user) throw recipientNotFound(' by email');
    if (userId !== null && user.id !== userId) throw userMismatch('email');
  } else if (userId !== null) {
    user = await findUserById(app, userId);
    if (!user) throw recipientNotFound();
  }
  return user;
}

/** All templates, by type, then by id; an installation starts with three (prisma/sql/promo-offer-templates.sql). */
export function listOfferTemplates(app: App): Promise<OfferTemplate[]> {
  return listTemplates(app.db);
}

/** @throws AppError 404 'Promo offer template not found', to administrators of the cabinet 'Template not found' */
export async function readOfferTemplate(app: App, actor: Actor, templateId: number): Promise<OfferTemplate> {
  return (await findTemplate(app.db, templateId)) ?? refuseUnknown(actor);
}

/**
 * Changes the given fields; undefined and null keep what is stored. Offers made from the template do not
 * change.
 * @throws AppError 404 as for reading; ValidationError 422 out of bounds
 */
export function changeOfferTemplate(
  app: App,
  actor: Actor,
  templateId: number,
  changes: Changes<OfferTemplateValues>,
): Promise<OfferTemplate> {
  return inTransaction(app, async (t) => {
    const before = (await lockTemplate(t.db, templateId)) ?? refuseUnknown(actor);
    const saved = await updateTemplate(t.db, before.id, checkedTemplate({ ...before, ...givenFields(changes) }), t.clock.now());
    t.audit?.record({ resourceId: saved.id, before, after: saved });
    return saved;
  });
}

/**
 * Writes the three templates of a new service in its first language (spec 10 R5): migrations do not know the settings. A service with
 * users, or a template that was changed, keeps its texts.
 */
export function nameFirstOfferTemplates(app: App): Promise<void> {
  const language = app.settings.get('DEFAULT_LANGUAGE');
  const texts = (['test_access', 'extend_discount', 'purchase_discount'] as const).map((offerType) => ({
    offerType,
    name: text(language, `promo.template_${offerType}_name`),
    messageText: text(language, `promo.template_${offerType}_message`),
    buttonText: text(language, `promo.template_${offerType}_button`),
  }));
  return nameFirstTemplates(app.db, texts);
}

function refuseUnknown(actor: Actor): never {
  throw actor.kind === 'admin' ? adminTemplateNotFound() : webTemplateNotFound();
}

/** The personal discount now: percent 0 once it has expired. */
export async function readActiveDiscount(app: App, actor: UserActor): Promise<PersonalDiscount & { isActive: boolean }> {
  const discount = await findDiscount(app.db, actor.userId);
  if (!discount) return { percent: 0, source: null, expiresAt: null, isActive: false };
  const percent = isDiscountExpired(discount, app.clock.now()) ? 0 : discount.percent;
  return { ...discount, percent, isActive: percent > 0 };
}

/** Clears the discount of any source; the use of a promo code stays counted. */
export async function clearActiveDiscount(app: App, actor: UserActor): Promise<void> {
  await inTransaction(app, async (t) => {
    if (!(await lockRedeemer(t.db, actor.userId))) return;
    await setDiscount(t.db, actor.userId, { percent: 0, source: null, expiresAt: null }, t.clock.now());
  });
}

/** The user's primary promo group; null without one. */
export function readMyGroup(app: App, actor: UserActor): Promise<PromoGroup | null> {
  return findPrimaryPromoGroup(app.db, actor.userId);
}
