import type { AdminActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refuse } from '../../../core/errors.ts';
import { findTariff } from '../../catalog/find-tariff.ts';
import { userNotFound } from '../../identity/errors.ts';
import { guardTarget } from '../../identity/guard-target.ts';
import type { Subscription } from '../types.ts';
import { activate } from './activate.ts';
import { addTraffic } from './add-traffic.ts';
import { checkBounds } from './bounds.ts';
import { cancel } from './cancel.ts';
import { changeTariff } from './change-tariff.ts';
import { createSubscription } from './create.ts';
import { extend } from './extend.ts';
import { applyManualChange, lockUserSubscription, readUserSubscription } from './manual-changes.ts';
import { removeTraffic } from './remove-traffic.ts';
import { setDeviceLimit } from './set-device-limit.ts';
import { setEndDate } from './set-end-date.ts';
import { setTraffic } from './set-traffic.ts';
import { shorten } from './shorten.ts';
import { type SubscriptionInfo, subscriptionInfo } from './subscription-info.ts';
import { toggleAutopay } from './toggle-autopay.ts';
import type { ActionRequest, SubscriptionAction } from './types.ts';

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
 * Changes a user's subscription by hand, one action a call, in one transaction under the locks of the user and the subscription;
 * the panel follows after commit, and the answer does not depend on it (spec 01 section 11.2, H28).
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

async function act(t: App, userId: number, held: Subscription | null, request: ActionRequest): Promise<string> {
  if (request.action === 'create') {
    if (held) throw refuse('subscription_exists', 400, 'User already has a subscription');
    await createSubscription(t, userId, request);
    return 'Subscription created';
  }
  if (!held) throw refuse('no_subscription', 404, 'User has no subscription');
  const action = ACTIONS.get(request.action);
  if (!action) throw refuse('unknown_action', 400, `Unknown action: ${request.action}`);
  const { message, ...change } = await action(t, held, request);
  await applyManualChange(t, held.id, change);
  return message;
}

/** What of a subscription an administrator's action may change. */
function auditView(subscription: Subscription) {
  const { status, isTrial, endDate, trafficLimitGb, trafficUsedGb, purchasedTrafficGb } = subscription;
  const { deviceLimit, tariffId, autopayEnabled, isDailyPaused } = subscription;
  return {
    ...{ status, isTrial, endDate: endDate.toISOString(), trafficLimitGb, trafficUsedGb, purchasedTrafficGb },
    ...{ deviceLimit, tariffId, autopayEnabled, isDailyPaused },
  };
}
