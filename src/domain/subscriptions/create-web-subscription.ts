import type { TokenActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import type { Changes } from '../../core/changes.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal } from '../../core/errors.ts';
import { isRowId } from '../../core/row-id.ts';
import { findSquadsByUuid, listSquads } from '../catalog/find-squads.ts';
import { serverNotFound } from '../catalog/servers/errors.ts';
import { userNotFound } from '../identity/errors.ts';
import { requestProvisioning } from '../provisioning/request-provisioning.ts';
import { awaitPush } from '../subscription-state/await-push.ts';
import { autopayDefaults } from './autopay-defaults.ts';
import { MAX_DAYS, MAX_DEVICES, MAX_TRAFFIC_GB } from './bounds.ts';
import { outOfBounds, subscriptionExists } from './errors.ts';
import { findById, insert, linkServers, lockByUser, update } from './repo.ts';
import { replaceSubscription } from './rules/replace.ts';
import { trialSquadCandidates } from './rules/trial.ts';
import type { Subscription } from './types.ts';

export const durationRequired = refusal('duration_required', 400, 'duration_days is required for paid subscriptions');

/** What an integration requests; null or absent = the documented default. */
export type WebSubscriptionRequest = {
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
 * Creates the subscription of a user without charging (spec 02 section 7), or replaces the present one (section 3.4). The panel is updated
 * after commit; the answer waits a moment for the link (spec 08 P14), but does not depend on it (spec 02 H14). No events, no notifications.
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
 * The requested squads, all of which must exist. A trial without any keeps the old ones, else gets one at random (spec 02 section 4.1).
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
