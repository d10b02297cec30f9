import { setTimeout as delay } from 'node:timers/promises';
import type { AdminActor, TokenActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { addMs, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { checkBounds } from '../../../core/field-bounds.ts';
import { formatPrice } from '../../../core/money.ts';
import { namedSegment } from '../../audience/segments.ts';
import { findSquadsByUuid } from '../../catalog/find-squads.ts';
import type { MessengerButton } from '../../messaging/ports.ts';
import { htmlText, knownLanguage, text } from '../../messaging/texts.ts';
import {
  type Audience,
  type Broadcast,
  findBroadcast,
  hasOpenDeliveries,
  insertBroadcast,
  lockBroadcast,
  makeOffers,
  measureAudience,
  setBroadcastState,
} from './broadcast-repo.ts';
import { noRecipients, offerNoAudience, offerOneSubscription } from './errors.ts';
import { findNamedUser, findRecipient, lockSubscriptionOf } from './offers.ts';
import {
  checkedTerms,
  fieldRefused,
  fillMessage,
  givesTemporaryAccess,
  MAX_BUTTON_LENGTH,
  MAX_MESSAGE_LENGTH,
  temporaryAccessOf,
} from './rules.ts';
import type { BroadcastResult, NamedUser, OfferMessage, OfferTerms } from './types.ts';

/** Offers made by one transaction; small enough that the embedded database can answer other requests in between. */
const BATCH = 2_000;
/** How long the request makes offers; a larger audience is finished in the background. */
const REQUEST_MS = 20 * SECOND_MS;
/** Delay of the background job: long after the request has stopped. */
const BACKGROUND_AFTER_MS = MINUTE_MS;
/** The answer waits this long for the queue, so that it has the results of a message to a few users. */
const ANSWER_WAIT_MS = 2 * SECOND_MS;
const POLL_EVERY_MS = 100;
/** Length of the column; any text is accepted, also one that names no audience. */
const MAX_TARGET_LENGTH = 100;
/** User ids in an answer, the first ones: a full list of a large audience would take too much memory. */
const MAX_USER_IDS = 10_000;

export interface WebBroadcast extends OfferTerms, Omit<NamedUser, 'email'> {
  subscriptionId?: number | null | undefined;
  target?: string | null | undefined;
}

/**
 * Makes an offer to a segment, to one user, or to both, without messages (spec 04 section 9.3).
 * @throws AppError 400 and 404 with the texts of section 9.3; ValidationError 422 `Unsupported target value`, or out of bounds
 */
export async function broadcastOffers(app: App, _actor: TokenActor, request: WebBroadcast): Promise<BroadcastResult> {
  const { subscriptionId = null, target: requested = null } = request;
  const target = requested === null ? null : namedSegment(requested);
  if (requested !== null && target === null) throw fieldRefused('target', 'Unsupported target value', requested);
  const terms = checkedTerms(request);
  const named = await findRecipient(app, request);
  const call = { terms, audience: { target, namedUserId: named?.id ?? null }, message: null, createdBy: null };
  return run(app, call, async (t, size, firstUserId) => {
    if (size === 0) throw offerNoAudience(t.settings.get('DEFAULT_LANGUAGE'));
    if (subscriptionId === null) return null;
    if (size > 1) throw offerOneSubscription(t.settings.get('DEFAULT_LANGUAGE'));
    await lockSubscriptionOf(t, subscriptionId, firstUserId);
    return subscriptionId;
  });
}

export interface AdminBroadcast extends OfferTerms, NamedUser, OfferMessage {
  target?: string | null | undefined;
  /** Whether the users get a message. */
  sendNotification: boolean;
}

/**
 * The same by an administrator, optionally with messages to the users (spec 04 section 9.4). The messages are queued and sent after the
 * commit; the answer waits a short time and counts those sent by then. An unknown target has an empty audience.
 * @throws AppError 400 `No recipients: specify target or user`, 400 and 404 about the named user; ValidationError 422 out of bounds
 */
export async function broadcastOffersAsAdmin(app: App, actor: AdminActor, request: AdminBroadcast): Promise<BroadcastResult> {
  const terms = checkedTerms(request);
  const { messageText, buttonText } = request;
  const message = request.sendNotification ? { messageText, buttonText } : null;
  if (message) await checkMessage(app, message, terms);
  const named = await findNamedUser(app, request);
  const target = request.target?.trim() || null;
  checkBounds([{ name: 'target', value: target, maxLength: MAX_TARGET_LENGTH }]);
  const audience = { target, namedUserId: named?.id ?? null };
  return run(app, { terms, audience, message, createdBy: actor.userId }, async (_t, size) => {
    if (size === 0) throw noRecipients();
    return null;
  });
}

interface Call {
  terms: OfferTerms;
  audience: Audience;
  message: OfferMessage | null;
  createdBy: number | null;
}

/** @param checkAudience refuses an audience; returns the subscription that the offers are for */
async function run(
  app: App,
  call: Call,
  checkAudience: (t: App, size: number, firstUserId: number) => Promise<number | null>,
): Promise<BroadcastResult> {
  const { id, size } = await inTransaction(app, async (t) => {
    const now = t.clock.now();
    const found = await measureAudience(t.db, call.audience, now);
    const subscriptionId = await checkAudience(t, found?.size ?? 0, found?.firstUserId ?? 0);
    const broadcastId = await insertBroadcast(t.db, {
      ...call.terms,
      ...call.audience,
      subscriptionId,
      audienceEnd: found?.audienceEnd ?? 0,
      expiresAt: addMs(now, call.terms.validHours * HOUR_MS),
      message: call.message,
      createdBy: call.createdBy,
      createdAt: now,
    });
    await t.jobs.send('promo.offer-broadcast', { broadcastId }, { startAfter: addMs(now, BACKGROUND_AFTER_MS) });
    const { terms, audience } = call;
    t.audit?.record({ resourceId: broadcastId, before: null, after: { ...terms, ...audience, message: call.message } });
    return { id: broadcastId, size: found?.size ?? 0 };
  });
  const userIds: number[] = [];
  const isComplete = await makeAll(app, id, {
    untilMs: performance.now() + REQUEST_MS,
    onMade: (made) => userIds.push(...made.slice(0, MAX_USER_IDS - userIds.length)),
  });
  if (!isComplete) await app.jobs.send('promo.offer-broadcast', { broadcastId: id });
  if (call.message) await waitForMessages(app, id);
  const after = await findBroadcast(app.db, id);
  // The background job makes the remaining offers: the audience was counted at the start.
  const createdOffers = isComplete ? (after?.createdOffers ?? userIds.length) : size;
  return { createdOffers, userIds, target: call.audience.target, sent: after?.sent ?? 0, failed: after?.failed ?? 0 };
}

/**
 * Makes the remaining offers of a broadcast, one batch per transaction. Parallel runs process one batch after the other.
 * @returns false when the time limit or the signal stopped it
 */
export async function makeAll(
  app: App,
  broadcastId: number,
  options: { untilMs: number; signal?: AbortSignal; onMade?: (userIds: readonly number[]) => void },
): Promise<boolean> {
  for (;;) {
    const { made, isComplete } = await inTransaction(app, (t) => makeBatch(t, broadcastId));
    options.onMade?.(made);
    if (isComplete) return true;
    if (performance.now() >= options.untilMs || options.signal?.aborted) return false;
  }
}

async function makeBatch(t: App, broadcastId: number): Promise<{ made: number[]; isComplete: boolean }> {
  const broadcast = await lockBroadcast(t.db, broadcastId);
  if (broadcast?.state !== 'making') return { made: [], isComplete: true };
  const now = t.clock.now();
  const made = await makeOffers(t.db, broadcast, { limit: BATCH, hasMessenger: t.ports.messenger.isConfigured(), now });
  if (made.length < BATCH) await finishMaking(t, broadcast, now);
  return { made, isComplete: made.length < BATCH };
}

async function finishMaking(t: App, { id, sendsMessages }: Broadcast, now: Date): Promise<void> {
  await setBroadcastState(t.db, id, sendsMessages ? 'sending' : 'done', now);
  if (sendsMessages) await t.jobs.send('promo.offer-broadcast', { broadcastId: id });
}

async function waitForMessages(app: App, broadcastId: number): Promise<void> {
  const untilMs = performance.now() + ANSWER_WAIT_MS;
  while (performance.now() < untilMs && (await hasOpenDeliveries(app.db, broadcastId))) await delay(POLL_EVERY_MS);
}

/** Data of the buttons under an offer; `answer-in-messenger.ts` handles the presses. */
export const CLAIM_BUTTON = 'claim_discount_';
export const CLOSE_BUTTON = 'promo_offer_close';

/** A message about an offer in one language; `buttonsFor` puts the offer's id into the button that claims it. */
export interface RenderedMessage {
  html: string;
  buttonsFor: (offerId: number) => readonly (readonly MessengerButton[])[];
}

/** @throws ValidationError 422 for a message with filled placeholders or a button that is too long */
async function checkMessage(app: App, message: OfferMessage, terms: OfferTerms): Promise<void> {
  const { html } = await renderMessage(app, message, terms, null);
  if (html.length > MAX_MESSAGE_LENGTH || (message.messageText?.length ?? 0) > MAX_MESSAGE_LENGTH) {
    throw fieldRefused('message_text', `the message must have at most ${MAX_MESSAGE_LENGTH} characters`, null);
  }
  if ((message.buttonText?.length ?? 0) > MAX_BUTTON_LENGTH) {
    throw fieldRefused('button_text', `the button must have at most ${MAX_BUTTON_LENGTH} characters`, null);
  }
}

/**
 * The message about an offer: the administrator's text with its placeholders filled, else the default text in
 * the user's language. The button claims the offer or, where a mini-app is configured, opens it.
 */
export async function renderMessage(
  app: App,
  message: OfferMessage,
  terms: OfferTerms,
  language: string | null,
): Promise<RenderedMessage> {
  const adminText = message.messageText?.trim() ? message.messageText : null;
  const html =
    adminText === null
      ? defaultText(terms, language)
      : fillMessage(adminText, { ...terms, serverNames: await namesOf(app, terms) });
  const claimText = message.buttonText?.trim() || text(language, 'promo.offer_button');
  const miniApp = app.settings.get('MINIAPP_CUSTOM_URL').trim();
  const close = { text: text(language, 'promo.offer_close'), callbackData: CLOSE_BUTTON };
  return {
    html,
    buttonsFor: (offerId) => [
      [
        miniApp.startsWith('https://')
          ? { text: claimText, webAppUrl: miniApp }
          : { text: claimText, callbackData: `${CLAIM_BUTTON}${offerId}` },
      ],
      [close],
    ],
  };
}

/** Renders once per language. */
export function messageRenderer(app: App, message: OfferMessage, terms: OfferTerms) {
  const rendered = new Map<string, Promise<RenderedMessage>>();
  return (language: string | null): Promise<RenderedMessage> => {
    const key = knownLanguage(language);
    const made = rendered.get(key) ?? renderMessage(app, message, terms, key);
    rendered.set(key, made);
    return made;
  };
}

function defaultText(terms: OfferTerms, language: string | null): string {
  const head = givesTemporaryAccess(terms)
    ? htmlText(language, 'promo.offer_message_access', { hours: temporaryAccessOf(terms.extraData).hours })
    : htmlText(language, 'promo.offer_message_discount', { percent: terms.discountPercent });
  const bonus =
    terms.bonusAmountKopeks > 0
      ? [htmlText(language, 'promo.offer_message_bonus', { amount: formatPrice(terms.bonusAmountKopeks, false) })]
      : [];
  return [head, ...bonus, htmlText(language, 'promo.offer_message_hours', { hours: terms.validHours })].join('\n');
}

/** Display names of the servers of temporary access. */
async function namesOf(app: App, terms: OfferTerms): Promise<string[]> {
  const { squads } = temporaryAccessOf(terms.extraData);
  if (squads.length === 0) return [];
  return (await findSquadsByUuid(app, squads)).map((squad) => squad.displayName);
}
