import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { addMs, HOUR_MS, SECOND_MS } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { isAppError } from '../../../core/errors.ts';
import { findSquadsByUuid } from '../../catalog/find-squads.ts';
import { findUserByMessengerId } from '../../identity/find-user.ts';
import { setDiscount } from '../../identity/promo-account.ts';
import type { MessengerUpdate } from '../../messaging/ports.ts';
import { sendMessage } from '../../messaging/send-message.ts';
import { escapeHtml, fill, htmlText, type TextKey, text } from '../../messaging/texts.ts';
import { applyManualChange, lockUserSubscription } from '../../subscriptions/manual/manual-changes.ts';
import type { Subscription } from '../../subscriptions/types.ts';
import { lockRedeemer } from '../codes/repo.ts';
import { CLAIM_BUTTON, CLOSE_BUTTON } from './broadcast-offers.ts';
import { CLAIM_REFUSALS, type ClaimRefusal } from './errors.ts';
import { readActiveDiscount } from './offers.ts';
import {
  deactivateExpiredOffer,
  findLatestClaimed,
  findTemplate,
  insertAccess,
  insertLog,
  type LogDetails,
  listLiveAccess,
  listOffersOfUser,
  listTemplates,
  listTemporarySquads,
  lockOfferOfUser,
  takeOffer,
} from './repo.ts';
import {
  claimRefusal,
  discountEnd,
  givesTemporaryAccess,
  hoursOf,
  placeholdersOf,
  TEST_ACCESS,
  templateIdOf,
  temporaryAccessOf,
} from './rules.ts';
import type { Offer, OfferTemplate } from './types.ts';

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

/** A user has one open offer a type. */
const MAX_OFFERS = 50;
const TEMPLATE_TYPE = /^promo_template_(\d{1,9})$/;

/** An offer as the mini-app shows it (spec 02 section 12.3); kopeks. */
export interface MiniappOffer {
  offer: Offer;
  /** `active`: claimed and in effect. */
  status: 'active' | 'pending';
  effectType: string;
  template: OfferTemplate | null;
  /** Null where neither offer nor template names one (spec 10 X23). */
  title: string | null;
  buttonText: string | null;
  messageText: string | null;
  icon: string;
  testSquads: { uuid: string; name: string }[];
  /** Of an active one; null = until the first purchase. */
  activeUntil: Date | null;
  activeSeconds: number | null;
}

/** The claimed discount, then temporary accesses (latest end first), then open offers, soonest end first. */
export async function listMiniappOffers(app: App, actor: UserActor): Promise<MiniappOffer[]> {
  const now = app.clock.now();
  const { userId } = actor;
  const [all, access, discount, templates] = await Promise.all([
    listOffersOfUser(app.db, userId, now, MAX_OFFERS),
    listLiveAccess(app.db, userId, now),
    readActiveDiscount(app, actor),
    listTemplates(app.db),
  ]);
  const claimed = discount.isActive && discount.source !== null ? await findLatestClaimed(app.db, userId, discount.source) : null;
  const open = all
    .filter((offer) => offer.isActive && offer.claimedAt === null)
    .sort((a, b) => a.expiresAt.getTime() - b.expiresAt.getTime() || a.id - b.id);
  const uuids = [...open, ...access.map(({ offer }) => offer)].flatMap((offer) => squadsOf(offer));
  const names = new Map((await findSquadsByUuid(app, [...new Set(uuids)])).map((squad) => [squad.squadUuid, squad.displayName]));
  const show = (offer: Offer, activeUntil: Date | null | undefined): MiniappOffer => {
    const template = templateOf(offer, templates);
    const testSquads = squadsOf(offer).map((uuid) => ({ uuid, name: names.get(uuid) ?? uuid }));
    const isActive = activeUntil !== undefined;
    const { extraData } = offer;
    return {
      offer,
      status: isActive ? 'active' : 'pending',
      effectType: offer.effectType === 'balance_bonus' ? 'percent_discount' : offer.effectType,
      template,
      title: textOf(extraData.title) ?? template?.name ?? null,
      buttonText: textOf(extraData.button_text) ?? template?.buttonText ?? null,
      messageText: messageOf(offer, template, testSquads),
      icon: iconOf(offer, template),
      testSquads,
      activeUntil: activeUntil ?? null,
      activeSeconds: isActive ? secondsBetween(offer.claimedAt, activeUntil) : null,
    };
  };
  return [
    ...(claimed ? [show(claimed, discount.expiresAt ?? endByHours(claimed))] : []),
    ...access.map(({ offer, expiresAt }) => show(offer, expiresAt)),
    ...open.map((offer) => show(offer, undefined)),
  ];
}

const squadsOf = (offer: Offer) => (givesTemporaryAccess(offer) ? temporaryAccessOf(offer.extraData).squads : []);

function endByHours({ claimedAt, extraData }: Offer): Date | null {
  const hours = hoursOf(extraData.active_discount_hours);
  return claimedAt === null || hours === null ? null : addMs(claimedAt, hours * HOUR_MS);
}

function secondsBetween(from: Date | null, to: Date | null): number | null {
  return from === null || to === null ? null : Math.max(0, Math.floor((to.getTime() - from.getTime()) / SECOND_MS));
}

function templateOf(offer: Offer, templates: readonly OfferTemplate[]): OfferTemplate | null {
  const named = TEMPLATE_TYPE.exec(offer.notificationType)?.[1];
  const id = named === undefined ? templateIdOf(offer.extraData) : Number(named);
  return templates.find((template) => template.id === id) ?? null;
}

/** The messenger'''s HTML with its placeholders filled, values of the offer included; what cannot be filled stays as it is. */
function messageOf(offer: Offer, template: OfferTemplate | null, testSquads: MiniappOffer['testSquads']): string | null {
  const pattern = template?.messageText ?? textOf(offer.extraData.message_text) ?? textOf(offer.extraData.text);
  if (pattern === null) return null;
  const validHours = Math.max(0, Math.round((offer.expiresAt.getTime() - offer.createdAt.getTime()) / HOUR_MS));
  const { discountPercent, extraData } = offer;
  const scalars = Object.entries(extraData).filter(([, value]) => typeof value === 'string' || typeof value === 'number');
  const serverNames = testSquads.map((squad) => squad.name);
  const known = placeholdersOf({ discountPercent, validHours, extraData, serverNames });
  const values = { ...(Object.fromEntries(scalars) as Record<string, string | number>), ...known };
  return fill(pattern, values, (value) => escapeHtml(String(value)));
}

const ICONS: Readonly<Record<string, string>> = { extend_discount: '💎', purchase_discount: '🎯', [TEST_ACCESS]: '🧪' };

function iconOf(offer: Offer, template: OfferTemplate | null): string {
  const byType = ICONS[template?.offerType ?? offer.effectType];
  if (byType) return byType;
  return offer.effectType === 'percent_discount' || offer.effectType === 'balance_bonus' ? '🎁' : '🎉';
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}

/** A pressed button under an offer. */
export interface OfferPress {
  queryId: string;
  messengerId: number;
  /** The message with the button; null where the messenger does not name it. */
  chatId: number | null;
  messageId: number | null;
  data: string;
}

/** Texts for refusals; any other refusal means that the offer is no longer available. */
const REASONS: Readonly<Record<string, TextKey>> = {
  offer_already_claimed: 'promo.offer_used',
  offer_no_subscription: 'promo.offer_needs_subscription',
  offer_already_connected: 'promo.offer_connected',
};

const CLAIM = new RegExp(`^${CLAIM_BUTTON}(\\d{1,10})$`);

/** Queues a pressed button under an offer; the job handles it after the messenger has its answer. Ignores other updates. */
export async function receiveOfferUpdate(app: App, update: MessengerUpdate): Promise<void> {
  if (update.kind !== 'callback' || !(CLAIM.test(update.data) || update.data === CLOSE_BUTTON)) return;
  const { queryId, fromMessengerId: messengerId, chatId, messageId, data } = update;
  await app.jobs.send('promo.offer-press', { queryId, messengerId, chatId, messageId, data });
}

/**
 * Handles a queued press (job `promo.offer-press`): claims the offer by the rules of the cabinet, or deletes the message (spec 04
 * section 9.4). May run any number of times; the offer is claimed once.
 */
export async function handleOfferPress(app: App, press: OfferPress): Promise<void> {
  const { messenger } = app.ports;
  const quietly = (done: Promise<unknown>) => done.catch((error) => app.log.debug({ err: error }, 'a press was not answered'));
  // Only ends the button's progress indicator. The messenger refuses a query that is too old, which changes nothing else.
  await quietly(messenger.answerCallback(press.queryId));
  if (press.data === CLOSE_BUTTON) {
    if (press.chatId !== null && press.messageId !== null) await quietly(messenger.deleteMessage(press.chatId, press.messageId));
    return;
  }
  const offerId = Number(CLAIM.exec(press.data)?.[1]);
  const user = await findUserByMessengerId(app, press.messengerId);
  if (user?.status !== 'active') return;
  await sendMessage(app, { messengerId: press.messengerId, html: await claimText(app, user.id, offerId, user.language) });
}

async function claimText(app: App, userId: number, offerId: number, language: string): Promise<string> {
  try {
    return escapeHtml((await claimOffer(app, { kind: 'user', userId }, offerId)).message);
  } catch (error) {
    if (!isAppError(error)) throw error;
    return htmlText(language, REASONS[error.code] ?? 'promo.offer_gone');
  }
}
