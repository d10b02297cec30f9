import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { effectiveSquadsOf, findTariff } from '../../catalog/find-tariff.ts';
import { applyManualChange, lockUserSubscription } from '../../subscriptions/manual/manual-changes.ts';
import type { Subscription } from '../../subscriptions/types.ts';
import { type EndedAccess, endAccess, endDueDiscounts, endDueOffers, listAccessEnds, listKeptSquads } from './expiry-repo.ts';
import { insertLog } from './log-repo.ts';
import { TEST_ACCESS } from './rules.ts';

/** Rows a transaction: short enough for the embedded database to answer others in between. */
const BATCH = 500;
const USERS_AT_A_TIME = 100;

/**
 * Ends open offers, personal discounts and temporary servers whose time is over (job `promo.expire`, spec 04 section 15). A step that
 * fails does not prevent the next one. May run any number of times, and twice at once.
 */
export async function expirePromo(app: App): Promise<{ offers: number; discounts: number; accesses: number }> {
  const failures: unknown[] = [];
  const step = (work: Promise<number>) =>
    work.catch((error: unknown) => {
      failures.push(error);
      return 0;
    });
  const ended = {
    offers: await step(inBatches(app, endDueOffers)),
    discounts: await step(inBatches(app, endDueDiscounts)),
    accesses: await step(endAccesses(app)),
  };
  if (failures.length > 0) throw failures[0];
  return ended;
}

async function inBatches(app: App, end: typeof endDueOffers): Promise<number> {
  for (let total = 0; ; ) {
    const ended = await inTransaction(app, (t) => end(t.db, t.clock.now(), BATCH));
    total += ended;
    if (ended < BATCH) return total;
  }
}

async function endAccesses(app: App): Promise<number> {
  let total = 0;
  for (let afterUserId = 0; ; ) {
    const owners = await listAccessEnds(app.db, app.clock.now(), afterUserId, USERS_AT_A_TIME);
    for (const { userId } of owners) total += await inTransaction(app, (t) => takeServersBack(t, userId));
    const last = owners.at(-1);
    if (!last || owners.length < USERS_AT_A_TIME) return total;
    afterUserId = last.userId;
  }
}

/** Ends the due accesses of one subscription, and takes away what only they gave; the panel follows after commit, with its retries. */
async function takeServersBack(t: App, userId: number): Promise<number> {
  const subscription = await lockUserSubscription(t, userId);
  if (!subscription) return 0;
  const ended = await endAccess(t.db, subscription.id, t.clock.now());
  const gone = await squadsToTake(t, subscription, ended);
  if (gone.size > 0) {
    const connectedSquads = subscription.connectedSquads.filter((uuid) => !gone.has(uuid));
    await applyManualChange(t, subscription.id, { changes: { connectedSquads } });
  }
  for (const access of ended) await logEnd(t, userId, access);
  return ended.length;
}

/** Connected by the access, not lent by another one, and neither part of the tariff nor bought meanwhile (spec 04 section 15). */
async function squadsToTake(t: App, subscription: Subscription, ended: readonly EndedAccess[]): Promise<Set<string>> {
  const connected = new Set(subscription.connectedSquads);
  const lent = ended.filter((access) => !access.wasAlreadyConnected && connected.has(access.squadUuid));
  if (lent.length === 0) return new Set();
  const squads = [...new Set(lent.map((access) => access.squadUuid))];
  const tariff = subscription.tariffId === null ? null : await findTariff(t, subscription.tariffId);
  const own = new Set([
    ...(await listKeptSquads(t.db, subscription.id, squads)),
    ...(tariff ? await effectiveSquadsOf(t, tariff) : []),
  ]);
  return new Set(squads.filter((uuid) => !own.has(uuid)));
}

async function logEnd(t: App, userId: number, access: EndedAccess): Promise<void> {
  await insertLog(t.db, {
    userId,
    offerId: access.offerId,
    action: 'disabled',
    source: access.notificationType,
    percent: null,
    effectType: TEST_ACCESS,
    details: { reason: 'test_access_expired', squad_uuid: access.squadUuid },
    now: t.clock.now(),
  });
}
