import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { endOutage, outageReasonOf, readOutage, recordOutage } from './panel-access.ts';
import { isPanelError } from './ports.ts';
import { MAX_PUSH_ATTEMPTS, tryPush } from './push-subscription.ts';
import { listOfOtherGeneration, listOverduePushes, listWaitingPushes } from './repo.ts';
import { requestProvisioning } from './request-provisioning.ts';

/** Pending for longer than this without a live lease: its job was lost or waits for a late retry. */
const PENDING_MINUTES = 2;
const BATCH = 500;

/**
 * Sends again the pushes that were lost or given up (spec 02 H21, spec 06 17.6): pending ones after 2 minutes, failed ones in
 * growing intervals. While the panel is not configured there is nothing to send. During an outage a single push per round checks whether
 * it is over; then all waiting ones are sent at once (08 P12).
 * @returns how many were sent
 */
export async function reconcileProvisioning(app: App): Promise<number> {
  if (app.ports.panel.configurationError() !== null) return 0;
  if ((await readOutage(app)) !== null) return (await isOutageOver(app)) ? sendAllWaiting(app) : 0;
  const overdue = await listOverduePushes(app.db, {
    now: app.clock.now(),
    pendingMinutes: PENDING_MINUTES,
    maxAttempts: MAX_PUSH_ATTEMPTS,
    limit: BATCH,
  });
  await sendPushes(app, overdue);
  if (overdue.length > 0) app.log.info({ count: overdue.length }, 'provisioning: overdue pushes sent again');
  await linkAgain(app);
  return overdue.length;
}

/**
 * Requests pushes of users whose handle is of the panel's other generation: the panel was replaced in place, and a push finds the user
 * again (spec 10 V1). The version is asked for in each round, as nothing else may call the panel for a while.
 */
async function linkAgain(app: App): Promise<void> {
  const generation = await app.ports.panel.readGeneration().catch((error: unknown) => {
    if (isPanelError(error)) return null;
    throw error;
  });
  if (generation === null) return;
  const subscriptions = await listOfOtherGeneration(app.db, generation, BATCH);
  for (const id of subscriptions) await inTransaction(app, (t) => requestProvisioning(t, id));
  if (subscriptions.length > 0) {
    app.log.info({ count: subscriptions.length, generation }, 'provisioning: the panel was replaced by another version');
  }
}

/** A key can be good for reading alone, therefore a waiting push is tried as well. */
async function isOutageOver(app: App): Promise<boolean> {
  const pinged = await app.ports.panel.ping().then(
    () => null,
    (error: unknown) => error,
  );
  const [first] = pinged === null ? await listWaitingPushes(app.db, { afterId: 0, limit: 1 }) : [];
  const pushed = first === undefined ? null : (await tryPush(app, first)).error;
  const reason = outageReasonOf(pinged ?? pushed);
  if (reason !== null) await recordOutage(app, reason);
  return reason === null;
}

async function sendAllWaiting(app: App): Promise<number> {
  let count = 0;
  let page = await listWaitingPushes(app.db, { afterId: 0, limit: BATCH });
  while (page.length > 0) {
    await sendPushes(app, page);
    count += page.length;
    page = await listWaitingPushes(app.db, { afterId: page.at(-1)!, limit: BATCH });
  }
  // Only now: after a crash in between the next round sends the rest.
  await endOutage(app);
  app.log.info({ count }, 'provisioning: the panel is available again; waiting pushes were sent');
  return count;
}

async function sendPushes(app: App, subscriptionIds: readonly number[]): Promise<void> {
  for (const subscriptionId of subscriptionIds) {
    await app.jobs.send('provisioning.push', { subscriptionId }, { singletonKey: String(subscriptionId) });
  }
}
