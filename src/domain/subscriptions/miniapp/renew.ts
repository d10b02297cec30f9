import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { refusal } from '../../../core/errors.ts';
import { invalidPeriod } from '../errors.ts';
import { InsufficientFundsError, insufficientFundsInMiniapp } from '../purchase/insufficient-funds.ts';
import { listRenewalOptions } from '../read-subscription.ts';
import { renewSubscription } from '../renew-subscription.ts';
import type { RenewalOption } from '../rules/renewal.ts';
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

/** A renewal that was made; kopeks. */
export interface RenewedInMiniapp {
  message: string;
  subscriptionId: number;
  balanceKopeks: number;
  renewedUntil: Date;
}

/**
 * Renews from the balance: the renewal of the cabinet with the refusals of the mini-app (spec 02 section 12.2).
 * @throws AppError the paid guard's | 400 invalid_period, period_unavailable, unsupported_method | 402 insufficient_funds
 */
export async function renewInMiniapp(app: App, actor: UserActor, order: MiniappRenewal): Promise<RenewedInMiniapp> {
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
export function daysOfPeriodId(periodId: string | null): number | null {
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
