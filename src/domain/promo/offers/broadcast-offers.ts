import { setTimeout as delay } from 'node:timers/promises';
import type { AdminActor, TokenActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { addMs, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { checkBounds } from '../../../core/field-bounds.ts';
import { namedSegment } from '../../audience/segments.ts';
import type { Audience, Broadcast } from './broadcast-repo.ts';
import {
  findBroadcast,
  insertBroadcast,
  lockBroadcast,
  makeOffers,
  measureAudience,
  setBroadcastState,
} from './broadcast-repo.ts';
import { holdOwnSubscription } from './create-offer.ts';
import { hasOpenDeliveries } from './delivery-repo.ts';
import { noRecipients, webBroadcastRefused } from './errors.ts';
import { findNamedUser, findRecipient } from './find-recipient.ts';
import { checkMessage } from './offer-message.ts';
import { checkedTerms, fieldRefused } from './rules.ts';
import type { BroadcastResult, NamedUser, OfferMessage, OfferTerms } from './types.ts';

/** Offers made by one transaction: short enough for the embedded database to answer others in between. */
const BATCH = 2_000;
/** How long the request itself makes offers; a larger audience is finished in the background. */
const REQUEST_MS = 20 * SECOND_MS;
/** When the background looks after the call: long after the request has stopped. */
const BACKGROUND_AFTER_MS = MINUTE_MS;
/** The answer waits this long for the queue, so that a message to a few users is answered with what became of it. */
const ANSWER_WAIT_MS = 2 * SECOND_MS;
const LOOK_EVERY_MS = 100;
/** Characters that the column holds; any word is taken, also one that names no audience. */
const MAX_TARGET_LENGTH = 100;
/** User ids in an answer: the first ones. All of a million would be a list that neither side should hold. */
export const MAX_USER_IDS = 10_000;

export interface WebBroadcast extends OfferTerms, Omit<NamedUser, 'email'> {
  subscriptionId: number | null;
  target: string | null;
}

/**
 * Offers something to a segment and, or, to one user; nobody is written to (spec 04 section 9.3).
 * @throws AppError 400 and 404 with the texts of section 9.3; ValidationError 422 `Unsupported target value`, or out of bounds
 */
export async function broadcastOffers(app: App, _actor: TokenActor, request: WebBroadcast): Promise<BroadcastResult> {
  const target = request.target === null ? null : namedSegment(request.target);
  if (request.target !== null && target === null) throw fieldRefused('target', 'Unsupported target value', request.target);
  const terms = checkedTerms(request);
  const named = await findRecipient(app, request);
  const call = { terms, audience: { target, namedUserId: named?.id ?? null }, message: null, createdBy: null };
  return run(app, call, async (t, size, firstUserId) => {
    if (size === 0) throw webBroadcastRefused(t, 'offer_no_audience');
    if (request.subscriptionId === null) return null;
    if (size > 1) throw webBroadcastRefused(t, 'offer_one_subscription');
    await holdOwnSubscription(t, request.subscriptionId, firstUserId);
    return request.subscriptionId;
  });
}

export interface AdminBroadcast extends OfferTerms, NamedUser {
  target: string | null;
  /** Null = nobody is written to. */
  message: OfferMessage | null;
}

/**
 * The same by an administrator, who may have the users written to (spec 04 section 9.4). The messages go by the queue, after commit; the
 * answer waits a moment for them and counts what was sent by then. An unknown target has an empty audience.
 * @throws AppError 400 `No recipients: specify target or user`, 400 and 404 about the named user; ValidationError 422 out of bounds
 */
export async function broadcastOffersAsAdmin(app: App, actor: AdminActor, request: AdminBroadcast): Promise<BroadcastResult> {
  const terms = checkedTerms(request);
  if (request.message) await checkMessage(app, request.message, terms);
  const named = await findNamedUser(app, request);
  const target = request.target?.trim() || null;
  checkBounds([{ name: 'target', value: target, maxLength: MAX_TARGET_LENGTH }]);
  const audience = { target, namedUserId: named?.id ?? null };
  return run(app, { terms, audience, message: request.message, createdBy: actor.userId }, async (_t, size) => {
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

/** @param judge refuses an audience; gives the subscription that the offers are for */
async function run(
  app: App,
  call: Call,
  judge: (t: App, size: number, firstUserId: number) => Promise<number | null>,
): Promise<BroadcastResult> {
  const { id, size } = await inTransaction(app, async (t) => {
    const now = t.clock.now();
    const found = await measureAudience(t.db, call.audience, now);
    const subscriptionId = await judge(t, found?.size ?? 0, found?.firstUserId ?? 0);
    const broadcastId = await insertBroadcast(t.db, {
      ...call.terms,
      ...call.audience,
      subscriptionId,
      audienceEnd: found?.audienceEnd ?? 0,
      expiresAt: addMs(now, call.terms.validHours * HOUR_MS),
      message: call.message,
      createdBy: call.createdBy,
      now,
    });
    await t.jobs.send('promo.offer-broadcast', { broadcastId }, { startAfter: addMs(now, BACKGROUND_AFTER_MS) });
    const { terms, audience } = call;
    t.audit?.note({ resourceId: broadcastId, before: null, after: { ...terms, ...audience, message: call.message } });
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
  // What is left to the background will be made, too: the audience was counted at the start.
  const createdOffers = isComplete ? (after?.createdOffers ?? userIds.length) : size;
  return { createdOffers, userIds, target: call.audience.target, sent: after?.sent ?? 0, failed: after?.failed ?? 0 };
}

/**
 * Makes the offers that a broadcast still lacks, a batch a transaction. Two at once take turns.
 * @returns false when time, or the signal, ended it before
 */
export async function makeAll(
  app: App,
  broadcastId: number,
  options: { untilMs: number; signal?: AbortSignal; onMade?: (userIds: readonly number[]) => void },
): Promise<boolean> {
  for (;;) {
    const { made, isComplete } = await inTransaction(app, (t) => makeSome(t, broadcastId));
    options.onMade?.(made);
    if (isComplete) return true;
    if (performance.now() >= options.untilMs || options.signal?.aborted) return false;
  }
}

async function makeSome(t: App, broadcastId: number): Promise<{ made: number[]; isComplete: boolean }> {
  const broadcast = await lockBroadcast(t.db, broadcastId);
  if (broadcast?.state !== 'making') return { made: [], isComplete: true };
  const now = t.clock.now();
  const made = await makeOffers(t.db, broadcast, { limit: BATCH, hasMessenger: t.ports.messenger.isConfigured(), now });
  if (made.length < BATCH) await endMaking(t, broadcast, now);
  return { made, isComplete: made.length < BATCH };
}

async function endMaking(t: App, { id, wantsMessages }: Broadcast, now: Date): Promise<void> {
  await setBroadcastState(t.db, id, wantsMessages ? 'sending' : 'done', now);
  if (wantsMessages) await t.jobs.send('promo.offer-broadcast', { broadcastId: id });
}

async function waitForMessages(app: App, broadcastId: number): Promise<void> {
  const untilMs = performance.now() + ANSWER_WAIT_MS;
  while (performance.now() < untilMs && (await hasOpenDeliveries(app.db, broadcastId))) await delay(LOOK_EVERY_MS);
}
