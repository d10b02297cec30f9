import type { App } from '../../core/app.ts';
import { MAX_PUSH_ATTEMPTS } from './push-subscription.ts';
import { listOverduePushes } from './repo.ts';

/** Pending for longer than this without a live lease: its job was lost or waits for a late retry. */
const PENDING_MINUTES = 2;
const BATCH = 500;

/**
 * Sends again the pushes that were lost or given up (spec 02 H21, spec 06 17.6): pending ones after 2 minutes, failed ones in
 * growing intervals. While the panel is not configured there is nothing to send.
 * @returns how many were sent
 */
export async function reconcileProvisioning(app: App): Promise<number> {
  if (app.ports.panel.configurationError() !== null) return 0;
  const overdue = await listOverduePushes(app.db, {
    now: app.clock.now(),
    pendingMinutes: PENDING_MINUTES,
    maxAttempts: MAX_PUSH_ATTEMPTS,
    limit: BATCH,
  });
  for (const subscriptionId of overdue) {
    await app.jobs.send('provisioning.push', { subscriptionId }, { singletonKey: String(subscriptionId) });
  }
  if (overdue.length > 0) app.log.info({ count: overdue.length }, 'provisioning: overdue pushes sent again');
  return overdue.length;
}
