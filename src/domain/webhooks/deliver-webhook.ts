import type { App } from '../../core/app.ts';
import { addMs, MINUTE_MS } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import type { Slot } from '../../core/jobs/attempt-slots.ts';
import { adminChat } from '../messaging/admin-chat.ts';
import { sendMessage } from '../messaging/send-message.ts';
import { htmlText, shorten, text } from '../messaging/texts.ts';
import {
  abandonDelivery,
  claimDelivery,
  countAttemptOnly,
  countFailure,
  countSuccess,
  type DeliveryClaim,
  findWaitingDelivery,
  finishDelivery,
  insertAttempt,
  lockClaimed,
  lockWebhook,
} from './delivery-repo.ts';
import { type AttemptOutcome, classifyAnswer, DISABLE_AFTER_MS, deliveryHeaders, retryDelayMs } from './rules.ts';

/** Longer than any attempt takes (10 s); after it the delivery of a crashed worker may be claimed again. */
const CLAIM_MS = MINUTE_MS;

export interface DeliveryRequest {
  deliveryId: number;
  /** Set for a replay by hand: the number of the last attempt at the time of the request. */
  afterAttempt?: number;
}

/**
 * Makes one attempt of a delivery (spec 06 section 3; spec 00, Outside effects). Called twice for the same attempt, in parallel or
 * one after the other, it sends once. A scheduled attempt that fails sends the job of the next one. A replay by hand does not, and an
 * earlier success stays a success.
 * @param measure runs the request to the receiver
 */
export async function deliverWebhook(
  app: App,
  request: DeliveryRequest,
  measure: Slot['measure'] = (send) => send(),
): Promise<void> {
  const now = app.clock.now();
  const claim = await claimDelivery(app.db, {
    deliveryId: request.deliveryId,
    afterAttempt: request.afterAttempt ?? null,
    now,
    claimedUntil: addMs(now, CLAIM_MS),
  });
  if (claim === null) return postponeJob(app, request);
  const isReplay = request.afterAttempt !== undefined;
  if (!claim.isActive && !isReplay) return abandonDelivery(app.db, claim, 'Webhook is disabled');
  const payload = claim.payload as Record<string, unknown>;
  const body = JSON.stringify(claim.hasClientWords ? app.ports.webhooks.inClientWords(payload) : payload);
  const startedAt = performance.now();
  const headers = deliveryHeaders({ ...claim, body, now: app.clock.now() });
  const answer = await measure(() => app.ports.webhooks.send({ url: claim.url, headers, body }));
  const durationMs = Math.round(performance.now() - startedAt);
  const outcome = classifyAnswer(answer, app.clock.now());
  await inTransaction(app, (t) => recordAttempt(t, claim, outcome, { durationMs, isReplay }));
}

/** The job came early, or another worker sends: it is sent again, because that worker may crash and its delivery would be lost. */
async function postponeJob(app: App, request: DeliveryRequest): Promise<void> {
  const delivery = await findWaitingDelivery(app.db, request.deliveryId);
  if (delivery === null) return;
  const now = app.clock.now();
  const isReplayDone = request.afterAttempt !== undefined && delivery.attemptNumber !== request.afterAttempt;
  if (isReplayDone) return;
  const scheduled = request.afterAttempt === undefined && delivery.status === 'failed' ? delivery.nextRetryAt : null;
  const claimed = delivery.claimedUntil !== null && delivery.claimedUntil > now ? delivery.claimedUntil : null;
  const startAfter = claimed ?? scheduled;
  if (startAfter !== null) await app.jobs.send('webhooks.deliver', { ...request }, { startAfter });
}

interface AttemptFacts {
  durationMs: number;
  isReplay: boolean;
}

async function recordAttempt(t: App, claim: DeliveryClaim, outcome: AttemptOutcome, facts: AttemptFacts): Promise<void> {
  const now = t.clock.now();
  const attemptNumber = claim.status === 'pending' ? claim.attemptNumber : claim.attemptNumber + 1;
  await lockWebhook(t.db, claim.webhookId);
  if (!(await lockClaimed(t.db, claim))) {
    t.log.warn(
      { deliveryId: claim.deliveryId },
      'a webhook attempt ended after its claim; another worker has claimed the delivery',
    );
    return;
  }
  if (outcome.isDelivered) await recordSuccess(t, claim, outcome, attemptNumber);
  else await recordFailure(t, claim, outcome, attemptNumber, facts.isReplay);
  const { responseStatus, responseBody, errorMessage } = outcome;
  const answer = { responseStatus, responseBody, errorMessage, durationMs: facts.durationMs };
  await insertAttempt(t.db, { deliveryId: claim.deliveryId, attemptNumber, ...answer, createdAt: now });
}

async function recordSuccess(t: App, claim: DeliveryClaim, outcome: AttemptOutcome, attemptNumber: number): Promise<void> {
  const now = t.clock.now();
  const { responseStatus, responseBody } = outcome;
  const result = { responseStatus, responseBody, errorMessage: null, attemptNumber, deliveredAt: now, nextRetryAt: null };
  await finishDelivery(t.db, claim.deliveryId, { status: 'success', ...result });
  await countSuccess(t.db, claim.webhookId, claim.status !== 'success', now);
}

async function recordFailure(
  t: App,
  claim: DeliveryClaim,
  outcome: AttemptOutcome,
  attemptNumber: number,
  isReplay: boolean,
): Promise<void> {
  const now = t.clock.now();
  const webhook = await countFailure(t.db, {
    webhookId: claim.webhookId,
    addFailure: claim.status === 'pending',
    isGone: outcome.isGone,
    now,
    disableBefore: addMs(now, -DISABLE_AFTER_MS),
  });
  if (webhook.wasActive && !webhook.isActive) {
    t.log.warn(
      { webhookId: claim.webhookId, isGone: outcome.isGone },
      'a webhook was disabled because its receiver accepts no events',
    );
    await notifyDisabled(t, claim.webhookId, webhook.name, outcome.isGone);
  }
  if (claim.status === 'success') return countAttemptOnly(t.db, claim.deliveryId, attemptNumber);
  const nextRetryAt = webhook.isActive ? nextAttemptAt(t, claim, outcome, attemptNumber, isReplay) : null;
  const { responseStatus, responseBody, errorMessage } = outcome;
  const result = { responseStatus, responseBody, errorMessage, attemptNumber, deliveredAt: null, nextRetryAt };
  await finishDelivery(t.db, claim.deliveryId, { status: 'failed', ...result });
  if (nextRetryAt !== null && !isReplay) {
    await t.jobs.send('webhooks.deliver', { deliveryId: claim.deliveryId }, { startAfter: nextRetryAt });
  }
}

/** A replay does not change the schedule: the next scheduled attempt has its job already. */
function nextAttemptAt(
  t: App,
  claim: DeliveryClaim,
  outcome: AttemptOutcome,
  attemptNumber: number,
  isReplay: boolean,
): Date | null {
  if (isReplay) return claim.nextRetryAt;
  const delayMs = outcome.isFinal ? null : retryDelayMs(attemptNumber, outcome.retryAfterMs, t.random);
  return delayMs === null ? null : addMs(t.clock.now(), delayMs);
}

/**
 * Notifies the administrators' chat, topic of errors, that a webhook was disabled by its failures; in the transaction that disables it (spec
 * 06 section 14). @param isGone the receiver answered 410; else it has failed for days
 */
async function notifyDisabled(t: App, webhookId: number, name: string, isGone: boolean): Promise<void> {
  const chat = adminChat(t, 'ADMIN_NOTIFICATIONS_ERRORS_TOPIC_ID');
  if (chat === null) return;
  const language = t.settings.get('DEFAULT_LANGUAGE');
  const reason = text(language, isGone ? 'messages.webhook_gone' : 'messages.webhook_failing');
  const html = htmlText(language, 'messages.webhook_disabled', { webhook_id: webhookId, name: shorten(name, 100), reason });
  await sendMessage(t, { ...chat, html });
}
