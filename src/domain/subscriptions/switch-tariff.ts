import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { formatPrice } from '../../core/money.ts';
import { isRowId } from '../../core/row-id.ts';
import { effectiveSquadsOf, findTariff, lockTariff } from '../catalog/find-tariff.ts';
import type { Tariff } from '../catalog/types.ts';
import { userNotFound } from '../identity/errors.ts';
import { runOnce } from '../ledger/run-once.ts';
import { text } from '../messaging/texts.ts';
import { freeLabel } from '../pricing/labels.ts';
import type { TariffSwitchQuote } from '../pricing/tariff-switch.ts';
import { beginSale } from './purchase/begin-sale.ts';
import { completeSale } from './purchase/complete-sale.ts';
import { insufficientFunds } from './purchase/insufficient-funds.ts';
import { findHolding } from './purchase/repo.ts';
import { soldSubscription } from './purchase/sold-subscription.ts';
import type { Buyer } from './purchase/types.ts';
import type { WireObject } from './purchase-options.ts';
import { durationDays } from './purchase-tariff.ts';
import { type JudgedSwitch, judgeSwitch } from './rules/switch-order.ts';
import { switchTariff } from './rules/tariff-purchase.ts';
import { pricingSettingsOf, subscriptionSettingsOf } from './settings.ts';
import { jsonAnswer } from './subscription-data.ts';
import type { Subscription } from './types.ts';

/** Period and traffic are taken along as part of the request; a switch keeps its own time (spec 02 section 5.11). */
export interface SwitchOrder {
  tariffId: number;
  periodDays: number | null;
  trafficGb: number | null;
}

/**
 * What a switch to the tariff would cost and whether the balance covers it (spec 02 section 5.11); kopeks. Never writes.
 * @returns the answer of `POST /cabinet/subscription/tariff/switch/preview`
 * @throws AppError the refusals of `judgeSwitch`
 */
export async function previewTariffSwitch(app: App, actor: UserActor, order: SwitchOrder): Promise<WireObject> {
  const holding = await findHolding(app.db, actor.userId);
  if (!holding) throw userNotFound();
  const { buyer } = holding;
  const next = isRowId(order.tariffId) ? await findTariff(app, order.tariffId) : null;
  const wish = { buyer, subscription: holding.details?.subscription ?? null, next };
  const judged = await judge(app, wish, 'Tariff not available for your promo group');
  return previewOf(app, buyer, judged);
}

/**
 * Switches the subscription to another tariff, once per idempotency key: charge, limits, servers and dates in one transaction
 * (spec 02 section 5.11, H8, H9, H10). The panel follows after commit and forgets the user's devices.
 * @returns the answer of `POST /cabinet/subscription/tariff/switch`
 * @throws AppError the refusals of `judgeSwitch` | 403 restricted | 402 insufficient_funds
 */
export function switchToTariff(
  app: App,
  actor: UserActor,
  order: SwitchOrder & { idempotencyKey: string | null },
): Promise<WireObject> {
  const { idempotencyKey, ...input } = order;
  return runOnce(app, actor, { key: idempotencyKey, operation: 'subscription.switch-tariff', input }, (t) =>
    sellSwitch(t, actor.userId, input),
  );
}

async function sellSwitch(t: App, userId: number, order: SwitchOrder): Promise<WireObject> {
  const start = await beginSale(t, userId);
  const { buyer } = start;
  // The current tariff cannot go away meanwhile: that would have to change the locked subscription.
  const next = isRowId(order.tariffId) ? await lockTariff(t, order.tariffId) : null;
  const wish = { buyer, subscription: start.subscription, next };
  const judged = await judge(t, wish, 'Tariff not available');
  const { subscription, current, quote } = judged;
  const result = switchTariff(
    subscription,
    {
      next: judged.next,
      kind: quote.kind,
      newPeriodDays: quote.newPeriodDays,
      isPaid: quote.finalKopeks > 0,
      squads: (await effectiveSquadsOf(t, judged.next)).map((squadUuid) => ({ squadUuid, isAvailable: true })),
    },
    { now: t.clock.now(), settings: subscriptionSettingsOf(t), pricing: pricingSettingsOf(t) },
  );
  const paidDays = quote.newPeriodDays || quote.remainingDays;
  const sale = await completeSale(t, start, {
    quote,
    product: 'tariff',
    changes: result.changes,
    dropsPurchases: true,
    serverPrices: {},
    conversion: result.isTrialConversion
      ? { trialDurationDays: durationDays(subscription), firstPaidPeriodDays: paidDays }
      : null,
    description: text(buyer.language, 'subscriptions.transaction_switch', {
      old_tariff: current.name,
      new_tariff: judged.next.name,
    }),
    refusal: (missingKopeks) => insufficientFunds(t, buyer, missingKopeks, null),
    event: () => ({
      type: 'purchase',
      extra: {
        purchase_type: 'tariff_switch',
        period_days: paidDays,
        was_trial_conversion: result.isTrialConversion,
        payment_method: 'balance',
      },
    }),
    tariffName: judged.next.name,
    isTerm: result.changes.endDate !== undefined,
    marksPaid: quote.finalKopeks > 0,
    resetsTraffic: result.changes.trafficUsedGb === 0,
    resetsDevices: true,
    isTold: false,
  });
  const label = labeller(t);
  return jsonAnswer({
    success: true,
    message: text(buyer.language, 'subscriptions.switched', { tariff_name: judged.next.name }),
    subscription: soldSubscription(t, { buyer, tariff: judged.next, sale, usedOffer: quote.offerDiscountKopeks > 0 }),
    old_tariff_name: current.name,
    new_tariff_id: judged.next.id,
    new_tariff_name: judged.next.name,
    charged_kopeks: quote.finalKopeks,
    balance_kopeks: sale.balanceKopeks,
    balance_label: label(sale.balanceKopeks),
    ...discountFields(quote, 'base_charged_kopeks'),
  });
}

async function judge(
  app: App,
  wish: { buyer: Buyer; subscription: Subscription | null; next: Tariff | null },
  denied: string,
): Promise<JudgedSwitch> {
  const { buyer, subscription } = wish;
  const current = subscription?.tariffId == null ? null : await findTariff(app, subscription.tariffId);
  return judgeSwitch(
    {
      ...wish,
      current,
      pricing: pricingSettingsOf(app),
      now: app.clock.now(),
      words: {
        expired: text(buyer.language, 'errors.subscription_expired'),
        inactive: text(buyer.language, 'errors.subscription_inactive'),
      },
    },
    denied,
  );
}

function previewOf(app: App, buyer: Buyer, { subscription, current, next, quote }: JudgedSwitch): WireObject {
  const label = labeller(app);
  const cost = quote.finalKopeks;
  const missing = Math.max(0, cost - buyer.balanceKopeks);
  return {
    can_switch: missing === 0,
    current_tariff_id: subscription.tariffId,
    current_tariff_name: current.name,
    new_tariff_id: next.id,
    new_tariff_name: next.name,
    remaining_days: quote.remainingDays,
    upgrade_cost_kopeks: cost,
    upgrade_cost_label: cost > 0 ? label(cost) : freeLabel(buyer.language),
    balance_kopeks: buyer.balanceKopeks,
    balance_label: label(buyer.balanceKopeks),
    has_enough_balance: missing === 0,
    missing_amount_kopeks: missing,
    missing_amount_label: label(missing),
    is_upgrade: quote.isUpgrade,
    ...discountFields(quote, 'base_upgrade_cost_kopeks'),
  };
}

/** Only when something was taken off. */
function discountFields(quote: TariffSwitchQuote, baseKey: 'base_charged_kopeks' | 'base_upgrade_cost_kopeks'): WireObject {
  if (quote.discountKopeks <= 0) return {};
  return {
    discount_percent: quote.effectiveDiscountPercent,
    discount_kopeks: quote.discountKopeks,
    [baseKey]: quote.rawKopeks,
  };
}

function labeller(app: App): (kopeks: number) => string {
  const rounds = app.settings.get('PRICE_ROUNDING_ENABLED');
  return (kopeks) => formatPrice(kopeks, rounds);
}
