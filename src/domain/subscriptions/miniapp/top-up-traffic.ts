import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { isAppError, refusal } from '../../../core/errors.ts';
import { noTariff, tariffsModeOff } from '../errors.ts';
import { insufficientFundsForMiniappTraffic } from '../purchase/insufficient-funds.ts';
import { type PurchasedTraffic, purchaseTraffic } from '../purchase-traffic.ts';
import { TopupLimitError } from '../rules/traffic-order.ts';
import { pricingSettingsOf } from '../settings.ts';
import { type PaidGuardOptions, requirePaidSubscription } from './paid-guard.ts';

export const topupLimitExceeded = refusal('topup_limit_exceeded', 400, {
  code: 'topup_limit_exceeded',
  message: 'Traffic limit exceeded. Max: <n> GB, available: <n> GB',
  max_limit_gb: 1,
  current_gb: 1,
  available_gb: 1,
});
export const trafficTopupDisabled = refusal('traffic_topup_disabled', 403, 'Traffic top-up is disabled for this tariff');

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
  if (subscription.tariffId === null) throw noTariff();
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
      throw topupLimitExceeded({ detail: { code: error.code, message: error.message, ...limits } });
    }
    if (isAppError(error) && error.code === trafficTopupDisabled.code) throw trafficTopupDisabled({ detail: error.detail });
    throw error;
  }
}
