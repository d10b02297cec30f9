import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { effectiveSquadsOf, findTariff } from '../../catalog/find-tariff.ts';
import { applyManualChange, lockUserSubscription } from '../../subscriptions/manual/manual-changes.ts';
import type { Subscription } from '../../subscriptions/types.ts';
import {
  clearDueDiscounts,
  deactivateDueAccess,
  deactivateDueOffers,
  type ExpiredAccess,
  listRetainedSquads,
  listUsersWithDueAccess,
} from './expiry-repo.ts';
import { insertLog } from './repo.ts';
import { TEST_ACCESS } from './rules.ts';

/** Rows per transaction; small enough that the embedded database can answer other requests in between. */
const BATCH = 500;
const USERS_AT_A_TIME = 100;

/**
 * Ends open offers, personal discounts and temporary servers whose time is over (job `promo.expire`, spec 04 section 15). A step that
 * fails does not prevent the next one. May run any number of times, also concurrently.
 */
export async function expirePromo(app: App): Promise<{ offers: number; discounts: number; accesses: number }> {
  const failures: unknown[] = [];
  const step = (work: Promise<number>) =>
    work.catch((error: unknown) => {
      failures.push(error);
      return 0;
    });
  const ended = {
    offers: await step(inBatches(app, deactivateDueOffers)),
    discounts: await step(inBatches(app, clearDueDiscounts)),
    accesses: await step(expireAccess(app)),
  };
  if (failures.length > 0) throw failures[0];
  return ended;
}

async function inBatches(app: App, expire: typeof deactivateDueOffers): Promise<number> {
  for (let total = 0; ; ) {
    const ended = await inTransaction(app, (t) => expire(t.db, t.clock.now(), BATCH));
    total += ended;
    if (ended < BATCH) return total;
  }
}

async function expireAccess(app: App): Promise<number> {
  let total = 0;
  for (let afterUserId = 0; ; ) {
    const owners = await listUsersWithDueAccess(app.db, app.clock.now(), afterUserId, USERS_AT_A_TIME);
    for (const { userId } of owners) total += await inTransaction(app, (t) => removeTemporaryServers(t, userId));
    const last = owners.at(-1);
    if (!last || owners.length < USERS_AT_A_TIME) return total;
    afterUserId = last.userId;
  }
}

/** Deactivates due access of one subscription and removes its squads; the panel is updated after the commit, with retries. */
async function removeTemporaryServers(t: App, userId: number): Promise<number> {
  const subscription = await lockUserSubscription(t, userId);
  if (!subscription) return 0;
  const ended = await deactivateDueAccess(t.db, subscription.id, t.clock.now());
  const removed = await squadsToRemove(t, subscription, ended);
  if (removed.size > 0) {
    const connectedSquads = subscription.connectedSquads.filter((uuid) => !removed.has(uuid));
    await applyManualChange(t, subscription.id, { changes: { connectedSquads } });
  }
  for (const access of ended) await logExpiry(t, userId, access);
  return ended.length;
}

/** Connected by expired access only, and neither part of the tariff nor bought since. */
async function squadsToRemove(t: App, subscription: Subscription, ended: readonly ExpiredAccess[]): Promise<Set<string>> {
  const connected = new Set(subscription.connectedSquads);
  const temporary = ended.filter((access) => !access.wasAlreadyConnected && connected.has(access.squadUuid));
  if (temporary.length === 0) return new Set();
  const squads = [...new Set(temporary.map((access) => access.squadUuid))];
  const tariff = subscription.tariffId === null ? null : await findTariff(t, subscription.tariffId);
  const retained = new Set([
    ...(await listRetainedSquads(t.db, subscription.id, squads)),
    ...(tariff ? await effectiveSquadsOf(t, tariff) : []),
  ]);
  return new Set(squads.filter((uuid) => !retained.has(uuid)));
}

async function logExpiry(t: App, userId: number, access: ExpiredAccess): Promise<void> {
  await insertLog(t.db, {
    userId,
    offerId: access.offerId,
    action: 'disabled',
    source: access.notificationType,
    percent: null,
    effectType: TEST_ACCESS,
    details: { reason: 'test_access_expired', squad_uuid: access.squadUuid },
    createdAt: t.clock.now(),
  });
}
