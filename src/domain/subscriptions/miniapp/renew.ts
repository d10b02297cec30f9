import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { isAppError, refusal } from '../../../core/errors.ts';
import { forgetDevice } from '../connected-devices.ts';
import { invalidPeriod, noTariff, tariffsModeOff } from '../errors.ts';
import {
  InsufficientFundsError,
  insufficientFundsForMiniappTraffic,
  insufficientFundsInMiniapp,
} from '../purchase/insufficient-funds.ts';
import { type PurchasedTraffic, purchaseTraffic, TopupLimitError } from '../purchase-traffic.ts';
import { listRenewalOptions } from '../read-subscription.ts';
import { renewSubscription } from '../renew-subscription.ts';
import type { RenewalOption } from '../rules/terms.ts';
import { pricingSettingsOf } from '../settings.ts';
import type { Subscription } from '../types.ts';
import { type PaidGuardOptions, requirePaidSubscription } from './paid-guard.ts';

export const unsupportedMethod = refusal('unsupported_method', 400, 'This payment method cannot pay for a renewal');

export interface MiniappRenewal {
  periodId: string | null;
  periodDays: number | null;
  /** Of an outside payment for what the balance lacks. */
  method: string | null;
  /** Of the options, sent back; null = none. */
  quote: string | null;
  idempotencyKey: string | null;
  guard: PaidGuardOptions;
}

/**
 * Renews from the balance: the renewal of the cabinet with the refusals of the mini-app (spec 02 section 12.2).
 * @throws AppError the paid guard's | 400 invalid_period, period_unavailable, unsupported_method | 402 insufficient_funds
 * @returns a renewal that was made; kopeks
 */
export async function renewInMiniapp(app: App, actor: UserActor, order: MiniappRenewal) {
  await requirePaidSubscription(app, actor, order.guard);
  const periodDays = order.periodDays ?? daysOfPeriodId(order.periodId);
  if (periodDays === null || periodDays <= 0) throw invalidPeriod();
  try {
    const renewed = await renewSubscription(app, actor, { periodDays, quote: order.quote, idempotencyKey: order.idempotencyKey });
    const { message, subscriptionId, balanceKopeks, newEndDate } = renewed;
    return { message, subscriptionId, balanceKopeks, renewedUntil: newEndDate };
  } catch (error) {
    if (!(error instanceof InsufficientFundsError)) throw error;
    if (order.method !== null && order.method.trim() !== '') throw unsupportedMethod();
    throw insufficientFundsInMiniapp(error);
  }
}

/** `tariff_{tariff}_{days}` and `days:{days}`: the last number is the period. */
function daysOfPeriodId(periodId: string | null): number | null {
  const last = periodId?.match(/\d{1,9}/g)?.at(-1);
  return last === undefined ? null : Number(last);
}

/** The id under which a period is offered. */
export function periodIdOf(subscription: Pick<Subscription, 'tariffId'>, days: number): string {
  return subscription.tariffId === null ? `days:${days}` : `tariff_${subscription.tariffId}_${days}`;
}

/** What may be renewed for, and which of it is recommended: the greatest discount, then the longest, then the cheapest. */
export async function listMiniappRenewals(app: App, actor: UserActor, guard: PaidGuardOptions) {
  const { buyer, subscription } = await requirePaidSubscription(app, actor, guard);
  const options = await listRenewalOptions(app, actor);
  const [recommended] = [...options].sort(byAppeal);
  return { buyer, subscription, options, recommended: recommended ?? null };
}

function byAppeal(a: RenewalOption, b: RenewalOption): number {
  return b.discountPercent - a.discountPercent || b.periodDays - a.periodDays || a.priceKopeks - b.priceKopeks;
}

export const invalidHwid = refusal('invalid_hwid', 400, 'Invalid device identifier');
export const serviceUnavailable = refusal('service_unavailable', 503, 'VPN panel is not configured');

/**
 * Removes one of the user's own devices, in the order in which the mini-app is refused.
 * @returns the text for the user
 * @throws AppError 400 invalid_hwid | 503 service_unavailable | 404 no_subscription | 409 (renamed by the caller) | 502
 */
export async function removeMiniappDevice(app: App, actor: UserActor, hwid: string): Promise<string> {
  if (hwid.trim() === '') throw invalidHwid();
  if (app.ports.panel.configurationError() !== null) throw serviceUnavailable();
  return forgetDevice(app, actor, hwid.trim());
}

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
 * that the balance does not cover is not saved.
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
