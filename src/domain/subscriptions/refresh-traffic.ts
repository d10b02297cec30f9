import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { addMs, SECOND_MS } from '../../core/clock.ts';
import { refusal } from '../../core/errors.ts';
import { drop, peek, put, putIfAbsent } from '../../core/short-lived.ts';
import { findUserById } from '../identity/find-user.ts';
import { isPanelError, type PanelUser } from '../provisioning/ports.ts';
import { requireBuyerDetails } from './purchase/insufficient-funds.ts';
import { storeUsedTraffic } from './repo.ts';
import { percentUsed } from './rules/view.ts';
import type { Subscription } from './types.ts';

export const noSubscriptionToRefresh = refusal('no_subscription', 404, 'No active subscription');
export const rateLimitedRefusal = refusal('rate_limited', 429, 'Rate limited. Try again in 60 seconds.');

const WINDOW_SECONDS = 60;
const GB = 1024 ** 3;
/** Smaller differences are not stored; GB. */
const NEGLIGIBLE_GB = 0.01;

/** Traffic of the own subscription: bytes, GB with two decimals, percent with one (at most 100, 0 when unlimited). */
interface TrafficUsage {
  trafficUsedBytes: number;
  trafficUsedGb: number;
  trafficLimitBytes: number;
  trafficLimitGb: number;
  trafficUsedPercent: number;
  isUnlimited: boolean;
  /** Since the panel user was created; absent when the panel gave no answer. */
  lifetimeUsedBytes?: number;
  lifetimeUsedGb?: number;
}

export type RefreshedTraffic =
  | ({ cached: false; source: 'vpnpanel' | 'database' } & TrafficUsage)
  | ({ cached: true; rateLimited: true; retryAfterSeconds: number } & TrafficUsage);

/**
 * Reads the used traffic from the panel and stores it, once a minute and user on all instances together; within the minute the last
 * values are returned (spec 02 section 5.14, H29). A panel that does not answer leaves the stored values, which are not cached.
 * @throws AppError 404 'No active subscription' | 429 while limited with nothing cached
 */
export async function refreshTraffic(app: App, actor: UserActor): Promise<RefreshedTraffic> {
  const { details } = await requireBuyerDetails(app, actor);
  if (!details) throw noSubscriptionToRefresh();
  const windowKey = `traffic_refresh:${actor.userId}`;
  const valuesKey = `traffic_refreshed:${actor.userId}`;
  const now = app.clock.now();
  const window = { endsAt: addMs(now, WINDOW_SECONDS * SECOND_MS).toISOString() };
  if (!(await putIfAbsent(app, windowKey, window, WINDOW_SECONDS))) {
    const [open, known] = await Promise.all([peek<typeof window>(app, windowKey), peek<TrafficUsage>(app, valuesKey)]);
    const endsAt = open === null ? now.getTime() : Date.parse(open.endsAt);
    const retryAfterSeconds = Math.max(1, Math.ceil((endsAt - now.getTime()) / SECOND_MS));
    if (known) return { cached: true, rateLimited: true, retryAfterSeconds, ...known };
    const headers = { 'Retry-After': String(retryAfterSeconds) };
    throw rateLimitedRefusal({ headers });
  }
  const { subscription } = details;
  const panelUser = await readPanelUser(app, actor.userId);
  if (panelUser === null) {
    await drop(app, valuesKey);
    return { cached: false, source: 'database', ...usageOf(subscription, subscription.trafficUsedGb * GB) };
  }
  const usedGb = panelUser.usedTrafficBytes / GB;
  if (Math.abs(usedGb - subscription.trafficUsedGb) > NEGLIGIBLE_GB) {
    const used = { before: subscription.trafficUsedGb, after: usedGb, readAt: now };
    await storeUsedTraffic(app.db, subscription.id, used, app.clock.now());
  }
  const values: TrafficUsage = {
    ...usageOf(subscription, panelUser.usedTrafficBytes),
    trafficLimitBytes: panelUser.trafficLimitBytes,
    lifetimeUsedBytes: panelUser.lifetimeUsedTrafficBytes,
    lifetimeUsedGb: twoDecimals(panelUser.lifetimeUsedTrafficBytes / GB),
  };
  await put(app, valuesKey, values, WINDOW_SECONDS);
  return { cached: false, source: 'vpnpanel', ...values };
}

/** Null: not linked, absent, or no answer. */
async function readPanelUser(app: App, userId: number): Promise<PanelUser | null> {
  const panelUuid = (await findUserById(app, userId))?.vpnpanelUuid ?? null;
  if (panelUuid === null) return null;
  try {
    return await app.ports.panel.findByUuid(panelUuid);
  } catch (error) {
    if (!isPanelError(error)) throw error;
    app.log.info({ userId, kind: error.kind }, 'refresh of traffic: the panel gave no answer');
    return null;
  }
}

function usageOf({ trafficLimitGb }: Subscription, usedBytes: number): TrafficUsage {
  const limitBytes = trafficLimitGb * GB;
  return {
    trafficUsedBytes: Math.round(usedBytes),
    trafficUsedGb: twoDecimals(usedBytes / GB),
    trafficLimitBytes: limitBytes,
    trafficLimitGb,
    trafficUsedPercent: limitBytes > 0 ? percentUsed(usedBytes, limitBytes) : 0,
    isUnlimited: trafficLimitGb === 0,
  };
}

const twoDecimals = (value: number) => Math.round(value * 100) / 100;
