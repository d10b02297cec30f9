import type { TokenActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal } from '../../core/errors.ts';
import { isRowId } from '../../core/row-id.ts';
import { findSquadsByUuid } from '../catalog/find-squads.ts';
import { serverNotFound } from '../catalog/servers/errors.ts';
import { requestProvisioning } from '../provisioning/request-provisioning.ts';
import { awaitPush } from '../subscription-state/await-push.ts';
import { checkEnd, MAX_DAYS, MAX_DEVICES, MAX_TRAFFIC_GB } from './bounds.ts';
import { recordDisabledByAdmin } from './channel-rule/repo.ts';
import { forgetStop } from './daily/repo.ts';
import { outOfBounds, subscriptionNotFound } from './errors.ts';
import { freeExtension } from './grant-days.ts';
import {
  findById,
  linkServers,
  list,
  listPurchases,
  lockById,
  type SubscriptionFilter,
  type UpdateOptions,
  update,
} from './repo.ts';
import { reactivatedStatus } from './rules/status.ts';
import { addTraffic } from './rules/traffic-purchases.ts';
import type { Subscription, SubscriptionChanges } from './types.ts';

export const trafficUnlimited = refusal('traffic_unlimited', 400, 'Cannot add traffic to unlimited subscription');
export const squadUuidRequired = refusal('squad_uuid_required', 400, 'squad_uuid is required');

/** Newest first (spec 02 section 7). A filter that is null or absent, and a `userId` of 0, filters nothing. */
export function listSubscriptions(app: App, filter: SubscriptionFilter): Promise<Subscription[]> {
  return list(app.db, { ...filter, userId: filter.userId || null });
}

/** @throws AppError 404 `Subscription not found` */
export async function findSubscription(app: App, id: number): Promise<Subscription> {
  const subscription = isRowId(id) ? await findById(app.db, id) : null;
  if (!subscription) throw subscriptionNotFound();
  return subscription;
}

/**
 * Adds days without charging (spec 02 section 7); the panel is updated after commit (H15).
 * @throws AppError 404 `Subscription not found` | ValidationError 422 beyond 36,500 days ahead
 */
export function extendByDays(app: App, _actor: TokenActor, id: number, days: number): Promise<Subscription> {
  if (days > MAX_DAYS) throw outOfBounds('days', days, { le: MAX_DAYS });
  return changeAndAwaitLink(app, id, async (t, subscription) => {
    const extension = freeExtension(t, subscription, days);
    checkEnd('days', days, extension.changes.endDate ?? subscription.endDate, t.clock.now());
    return extension;
  });
}

/**
 * Adds a traffic package for 30 days without charging (spec 02 sections 3.3 and 7).
 * @param gb above 0
 * @throws AppError 404 | 400 on an unlimited subscription (H25) | ValidationError 422
 */
export function addTrafficPackage(app: App, _actor: TokenActor, id: number, gb: number): Promise<Subscription> {
  if (gb > MAX_TRAFFIC_GB) throw outOfBounds('gb', gb, { le: MAX_TRAFFIC_GB });
  return changeAndAwaitLink(app, id, async (t, subscription) => {
    const now = t.clock.now();
    const added = addTraffic(subscription, await listPurchases(t.db, id), gb, now);
    if (!added) throw trafficUnlimited();
    if (subscription.trafficLimitGb + gb > MAX_TRAFFIC_GB) throw outOfBounds('gb', gb, { le: MAX_TRAFFIC_GB });
    return { changes: { ...added.changes, status: reactivatedStatus(subscription, now) }, purchase: added.purchase };
  });
}

/**
 * Raises the device limit without charging, silently up to `MAX_DEVICES_LIMIT` (spec 02 section 7); never lowers it.
 * @param devices above 0
 */
export function addDevices(app: App, _actor: TokenActor, id: number, devices: number): Promise<Subscription> {
  return changeAndAwaitLink(app, id, async (t, subscription) => {
    const cap = t.settings.get('MAX_DEVICES_LIMIT') || MAX_DEVICES;
    const deviceLimit = Math.max(subscription.deviceLimit, Math.min(cap, subscription.deviceLimit + devices));
    return { changes: { deviceLimit, status: reactivatedStatus(subscription, t.clock.now()) } };
  });
}

/**
 * Connects a server; one that is connected already changes nothing (spec 02 section 7). The panel is updated after commit (H15).
 * @throws AppError 400 `squad_uuid is required` | 404 for an unknown server (H30) or subscription
 */
export function addSquad(app: App, _actor: TokenActor, id: number, squadUuid: string): Promise<Subscription> {
  if (squadUuid === '') throw squadUuidRequired();
  return changeAndAwaitLink(app, id, async (t, subscription) => {
    if (subscription.connectedSquads.includes(squadUuid)) return { changes: {} };
    if ((await findSquadsByUuid(t, [squadUuid])).length === 0) throw serverNotFound();
    return { changes: { connectedSquads: [...subscription.connectedSquads, squadUuid] } };
  });
}

/** Disconnects a server if it is connected. The panel is updated after commit (spec 02 H15). */
export function removeSquad(app: App, _actor: TokenActor, id: number, squadUuid: string): Promise<Subscription> {
  return changeAndAwaitLink(app, id, async (_t, subscription) => ({
    changes: { connectedSquads: subscription.connectedSquads.filter((uuid) => uuid !== squadUuid) },
  }));
}

/**
 * Disables the subscription; the row is not deleted, and the panel user is disabled after commit (spec 02 section 7). A top-up does not
 * enable it again, even if the daily service had stopped it for insufficient funds before.
 */
export function disableSubscription(app: App, _actor: TokenActor, id: number): Promise<Subscription> {
  return change(app, id, async (t) => {
    await forgetStop(t.db, id);
    return { changes: { status: 'disabled' } };
  });
}

interface Decision extends Omit<UpdateOptions, 'now'> {
  changes: SubscriptionChanges;
}

/**
 * Changes one subscription under the locks of its user and itself. The panel is updated by a job after commit: the answer never depends
 * on the panel (spec 02 H14).
 */
async function change(
  app: App,
  id: number,
  decide: (t: App, subscription: Subscription) => Promise<Decision>,
): Promise<Subscription> {
  return inTransaction(app, async (t) => {
    const subscription = isRowId(id) ? await lockById(t.db, id) : null;
    if (!subscription) throw subscriptionNotFound();
    const { changes, ...options } = await decide(t, subscription);
    const saved = await update(t.db, id, changes, { ...options, now: t.clock.now() });
    if (changes.status === 'disabled') await recordDisabledByAdmin(t.db, id);
    if (changes.connectedSquads) await linkServers(t.db, id, t.clock.now());
    await requestProvisioning(t, id);
    return saved;
  });
}

/** The same; where there is no link yet, the answer waits a moment for it (spec 08 P14, spec 10 V4). Not in a transaction. */
async function changeAndAwaitLink(...[app, id, decide]: Parameters<typeof change>): Promise<Subscription> {
  const saved = await change(app, id, decide);
  if (saved.subscriptionUrl) return saved;
  return (await awaitPush(app, id)) ? ((await findById(app.db, id)) ?? saved) : saved;
}
