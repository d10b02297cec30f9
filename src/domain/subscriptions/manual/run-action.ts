import type { AdminActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import type { Changes } from '../../../core/changes.ts';
import { addDays } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal } from '../../../core/errors.ts';
import { listSquads } from '../../catalog/find-squads.ts';
import { effectiveSquadsOf, findTariff, lockTariff } from '../../catalog/find-tariff.ts';
import { userNotFound } from '../../identity/errors.ts';
import { guardTarget } from '../../identity/find-user.ts';
import { postMovement } from '../../ledger/post-movement.ts';
import { outOfBounds, subscriptionExists, tariffNotFound } from '../errors.ts';
import { ENDED_BY_DECISION, isPast, isStopped, reactivatedStatus } from '../rules/status.ts';
import { squadsOrFirstAvailable } from '../rules/terms.ts';
import { addTraffic as addPackage, reducedLimit, sumPurchases } from '../rules/traffic-purchases.ts';
import type { Subscription, SubscriptionChanges } from '../types.ts';
import { checkEnd, freeExtension, MAX_DEVICES, MAX_TRAFFIC_GB } from '../web-subscriptions.ts';
import {
  applyManualChange,
  insertManually,
  lockUserSubscription,
  type ManualChange,
  readUserSubscription,
  removePurchase,
  subscriptionInfo,
} from './manual-changes.ts';

/** What an action can be given; each action reads the fields it needs and ignores the rest. Null or absent = not given. */
export type ActionRequest = { action: string } & Changes<{
  days: number;
  endDate: Date;
  tariffId: number;
  /** GB; 0 = unlimited. */
  trafficLimitGb: number;
  trafficUsedGb: number;
  autopayEnabled: boolean;
  trafficGb: number;
  trafficPurchaseId: number;
  isTrial: boolean;
  deviceLimit: number;
}>;

/** How one action changes a locked subscription, and the sentence of the answer. */
interface ActionResult extends ManualChange {
  message: string;
}

/** Runs in the transaction that has locked the user and the subscription. */
type SubscriptionAction = (t: App, subscription: Subscription, request: ActionRequest) => Promise<ActionResult>;

const endDateRequired = refusal('end_date_required', 400, 'end_date parameter is required');

// Actions on the end of a subscription (spec 01 section 11.2).

/** Days that an expired subscription gets when it is activated. */
const ACTIVATED_DAYS = 30;

/** Adds days to the end, or to now when the end is past; a stopped subscription is active again (spec 01 section 11.2, spec 02 section 3.1). */
const extend: SubscriptionAction = async (t, subscription, { days }) => {
  if (days == null) throw daysRequired();
  const extension = freeExtension(t, subscription, days);
  checkEnd('days', days, extension.changes.endDate ?? subscription.endDate, t.clock.now());
  return {
    ...extension,
    changes: { ...extension.changes, ...undoneCancel(subscription) },
    panelResets: { resetTraffic: extension.changes.trafficUsedGb === 0 },
    message: `Subscription extended by ${days} days`,
  };
};

/**
 * Removes days from the end. A subscription that is over by that is expired, and nothing renews it automatically. Used traffic is not
 * changed.
 */
const shorten: SubscriptionAction = async (t, subscription, { days }) => {
  if (days == null) throw daysRequired();
  const endDate = addDays(subscription.endDate, -days);
  const isOver = isPast({ endDate }, t.clock.now());
  return {
    changes: { endDate, ...(isOver ? endedNow(subscription) : {}) },
    forgetsNotices: true,
    message: `Subscription shortened by ${days} days`,
  };
};

/** Sets the end and the status that follows from it; nothing automatically renews a subscription that is over. */
const setEndDate: SubscriptionAction = async (t, subscription, { endDate }) => {
  if (endDate == null) throw endDateRequired();
  const now = t.clock.now();
  checkEnd('end_date', endDate.toISOString(), endDate, now);
  return {
    changes: {
      endDate,
      ...(isPast({ endDate }, now) ? endedNow(subscription) : { status: 'active', ...undoneCancel(subscription) }),
    },
    forgetsNotices: true,
    message: `Subscription end date set to ${endDate.toISOString()}`,
  };
};

/** Ends the subscription now; nothing renews it automatically. */
const cancel: SubscriptionAction = async (t, subscription) => ({
  changes: { endDate: t.clock.now(), ...endedNow(subscription) },
  message: 'Subscription cancelled',
});

/** Makes the subscription active; one whose end is past gets 30 days. */
const activate: SubscriptionAction = async (t, subscription) => {
  const now = t.clock.now();
  return {
    changes: {
      ...{ status: 'active', ...undoneCancel(subscription) },
      ...(isPast(subscription, now) ? { endDate: addDays(now, ACTIVATED_DAYS) } : {}),
    },
    forgetsNotices: true,
    message: 'Subscription activated',
  };
};

/** The end by an administrator's decision, and what it switches off, so that a later action switches on that and no more (spec 10 X8). */
function endedNow(subscription: Subscription): SubscriptionChanges {
  const { autopayEnabled, isDailyPaused, cancelEndedAutopay, cancelPausedDaily } = subscription;
  return {
    ...{ status: 'expired', ...ENDED_BY_DECISION },
    ...{ cancelEndedAutopay: cancelEndedAutopay || autopayEnabled, cancelPausedDaily: cancelPausedDaily || !isDailyPaused },
  };
}

/** Switches on what an administrator's end of the subscription switched off; what its owner had switched off stays so (spec 10 X8). */
function undoneCancel({ cancelEndedAutopay, cancelPausedDaily }: Subscription): SubscriptionChanges {
  return {
    ...(cancelEndedAutopay ? { autopayEnabled: true, cancelEndedAutopay: false } : {}),
    ...(cancelPausedDaily ? { isDailyPaused: false, cancelPausedDaily: false } : {}),
  };
}

const daysRequired = refusal('days_required', 400, 'Days must be a positive integer');

const tariffIdRequired = refusal('tariff_id_required', 400, 'tariff_id parameter is required');
const autopayRequired = refusal('autopay_required', 400, 'autopay_enabled parameter is required');

// Actions on the plan of a subscription: creation, tariff and renewal from the balance.

const DEFAULT_DAYS = 30;
const DEFAULT_TRAFFIC_GB = 100;
const DEFAULT_DEVICES = 1;

/**
 * Creates a subscription without charging, for a locked user who has none: the terms of the request, else those of the tariff, else 30
 * days, 100 GB and one device. Without a tariff it gets the first available server.
 * @throws AppError 404 'Tariff not found'
 */
async function createSubscription(t: App, userId: number, request: ActionRequest): Promise<Subscription> {
  const tariff = request.tariffId == null ? null : await lockTariff(t, request.tariffId);
  if (request.tariffId != null && !tariff) throw tariffNotFound();
  const now = t.clock.now();
  return insertManually(t, userId, {
    status: 'active',
    isTrial: request.isTrial ?? false,
    startDate: now,
    endDate: addDays(now, request.days ?? DEFAULT_DAYS),
    trafficLimitGb: request.trafficLimitGb ?? tariff?.trafficLimitGb ?? DEFAULT_TRAFFIC_GB,
    trafficUsedGb: 0,
    deviceLimit: request.deviceLimit ?? tariff?.deviceLimit ?? DEFAULT_DEVICES,
    connectedSquads: tariff ? await effectiveSquadsOf(t, tariff) : squadsOrFirstAvailable([], await listSquads(t)),
    tariffId: tariff?.id ?? null,
  });
}

/**
 * Moves the subscription to another tariff without charging: the tariff's traffic, devices and squads replace the
 * old ones, traffic packages are removed, a trial becomes paid unless the tariff is one for trials. Recorded as a payment of 0.
 */
const changeTariff: SubscriptionAction = async (t, subscription, { tariffId }) => {
  if (tariffId == null) throw tariffIdRequired();
  const tariff = await lockTariff(t, tariffId);
  if (!tariff) throw tariffNotFound();
  const resetsUsed = t.settings.get('RESET_TRAFFIC_ON_TARIFF_SWITCH');
  const cap = tariff.maxDeviceLimit ?? t.settings.get('MAX_DEVICES_LIMIT');
  const squads = await effectiveSquadsOf(t, tariff);
  // One that was paused or cancelled and has ended stays so: the daily service would charge for the new tariff and start it (spec 10 X8).
  const isOver = isStopped(subscription.status) || isPast(subscription, t.clock.now());
  await postMovement(t, {
    userId: subscription.userId,
    type: 'subscription_payment',
    amountKopeks: 0,
    contra: { kind: 'sales_revenue', product: 'tariff' },
    paymentMethod: 'balance',
    description: `Tariff changed by administrator: ${tariff.name}`,
  });
  return {
    changes: {
      tariffId: tariff.id,
      trafficLimitGb: tariff.trafficLimitGb,
      purchasedTrafficGb: 0,
      trafficResetAt: null,
      deviceLimit: cap > 0 ? Math.min(tariff.deviceLimit, cap) : tariff.deviceLimit,
      ...(squads.length > 0 ? { connectedSquads: squads } : {}),
      ...(subscription.isTrial && !tariff.isTrialAvailable ? { isTrial: false } : {}),
      ...(resetsUsed ? { trafficUsedGb: 0 } : {}),
      ...(tariff.id === subscription.tariffId ? {} : { ...(isOver ? {} : { isDailyPaused: false }), lastDailyChargeAt: null }),
    },
    dropsPurchases: true,
    panelResets: { resetTraffic: resetsUsed },
    message: `Tariff changed to ${tariff.name}`,
  };
};

/** Switches renewal from the balance on or off; the panel has no such setting. */
const toggleAutopay: SubscriptionAction = async (_t, _subscription, { autopayEnabled }) => {
  if (autopayEnabled == null) throw autopayRequired();
  return {
    changes: { autopayEnabled, cancelEndedAutopay: false },
    staysLocal: true,
    message: `Autopay ${autopayEnabled ? 'enabled' : 'disabled'}`,
  };
};

const trafficGbRequired = refusal('traffic_gb_required', 400, 'traffic_gb parameter is required for add_traffic action');
const trafficPurchaseIdRequired = refusal(
  'traffic_purchase_id_required',
  400,
  'traffic_purchase_id parameter is required for remove_traffic action',
);
const trafficPurchaseNotFound = refusal('traffic_purchase_not_found', 404, 'Traffic purchase not found');
const deviceLimitRequired = refusal(
  'device_limit_required',
  400,
  'device_limit parameter is required for set_device_limit action',
);

// Actions on the traffic and the devices of a subscription.

/**
 * Sets the traffic limit, the used traffic, or both. A limited subscription that has traffic again becomes active.
 * Used traffic of 0 is reset at the panel too, because the panel would report its own number otherwise.
 */
const setTraffic: SubscriptionAction = async (t, subscription, request) => {
  const limitGb = request.trafficLimitGb ?? subscription.trafficLimitGb;
  const usedGb = request.trafficUsedGb ?? subscription.trafficUsedGb;
  const hasTraffic = limitGb === 0 || usedGb < limitGb;
  const isReactivated = subscription.status === 'limited' && hasTraffic && !isPast(subscription, t.clock.now());
  return {
    changes: { trafficLimitGb: limitGb, trafficUsedGb: usedGb, ...(isReactivated ? { status: 'active' } : {}) },
    panelResets: { resetTraffic: request.trafficUsedGb === 0 },
    message: 'Traffic settings updated',
  };
};

/**
 * Adds a traffic package for 30 days without charging; a stopped subscription with paid time left becomes active.
 * An unlimited subscription is not changed: nothing can be added to it (spec 02 H25).
 */
const addTraffic: SubscriptionAction = async (t, subscription, { trafficGb }) => {
  if (trafficGb == null) throw trafficGbRequired();
  const now = t.clock.now();
  const status = reactivatedStatus(subscription, now);
  const current = await readUserSubscription(t, subscription.userId);
  const added = addPackage(subscription, current?.purchases ?? [], trafficGb, now);
  if (!added) return { changes: { status }, message: 'Subscription has unlimited traffic' };
  if (subscription.trafficLimitGb + trafficGb > MAX_TRAFFIC_GB) {
    throw outOfBounds('traffic_gb', trafficGb, { le: MAX_TRAFFIC_GB - subscription.trafficLimitGb });
  }
  return {
    changes: { ...added.changes, status },
    purchase: added.purchase,
    message: `Added ${trafficGb} GB of traffic`,
  };
};

/** Removes a traffic package. A finite limit stays at 1 GB or more, because 0 would make it unlimited. */
const removeTraffic: SubscriptionAction = async (t, subscription, { trafficPurchaseId }) => {
  if (trafficPurchaseId == null) {
    const text = 'traffic_purchase_id parameter is required for remove_traffic action';
    throw trafficPurchaseIdRequired({ detail: text });
  }
  const removed = await removePurchase(t, subscription.id, trafficPurchaseId);
  if (!removed) throw trafficPurchaseNotFound();
  const rest = (await readUserSubscription(t, subscription.userId))?.purchases ?? [];
  return {
    changes: {
      trafficLimitGb: reducedLimit(subscription.trafficLimitGb, removed.trafficGb),
      purchasedTrafficGb: Math.max(0, subscription.purchasedTrafficGb - removed.trafficGb),
      trafficResetAt: sumPurchases(rest, t.clock.now()).trafficResetAt,
    },
    message: `Removed ${removed.trafficGb} GB of traffic`,
  };
};

/** Sets how many devices may connect. */
const setDeviceLimit: SubscriptionAction = async (_t, _subscription, { deviceLimit }) => {
  if (deviceLimit == null) throw deviceLimitRequired();
  return { changes: { deviceLimit }, message: `Device limit set to ${deviceLimit}` };
};

const noSubscription = refusal('no_subscription', 404, 'User has no subscription');
const unknownAction = refusal('unknown_action', 400, 'Unknown action: rename');

export const ACTION_REFUSES = [
  unknownAction,
  noSubscription,
  subscriptionExists,
  daysRequired,
  endDateRequired,
  tariffIdRequired,
  autopayRequired,
  trafficGbRequired,
  trafficPurchaseIdRequired,
  trafficPurchaseNotFound,
  deviceLimitRequired,
];

const ACTIONS: ReadonlyMap<string, SubscriptionAction> = new Map([
  ['extend', extend],
  ['shorten', shorten],
  ['set_end_date', setEndDate],
  ['change_tariff', changeTariff],
  ['set_traffic', setTraffic],
  ['toggle_autopay', toggleAutopay],
  ['cancel', cancel],
  ['activate', activate],
  ['add_traffic', addTraffic],
  ['remove_traffic', removeTraffic],
  ['set_device_limit', setDeviceLimit],
]);

/**
 * Changes a user's subscription by one action, in one transaction under the locks of the user and the subscription. The panel is updated
 * after commit, and the answer does not depend on it (spec 01 section 11.2, H28).
 * @throws AppError 404 'User not found' | 403 (H5) | 404 'User has no subscription' | 400 'Unknown action: …' | what the action
 * refuses
 */
export async function runSubscriptionAction(app: App, actor: AdminActor, userId: number, request: ActionRequest) {
  await guardTarget(app, actor, userId, 'change');
  checkBounds(request);
  return inTransaction(app, async (t) => {
    const before = await lockUserSubscription(t, userId);
    if (before === undefined) throw userNotFound();
    const message = await act(t, userId, before, request);
    const after = (await readUserSubscription(t, userId))!;
    const { tariffId } = after.subscription;
    const tariff = tariffId === null ? null : await findTariff(t, tariffId);
    t.audit?.record({ before: before && auditView(before), after: auditView(after.subscription) });
    return { message, subscription: subscriptionInfo(after.subscription, tariff?.name ?? null, after.purchases, t.clock.now()) };
  });
}

/** @returns the sentence of the answer */
async function act(t: App, userId: number, current: Subscription | null, request: ActionRequest): Promise<string> {
  if (request.action === 'create') {
    if (current) throw subscriptionExists();
    await createSubscription(t, userId, request);
    return 'Subscription created';
  }
  if (!current) throw noSubscription();
  const action = ACTIONS.get(request.action);
  if (!action) throw unknownAction({ detail: `Unknown action: ${request.action}` });
  const { message, ...change } = await action(t, current, request);
  await applyManualChange(t, current.id, change);
  return message;
}

/** @throws ValidationError 422 for a value above the highest one */
function checkBounds(request: ActionRequest): void {
  const atMost = (field: string, value: number | null | undefined, bound: number) => {
    if (value != null && value > bound) throw outOfBounds(field, value, { le: bound });
  };
  atMost('traffic_limit_gb', request.trafficLimitGb, MAX_TRAFFIC_GB);
  atMost('traffic_used_gb', request.trafficUsedGb, MAX_TRAFFIC_GB);
  atMost('traffic_gb', request.trafficGb, MAX_TRAFFIC_GB);
  atMost('device_limit', request.deviceLimit, MAX_DEVICES);
}

/** The fields of a subscription that an administrator's action may change, for the audit log. */
function auditView(subscription: Subscription) {
  const { status, isTrial, endDate, trafficLimitGb, trafficUsedGb, purchasedTrafficGb } = subscription;
  const { deviceLimit, tariffId, autopayEnabled, isDailyPaused } = subscription;
  return {
    ...{ status, isTrial, endDate: endDate.toISOString(), trafficLimitGb, trafficUsedGb, purchasedTrafficGb },
    ...{ deviceLimit, tariffId, autopayEnabled, isDailyPaused },
  };
}
