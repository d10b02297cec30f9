import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { refusal } from '../../../core/errors.ts';
import { runOnceFrom } from '../../ledger/run-once.ts';
import { text } from '../../messaging/texts.ts';
import { requestProvisioning } from '../../provisioning/request-provisioning.ts';
import { InsufficientFundsError, insufficientFundsInMiniapp } from '../purchase/insufficient-funds.ts';
import { openSale, requireBuyer } from '../purchase/open-sale.ts';
import type { SaleStart } from '../purchase/types.ts';
import { sellDevices } from '../purchase-devices.ts';
import { update } from '../repo.ts';
import { type ChangeRequest, NO_CHANGES } from './change-servers.ts';
import { requirePaidSubscription } from './paid-guard.ts';

export const deviceLimitTooLow = refusal('validation_error', 400, 'Device limit must be at least 1');
const subscriptionNotFound = refusal('subscription_not_found', 404, 'You have no subscription');
export const devicesLimitExceeded = refusal('devices_limit_exceeded', 400, 'At most <n> devices may be added');

/** As many as one purchase may add (spec 02 H29). */
const MAX_ADDED = 100;

/**
 * Sets the device limit. More devices are bought at the price of the cabinet (spec 02 H28), fewer are free (spec 02 section 12.2). The number is
 * compared under the lock, so that two equal calls at once charge once.
 * @param limit null = not given
 * @returns what the user is told
 * @throws AppError the paid guard's | 400 validation_error, devices_unavailable, devices_limit_exceeded | 402 insufficient_funds | 403
 */
export async function changeMiniappDevices(
  app: App,
  actor: UserActor,
  limit: number | null,
  { subscriptionId, idempotencyKey: key }: ChangeRequest,
): Promise<string> {
  await requirePaidSubscription(app, actor, { subscriptionId, trial: true });
  if (limit === null || limit < 1) throw deviceLimitTooLow();
  try {
    return await runOnceFrom(
      app,
      actor,
      { key, operation: 'subscription.device-limit', input: { limit } },
      (t, claim) => openSale(t, actor.userId, {}, claim),
      (t, start) => setLimit(t, requireBuyer(start), limit),
    );
  } catch (error) {
    throw error instanceof InsufficientFundsError ? insufficientFundsInMiniapp(error) : error;
  }
}

async function setLimit(t: App, start: SaleStart, limit: number): Promise<string> {
  const { buyer, subscription } = start;
  if (!subscription) throw subscriptionNotFound({ detail: text(buyer.language, 'errors.subscription_missing') });
  const added = limit - subscription.deviceLimit;
  if (added === 0) return NO_CHANGES;
  if (added > MAX_ADDED) throw devicesLimitExceeded({ detail: `At most ${MAX_ADDED} devices may be added` });
  if (added > 0) return (await sellDevices(t, start, { kind: 'devices', devices: added }, { noneStatus: 404 })).message;
  await update(t.db, subscription.id, { deviceLimit: limit }, { now: t.clock.now() });
  await requestProvisioning(t, subscription.id);
  return text(buyer.language, 'subscriptions.devices_limit_set', { limit });
}
