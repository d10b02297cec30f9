import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { isAppError, refuse } from '../../../core/errors.ts';
import { tariffsModeOff } from '../errors.ts';
import { insufficientFundsForMiniappTraffic } from '../purchase/insufficient-funds.ts';
import { type PurchasedTraffic, purchaseTraffic } from '../purchase-traffic.ts';
import { TopupLimitError } from '../rules/traffic-order.ts';
import { pricingSettingsOf } from '../settings.ts';
import { type PaidGuardOptions, requirePaidSubscription } from './paid-guard.ts';

/**
 * Buys a traffic package of the current tariff in the mini-app: the purchase of the cabinet with the refusals of the mini-app. An order
 * that the balance does not cover is not saved (spec 02 section 12.2).
 * @throws AppError the paid guard's | 400 tariffs_mode_disabled, no_tariff, unlimited_traffic, invalid_package, topup_limit_exceeded |
 *   403 | 404 | 402 insufficient_balance
 */
export async function topUpTraffic(
  app: App,
  actor: UserActor,
  order: { gb: number; quote: string | null; idempotencyKey: string | null; guard: PaidGuardOptions },
): Promise<PurchasedTraffic> {
  const { subscription } = await requirePaidSubscription(app, actor, order.guard);
  if (pricingSettingsOf(app).salesMode !== 'tariffs') throw tariffsModeOff();
  if (subscription.tariffId === null) throw refuse('no_tariff', 400, 'Subscription has no tariff');
  try {
    return await purchaseTraffic(
      app,
      actor,
      { gb: order.gb, quote: order.quote, idempotencyKey: order.idempotencyKey },
      insufficientFundsForMiniappTraffic,
    );
  } catch (error) {
    if (error instanceof TopupLimitError) {
      const { maxGb, currentGb, availableGb } = error.limits;
      const limits = { max_limit_gb: maxGb, current_gb: currentGb, available_gb: availableGb };
      throw refuse(error.code, 400, { code: error.code, message: error.message, ...limits });
    }
    if (isAppError(error) && error.code === 'traffic_topup_disabled') throw refuse(error.code, 403, error.detail);
    throw error;
  }
}
