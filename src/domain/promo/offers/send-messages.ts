import type { App } from '../../../core/app.ts';
import { addMs, MINUTE_MS } from '../../../core/clock.ts';
import type { RunningJob } from '../../../core/jobs/define-job.ts';
import { MessengerError } from '../../messaging/ports.ts';
import { makeAll, messageRenderer, type RenderedMessage } from './broadcast-offers.ts';
import {
  abandonDeliveries,
  type ClaimedDelivery,
  claimDeliveries,
  findBroadcast,
  hasOpenDeliveries,
  type SettledDelivery,
  setBroadcastState,
  settleDeliveries,
} from './broadcast-repo.ts';

/** Messages claimed at a time, and how many of them are sent in parallel; the messenger's adapter limits the rate. */
const BATCH = 50;
const PARALLEL = 20;
/** Time limit of one run; the next job continues, so that a stopping process loses nothing and other jobs can run. */
const RUN_MS = 5 * MINUTE_MS;
/** A claimed message without result for this long belongs to a crashed run: longer than a run and its time-outs. */
const ABANDONED_MS = 10 * MINUTE_MS;

/**
 * Makes the remaining offers of a broadcast, then sends the messages, each at most once (job `promo.offer-broadcast`, spec 04
 * section 9.6). May run any number of times, also concurrently.
 * @throws Error while the messenger accepts no messages: the queue retries
 */
export async function continueBroadcast(
  app: App,
  job: Pick<RunningJob<{ broadcastId: number }>, 'data' | 'signal'>,
): Promise<void> {
  const { broadcastId } = job.data;
  const untilMs = performance.now() + RUN_MS;
  const isMade = await makeAll(app, broadcastId, { untilMs, signal: job.signal });
  const isSent = isMade && (await sendMessages(app, broadcastId, { untilMs, signal: job.signal }));
  if (isSent) return;
  await app.jobs.send('promo.offer-broadcast', { broadcastId });
}

/** @returns false when the time limit or the signal stopped it */
async function sendMessages(app: App, broadcastId: number, limits: { untilMs: number; signal: AbortSignal }): Promise<boolean> {
  const broadcast = await findBroadcast(app.db, broadcastId);
  if (broadcast?.state !== 'sending') return true;
  const now = app.clock.now();
  await abandonDeliveries(app.db, broadcastId, addMs(now, -ABANDONED_MS), now);
  const render = messageRenderer(app, broadcast, broadcast);
  for (;;) {
    if (performance.now() >= limits.untilMs || limits.signal.aborted) return false;
    const batch = await claimDeliveries(app.db, broadcastId, BATCH, app.clock.now());
    if (batch.length === 0) break;
    const settled = await sendBatch(app, batch, render);
    await settleDeliveries(app.db, broadcastId, settled, app.clock.now());
    if (settled.some(({ state }) => state === 'queued')) throw new Error('the messenger does not accept messages at present');
  }
  await finish(app, broadcastId);
  return true;
}

/** Another run may be sending messages; if it crashes, a later job must mark them as failed. */
async function finish(app: App, broadcastId: number): Promise<void> {
  if (await hasOpenDeliveries(app.db, broadcastId)) {
    const startAfter = addMs(app.clock.now(), ABANDONED_MS + MINUTE_MS);
    await app.jobs.send('promo.offer-broadcast', { broadcastId }, { startAfter });
  } else {
    await setBroadcastState(app.db, broadcastId, 'done', app.clock.now());
  }
}

async function sendBatch(
  app: App,
  batch: readonly ClaimedDelivery[],
  render: (language: string | null) => Promise<RenderedMessage>,
): Promise<SettledDelivery[]> {
  const settled: SettledDelivery[] = [];
  const queue = batch.values();
  const work = async (): Promise<void> => {
    for (const delivery of queue) {
      settled.push({ offerId: delivery.offerId, state: await sendOne(app, delivery, render) });
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return settled;
}

async function sendOne(
  app: App,
  { offerId, messengerId, language, isWanted }: ClaimedDelivery,
  render: (language: string | null) => Promise<RenderedMessage>,
): Promise<SettledDelivery['state']> {
  if (!isWanted) return 'skipped';
  if (messengerId === null) return 'failed';
  const { html, buttonsFor } = await render(language);
  try {
    await app.ports.messenger.sendMessage(messengerId, html, { buttons: buttonsFor(offerId) });
    return 'sent';
  } catch (error) {
    const failure = error instanceof MessengerError ? error.failure : null;
    const isSurelyUnsent = failure?.kind === 'rate_limited' || (failure?.kind === 'unavailable' && !failure.mayHaveArrived);
    if (isSurelyUnsent) return 'queued';
    if (failure?.kind !== 'blocked' && failure?.kind !== 'chat_not_found') {
      app.log.warn({ err: error, offerId }, 'a message about an offer could not be delivered');
    }
    return 'failed';
  }
}
