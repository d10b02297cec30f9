import type { App } from '../../core/app.ts';
import { HOUR_MS, MINUTE_MS } from '../../core/clock.ts';
import { isDatabaseUnavailable, repeatWhenLost, retried } from '../../core/db/db-errors.ts';
import type { PanelUser } from '../provisioning/ports.ts';
import { mayHaveAccess } from '../provisioning/rules.ts';
import { type ReportedUser, updatedFromPanel } from '../provisioning/sync/rules.ts';
import type { PanelColumns } from '../subscription-state/types.ts';
import { isStopped } from '../subscriptions/rules/status.ts';
import { hasEffect } from './event-effects.ts';
import type { PanelEvent, PanelEventData, PanelEventOutcome, PanelWebhookRequest, StateEvent } from './ports.ts';
import { insertEvent } from './repo.ts';
import type { ReportedSubscription } from './types.ts';

/** Shorter than events are stored, so that a body is either known or too old. The panel itself tries for 15 s. */
const MAX_AGE_MS = 24 * HOUR_MS;
/** How far the panel's clock may be ahead. */
const MAX_AHEAD_MS = 5 * MINUTE_MS;
const MIN_SECRET = 32;

/** Whether the route of the panel's webhooks exists: it is switched on, and its secret is long enough. */
export function isPanelWebhookOn({ settings }: App): boolean {
  return settings.get('VPNPANEL_WEBHOOK_ENABLED') && (settings.get('VPNPANEL_WEBHOOK_SECRET') ?? '').length >= MIN_SECRET;
}

/**
 * Receives a webhook of the panel (spec 06 section 12): verified by its signature, then stored with its job in one statement, then
 * acknowledged. Nothing is changed here, the panel is not called, and the body is neither stored nor logged. A repeat of a stored body
 * is acknowledged and dropped.
 * @returns 200 also for what has no effect (`processed: false`), 503 with `Retry-After` while the database is away
 */
export async function receivePanelWebhook(app: App, request: PanelWebhookRequest) {
  const { panelEvents } = app.ports;
  const verdict = panelEvents.receive(request);
  if (!verdict.accepted) {
    panelEvents.count('refused');
    return { status: verdict.status, body: { status: 'error', reason: verdict.reason } };
  }
  try {
    const outcome = await storeEvent(app, verdict.event);
    panelEvents.count(outcome);
    return { status: 200, body: { status: 'ok', processed: outcome === 'received' || outcome === 'repeated' } };
  } catch (error) {
    if (!isDatabaseUnavailable(error)) throw error;
    return { status: 503, headers: { 'retry-after': '5' }, body: { status: 'error', reason: 'database_unavailable' } };
  }
}

async function storeEvent(app: App, event: PanelEvent): Promise<PanelEventOutcome> {
  if (!hasEffect(event.name)) return 'ignored';
  const now = app.clock.now();
  const happenedAt = event.happenedAt ?? now;
  const age = now.getTime() - happenedAt.getTime();
  if (age > MAX_AGE_MS || age < -MAX_AHEAD_MS) return 'old';
  const isNew = await repeatWhenLost(app, () =>
    retried(app, () => insertEvent(app.db, event, { happenedAt, now }, app.jobs.trace())),
  );
  return isNew ? 'received' : 'repeated';
}

// Pure rules of what an event of the panel changes (spec 06 section 12; spec 02 section 1.3).

const BYTES_PER_GB = 1024 ** 3;

/** The panel status that an event implies where it does not contain one. */
const IMPLIED = {
  'user.expired': 'EXPIRED',
  'user.disabled': 'DISABLED',
  'user.enabled': 'ACTIVE',
  'user.limited': 'LIMITED',
  'user.traffic_reset': 'ACTIVE',
} as const satisfies Partial<Record<StateEvent, PanelUser['status']>>;

const AS_PANEL = {
  active: 'ACTIVE',
  trial: 'ACTIVE',
  pending: 'ACTIVE',
  limited: 'LIMITED',
  expired: 'EXPIRED',
  disabled: 'DISABLED',
} as const satisfies Record<ReportedSubscription['status'], PanelUser['status']>;

/**
 * Whether the local row is newer than the event: a change waits for its push or was pushed after the event happened (spec 06 section 17,
 * hazard 7). The two timestamps are of two clocks; where that matters, the panel is read again (`refreshSubscription`).
 */
export function isOlderThanPush(
  local: Pick<ReportedSubscription, 'isPushDue' | 'provisionRequestedAt' | 'provisionedAt'>,
  happenedAt: Date,
): boolean {
  const isLater = (timestamp: Date | null) => timestamp !== null && timestamp >= happenedAt;
  return local.isPushDue || isLater(local.provisionedAt) || isLater(local.provisionRequestedAt);
}

/** Whether the link of the row was stored by a push at or after this time. */
export function isStoredSince({ provisionedAt }: Pick<ReportedSubscription, 'provisionedAt'>, timestamp: Date): boolean {
  return provisionedAt !== null && provisionedAt >= timestamp;
}

/** What is known of the panel user after the event, the rest as the row has it: squads, devices and links are never taken from an event. */
export function reportedUser(event: StateEvent, local: ReportedSubscription, data: PanelEventData): ReportedUser {
  const implied = event in IMPLIED ? IMPLIED[event as keyof typeof IMPLIED] : AS_PANEL[local.status];
  const usedTrafficBytes = data.usedTrafficBytes ?? local.trafficUsedGb * BYTES_PER_GB;
  return {
    status: data.status ?? implied,
    expireAt: data.expireAt === undefined ? local.endDate : new Date(data.expireAt),
    trafficLimitBytes: data.trafficLimitBytes ?? local.trafficLimitGb * BYTES_PER_GB,
    usedTrafficBytes: event === 'user.traffic_reset' ? 0 : usedTrafficBytes,
    deviceLimit: local.deviceLimit,
    squads: local.connectedSquads.map((uuid) => ({ uuid, name: '' })),
    ...{ shortUuid: '', subscriptionUrl: '', cryptoLink: null },
  };
}

/** The columns after an event, values by the rules of a synchronisation and the status by those of the event; null: nothing changes. */
export function columnsAfter(
  event: StateEvent,
  local: ReportedSubscription,
  panel: ReportedUser,
  now: Date,
): PanelColumns | null {
  const synced = updatedFromPanel(local, panel, now, null) ?? columnsOf(local);
  const status = statusAfter(event, local, panel, { ...synced, now });
  // An active row whose end has passed is left to the expiry job by a synchronisation; this event says that it is over.
  const isCutShort = event === 'user.expired' && status === 'expired' && local.endDate > now && panel.expireAt <= now;
  const wanted = { ...synced, status, endDate: isCutShort ? panel.expireAt : synced.endDate };
  const before = columnsOf(local);
  const isSame = (Object.keys(wanted) as (keyof PanelColumns)[]).every((field) => `${wanted[field]}` === `${before[field]}`);
  return isSame ? null : wanted;
}

function statusAfter(
  event: StateEvent,
  local: ReportedSubscription,
  panel: ReportedUser,
  { status: synced, endDate, now }: { status: PanelColumns['status']; endDate: Date; now: Date },
): PanelColumns['status'] {
  const isLive = local.status === 'active' || local.status === 'trial';
  const mayStop = (isLive || local.status === 'limited') && !runsDaily(local);
  const mayResume = (local.status === 'disabled' || local.status === 'limited') && endDate > now;
  switch (event) {
    case 'user.expired':
      return mayStop ? 'expired' : local.status;
    case 'user.disabled':
      return mayStop ? 'disabled' : local.status;
    case 'user.limited':
      return isLive ? 'limited' : local.status;
    case 'user.enabled':
      return mayResume ? 'active' : local.status;
    case 'user.traffic_reset':
      return mayResume && panel.status !== 'DISABLED' ? 'active' : local.status;
    default:
      return runsDaily(local) && isStopped(synced) && synced !== 'limited' ? local.status : synced;
  }
}

/** The daily service charges it, or stops it itself. */
function runsDaily(local: ReportedSubscription): boolean {
  return local.isDaily && !local.isDailyPaused;
}

/** Whether the panel user has access, or gets it with its next traffic reset. Null when the event does not say. */
export function reportsAccess(event: StateEvent, data: PanelEventData): boolean | null {
  const status = data.status ?? (event in IMPLIED ? IMPLIED[event as keyof typeof IMPLIED] : null);
  return status && mayHaveAccess({ status });
}

/**
 * Whether the columns would give access for days of a daily plan that nobody paid for. Then the row decides, and the panel gets it again.
 */
export function isUnpaidAccess(
  local: Pick<ReportedSubscription, 'status' | 'isDaily'>,
  wanted: Pick<PanelColumns, 'status'>,
): boolean {
  const isRevived = (local.status === 'disabled' || local.status === 'expired') && !isStopped(wanted.status);
  return isRevived && local.isDaily;
}

/** Whether the columns would end, stop or shorten a term that runs. Used up traffic does none of these. */
export function isTermTaken(
  local: Pick<ReportedSubscription, 'status' | 'endDate'>,
  wanted: Pick<PanelColumns, 'status' | 'endDate'>,
  now: Date,
): boolean {
  const isEnded = (wanted.status === 'expired' || wanted.status === 'disabled') && wanted.status !== local.status;
  return local.endDate > now && (isEnded || wanted.endDate < local.endDate);
}

/** Whether a deleted panel user is made again: the term runs, and its owner has access. */
export function isRecreated(local: Pick<ReportedSubscription, 'status' | 'endDate'>, userStatus: string, now: Date): boolean {
  const hasTerm = local.status === 'active' || local.status === 'trial' || local.status === 'limited';
  return hasTerm && local.endDate > now && userStatus === 'active';
}

function columnsOf(local: ReportedSubscription): PanelColumns {
  const { status, endDate, trafficLimitGb, trafficUsedGb, deviceLimit, connectedSquads } = local;
  const { vpnpanelShortUuid, subscriptionUrl, subscriptionCryptoLink } = local;
  return {
    ...{ status, endDate, trafficLimitGb, trafficUsedGb, deviceLimit, connectedSquads },
    ...{ vpnpanelShortUuid, subscriptionUrl, subscriptionCryptoLink },
  };
}
