import type { AdminActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal } from '../../../core/errors.ts';
import { findTariff } from '../../catalog/find-tariff.ts';
import { userNotFound } from '../../identity/errors.ts';
import { guardTarget } from '../../identity/guard-target.ts';
import { MAX_DEVICES, MAX_TRAFFIC_GB } from '../bounds.ts';
import { outOfBounds, subscriptionExists } from '../errors.ts';
import type { Subscription } from '../types.ts';
import { addTraffic, removeTraffic, setDeviceLimit, setTraffic } from './limit-actions.ts';
import { applyManualChange, lockUserSubscription, readUserSubscription } from './manual-changes.ts';
import { changeTariff, createSubscription, toggleAutopay } from './plan-actions.ts';
import { type SubscriptionInfo, subscriptionInfo } from './subscription-info.ts';
import { activate, cancel, extend, setEndDate, shorten } from './term-actions.ts';
import type { ActionRequest, SubscriptionAction } from './types.ts';

export const noSubscription = refusal('no_subscription', 404, 'User has no subscription');
export const unknownAction = refusal('unknown_action', 400, 'Unknown action: rename');

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

export interface ActionAnswer {
  message: string;
  subscription: SubscriptionInfo;
}

/**
 * Changes a user's subscription by one action, in one transaction under the locks of the user and the subscription. The panel is updated
 * after commit, and the answer does not depend on it (spec 01 section 11.2, H28).
 * @throws AppError 404 'User not found' | 403 (H5) | 404 'User has no subscription' | 400 'Unknown action: …' | what the action
 * refuses
 */
export async function runSubscriptionAction(
  app: App,
  actor: AdminActor,
  userId: number,
  request: ActionRequest,
): Promise<ActionAnswer> {
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
