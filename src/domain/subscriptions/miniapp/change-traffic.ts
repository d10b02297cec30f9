import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { refusal } from '../../../core/errors.ts';
import { packageGb, switchTraffic } from '../switch-traffic.ts';
import { type ChangeRequest, NO_CHANGES } from './change-servers.ts';
import { requirePaidSubscription } from './paid-guard.ts';

export const trafficAmountRequired = refusal('validation_error', 400, 'Traffic amount is required');

/**
 * Replaces the traffic package: the switch of the cabinet, which trials may make here too, and which is charged for the days left
 * (spec 02 section 12.2). Subscriptions to a tariff are refused, since their traffic has a price of its own (H4).
 * @param gb null = not given
 * @returns what the user is told
 * @throws AppError the paid guard's | 400 validation_error, traffic_unavailable, traffic_of_tariff | 403 traffic_fixed | 402
 */
export async function changeMiniappTraffic(
  app: App,
  actor: UserActor,
  gb: number | null,
  { subscriptionId, idempotencyKey }: ChangeRequest,
): Promise<string> {
  const { subscription } = await requirePaidSubscription(app, actor, { subscriptionId, trial: true });
  if (gb === null || gb < 0) throw trafficAmountRequired();
  // A repeat of a switch that was made gets its first answer.
  if (idempotencyKey === null && packageGb(subscription) === gb) return NO_CHANGES;
  return (await switchTraffic(app, actor, { gb, idempotencyKey }, { isMiniapp: true })).message;
}
