import type { TokenActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import type { Changes } from '../../core/changes.ts';
import { DAY_MS } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal } from '../../core/errors.ts';
import { isRowId } from '../../core/row-id.ts';
import { findSquadsByUuid, listSquads } from '../catalog/find-squads.ts';
import { serverNotFound } from '../catalog/servers.ts';
import { userNotFound } from '../identity/errors.ts';
import { requestProvisioning } from '../provisioning/request-provisioning.ts';
import { awaitPush } from '../subscription-state/provision-state.ts';
import { recordDisabledByAdmin } from './channel-rule/repo.ts';
import { forgetStop } from './daily/repo.ts';
import { outOfBounds, subscriptionExists, subscriptionNotFound } from './errors.ts';
import { applyManualChange } from './manual/manual-changes.ts';
import {
  findById,
  insert,
  linkServers,
  list,
  listPurchases,
  lockById,
  lockByUser,
  type SubscriptionFilter,
  type UpdateOptions,
  update,
} from './repo.ts';
import { reactivatedStatus } from './rules/status.ts';
import { extendSubscription, replaceSubscription } from './rules/terms.ts';
import { addTraffic } from './rules/traffic-purchases.ts';
import { trialSquadCandidates } from './rules/trial.ts';
import { autopayDefaults, pricingSettingsOf, subscriptionSettingsOf } from './settings.ts';
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
 * Adds days without charging; the panel is updated after commit (spec 02 H15).
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
 * Raises the device limit without charging, silently up to `MAX_DEVICES_LIMIT`; never lowers it.
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
 * Connects a server; one that is connected already changes nothing. The panel is updated after commit (spec 02 H15).
 * @throws AppError 400 `squad_uuid is required` | 404 for an unknown server (spec 02 H30) or subscription
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
 * Disables the subscription; the row is not deleted, and the panel user is disabled after commit. A top-up does not
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

/** The same; where there is no link yet, the answer waits briefly for it (spec 08 P14, spec 10 V4). Not in a transaction. */
async function changeAndAwaitLink(...[app, id, decide]: Parameters<typeof change>): Promise<Subscription> {
  const saved = await change(app, id, decide);
  if (saved.subscriptionUrl) return saved;
  return (await awaitPush(app, id)) ? ((await findById(app.db, id)) ?? saved) : saved;
}

export const durationRequired = refusal('duration_required', 400, 'duration_days is required for paid subscriptions');

/** What an integration requests; null or absent = the documented default. */
type WebSubscriptionRequest = {
  userId: number;
  isTrial: boolean;
  replaceExisting: boolean;
  /** Which of the two names the request had for the days; a refusal points at it. */
  daysField?: 'duration_days' | 'period_days';
} & Changes<{
  durationDays: number;
  /** GB; 0 = unlimited. */
  trafficLimitGb: number;
  deviceLimit: number;
  squadUuid: string;
  /** Uuids. */
  connectedSquads: readonly string[];
}>;

/**
 * Creates the subscription of a user without charging, or replaces the present one (spec 02 section 3.4). The panel is updated
 * after commit; the answer waits briefly for the link (spec 08 P14), but does not depend on it (spec 02 H14). No events, no notifications.
 * @throws what `createWithoutWaiting` refuses
 */
export async function createWebSubscription(app: App, actor: TokenActor, request: WebSubscriptionRequest): Promise<Subscription> {
  const created = await createWithoutWaiting(app, actor, request);
  return (await awaitPush(app, created.id)) ? ((await findById(app.db, created.id)) ?? created) : created;
}

/**
 * The same in the caller's transaction, if there is one.
 * @throws AppError 404 `User not found` or unknown server (spec 02 H30) | 400 `User already has a subscription` |
 * 400 `duration_days is required for paid subscriptions` | ValidationError 422 for days <= 0 and limits below 0
 */
export function createWithoutWaiting(app: App, _actor: TokenActor, request: WebSubscriptionRequest): Promise<Subscription> {
  checkBounds(request);
  return inTransaction(app, async (t) => {
    const locked = isRowId(request.userId) ? await lockByUser(t.db, request.userId) : null;
    if (!locked) throw userNotFound();
    const { subscription } = locked;
    if (subscription && !request.replaceExisting) throw subscriptionExists();
    const now = t.clock.now();
    const squads = await squadsFor(t, request, subscription);
    const fields = replaceSubscription(
      { ...limitsFor(t, request), isTrial: request.isTrial, squads },
      squads.length === 0 && !request.isTrial ? await listSquads(t) : [],
      now,
    );
    const saved = subscription
      ? await update(t.db, subscription.id, fields, { now, dropsPurchases: true, forgetsNotices: true })
      : await insert(t.db, request.userId, { ...fields, ...autopayDefaults(t) }, now);
    await linkServers(t.db, saved.id, now);
    await requestProvisioning(t, saved.id, { resetTraffic: true });
    return saved;
  });
}

function checkBounds(request: WebSubscriptionRequest): void {
  const { durationDays, daysField = 'duration_days', trafficLimitGb, deviceLimit } = request;
  if (durationDays != null && durationDays <= 0) throw outOfBounds(daysField, durationDays, { gt: 0 });
  if (durationDays != null && durationDays > MAX_DAYS) throw outOfBounds(daysField, durationDays, { le: MAX_DAYS });
  if (trafficLimitGb != null && trafficLimitGb < 0) throw outOfBounds('traffic_limit_gb', trafficLimitGb, { ge: 0 });
  if (trafficLimitGb != null && trafficLimitGb > MAX_TRAFFIC_GB)
    throw outOfBounds('traffic_limit_gb', trafficLimitGb, { le: MAX_TRAFFIC_GB });
  if (deviceLimit != null && deviceLimit < 0) throw outOfBounds('device_limit', deviceLimit, { ge: 0 });
  if (deviceLimit != null && deviceLimit > MAX_DEVICES) throw outOfBounds('device_limit', deviceLimit, { le: MAX_DEVICES });
}

function limitsFor(t: App, request: WebSubscriptionRequest): { days: number; trafficLimitGb: number; deviceLimit: number } {
  const { settings } = t;
  const forced = settings.get('DEVICES_SELECTION_ENABLED') ? 0 : (settings.get('DEVICES_SELECTION_DISABLED_AMOUNT') ?? 0);
  const devices = (standard: number) => request.deviceLimit ?? (forced > 0 ? forced : standard);
  if (request.isTrial) {
    return {
      days: request.durationDays ?? settings.get('TRIAL_DURATION_DAYS'),
      trafficLimitGb: request.trafficLimitGb || settings.get('TRIAL_TRAFFIC_LIMIT_GB'),
      deviceLimit: devices(settings.get('TRIAL_DEVICE_LIMIT')),
    };
  }
  if (request.durationDays == null) throw durationRequired();
  return {
    days: request.durationDays,
    trafficLimitGb: request.trafficLimitGb ?? settings.get('DEFAULT_TRAFFIC_LIMIT_GB'),
    deviceLimit: devices(settings.get('DEFAULT_DEVICE_LIMIT')),
  };
}

/**
 * The requested squads, all of which must exist. A trial without any keeps the old ones, else gets one at random.
 */
async function squadsFor(t: App, request: WebSubscriptionRequest, replaced: Subscription | null): Promise<string[]> {
  const named = request.isTrial || !request.connectedSquads?.length ? [request.squadUuid] : request.connectedSquads;
  const requested = [...new Set(named.filter((uuid): uuid is string => uuid != null && uuid !== ''))];
  if (requested.length > 0) {
    if ((await findSquadsByUuid(t, requested)).length < requested.length) throw serverNotFound();
    return requested;
  }
  if (!request.isTrial) return [];
  if (replaced && replaced.connectedSquads.length > 0) return replaced.connectedSquads;
  const candidates = trialSquadCandidates(await listSquads(t));
  const drawn = candidates.length > 0 ? candidates[t.random.int(0, candidates.length)] : undefined;
  return drawn ? [drawn.squadUuid] : [];
}

/**
 * Adds days to a locked subscription of any status, without charging (spec 04 section 7.1): the new end is `days` after the old one, or
 * after now when that has passed; a trial becomes a full subscription and a stopped one active. In the caller's transaction; the panel is
 * updated after commit. The caller records that the user has had a paid subscription.
 * @param days above 0
 */
export async function grantDays(t: App, subscription: Subscription, days: number): Promise<Subscription> {
  const { changes, ...options } = freeExtension(t, subscription, days);
  // An order that was never paid has no days yet; these are its first.
  const started: SubscriptionChanges = subscription.status === 'pending' ? { status: 'active' } : {};
  return applyManualChange(t, subscription.id, {
    ...options,
    changes: { ...changes, ...started, isTrial: false },
    panelResets: { resetTraffic: t.settings.get('RESET_TRAFFIC_ON_PAYMENT') },
  });
}

/**
 * What an extension by days without charging changes (spec 02 section 3.1). Not a paid extension, which would start a trial again and drop
 * its remaining days. The tariff stays, so that it does not matter whether it is a daily one.
 * @param days above 0
 */
export function freeExtension(app: App, subscription: Subscription, days: number) {
  const { changes, dropsPurchases } = extendSubscription(
    subscription,
    { days, isPaid: false },
    {
      now: app.clock.now(),
      settings: subscriptionSettingsOf(app),
      pricing: pricingSettingsOf(app),
      isCurrentTariffDaily: false,
    },
  );
  return { changes, dropsPurchases, forgetsNotices: true };
}

/**
 * Highest values that may be set without a purchase. The contract names none; these keep dates, bytes and counts within what the database
 * and the panel can store.
 */
const MAX_DAYS = 36_500;
export const MAX_TRAFFIC_GB = 1_000_000;
export const MAX_DEVICES = 10_000;

/**
 * @param field of the request, and `input` its value, for the refusal
 * @throws ValidationError 422 when a subscription would end more than a hundred years from now
 */
export function checkEnd(field: string, input: unknown, endDate: Date, now: Date): void {
  if (endDate.getTime() - now.getTime() > MAX_DAYS * DAY_MS) throw outOfBounds(field, input, { le: MAX_DAYS });
}
