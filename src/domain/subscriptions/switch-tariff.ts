import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { formatPrice } from '../../core/money.ts';
import { isRowId } from '../../core/row-id.ts';
import { effectiveSquads, findTariff } from '../catalog/find-tariff.ts';
import type { Tariff } from '../catalog/types.ts';
import { runOnceFrom } from '../ledger/run-once.ts';
import { text } from '../messaging/texts.ts';
import { freeLabel } from '../pricing/periods.ts';
import type { TariffSwitchQuote } from '../pricing/tariff-switch.ts';
import { withPushedLink } from '../subscription-state/provision-state.ts';
import type { Choice } from './order.ts';
import { completeSale, openSale, requireBuyer, soldSubscription } from './purchase/complete-sale.ts';
import { insufficientFunds, requireBuyerDetails, requireServers } from './purchase/insufficient-funds.ts';
import { type GivenQuote, type QuotedSale, readGivenQuote, signQuote } from './purchase/signed-quote.ts';
import type { Buyer, SaleStart } from './purchase/types.ts';
import { daysUsed } from './rules/status.ts';
import { type ValidatedSwitch, validateSwitch } from './rules/switch-order.ts';
import { planTariffSwitch } from './rules/tariff-purchase.ts';
import type { SubscriptionView } from './rules/view.ts';
import { pricingSettingsOf, subscriptionSettingsOf } from './settings.ts';
import type { Subscription } from './types.ts';

/** Period and traffic are taken along as part of the request; a switch keeps its own time (spec 02 section 5.11). */
export interface SwitchRequest extends Choice<'switch'> {
  periodDays: number | null;
  trafficGb: number | null;
}

/** The discount of a switch; absent when nothing was taken off. */
interface SwitchDiscount {
  discountPercent?: number;
  discountKopeks?: number;
}

/** What a switch would cost; days, kopeks. */
export interface SwitchPreview extends SwitchDiscount {
  canSwitch: boolean;
  currentTariffId: number | null;
  currentTariffName: string;
  newTariffId: number;
  newTariffName: string;
  remainingDays: number;
  upgradeCostKopeks: number;
  upgradeCostLabel: string;
  balanceKopeks: number;
  balanceLabel: string;
  hasEnoughBalance: boolean;
  missingAmountKopeks: number;
  /** Empty when nothing is missing (spec 10 X24). */
  missingAmountLabel: string;
  isUpgrade: boolean;
  /** Before the discount. */
  baseUpgradeCostKopeks?: number;
  /** Signed; see `requireQuoted`. */
  quote: string;
}

/** A switch that was made; kopeks. */
export interface SwitchedTariff extends SwitchDiscount {
  success: true;
  message: string;
  subscription: SubscriptionView;
  oldTariffName: string;
  newTariffId: number;
  newTariffName: string;
  chargedKopeks: number;
  /** After the switch. */
  balanceKopeks: number;
  balanceLabel: string;
  /** Before the discount. */
  baseChargedKopeks?: number;
}

/**
 * What a switch to the tariff would cost and whether the balance covers it; kopeks. Never writes.
 * @throws AppError the refusals of `validateSwitch`
 */
export async function previewTariffSwitch(app: App, actor: UserActor, order: SwitchRequest): Promise<SwitchPreview> {
  const found = await requireBuyerDetails(app, actor);
  const { buyer } = found;
  const next = isRowId(order.tariffId) ? await findTariff(app, order.tariffId) : null;
  const subscription = found.details?.subscription ?? null;
  const current = subscription?.tariffId == null ? null : await findTariff(app, subscription.tariffId);
  const request = { buyer, subscription, current, next };
  const validated = validate(app, request, 'Tariff not available for your promo group');
  const priceKopeks = validated.quote.finalKopeks;
  const quote = await signQuote(app, { ...quotedOrder(validated), userId: buyer.id, priceKopeks });
  return { ...previewOf(app, buyer, validated), quote };
}

/**
 * Switches the subscription to another tariff, once per idempotency key: charge, limits, servers and dates in one transaction
 * (spec 02 section 5.11, H8, H9, H10). The panel follows after commit and forgets the user's devices.
 * @throws AppError the refusals of `validateSwitch` | 400 no_servers | 403 restricted | 402 insufficient_funds |
 * those of `requireQuoted`
 */
export async function switchTariff(
  app: App,
  actor: UserActor,
  order: SwitchRequest & { quote?: string | null | undefined; idempotencyKey: string | null },
): Promise<SwitchedTariff> {
  const { quote, idempotencyKey, ...input } = order;
  const given = await readGivenQuote(app, quote);
  const { tariffId } = input;
  const switched = await runOnceFrom(
    app,
    actor,
    { key: idempotencyKey, operation: 'subscription.switch-tariff', input },
    (t, claim) => openSale(t, actor.userId, { orderedTariffId: tariffId, servers: 'for_open_tariff' }, claim),
    (t, start) => sellSwitch(t, start, given),
  );
  return withPushedLink(app, switched);
}

async function sellSwitch(t: App, opened: SaleStart | null, given: GivenQuote | null): Promise<SwitchedTariff> {
  const start = requireBuyer(opened);
  // The current tariff cannot go away meanwhile: that would have to change the locked subscription.
  const { buyer, currentTariff, orderedTariff } = start;
  const request = { buyer, subscription: start.subscription, current: currentTariff, next: orderedTariff };
  const validated = validate(t, request, 'Tariff not available');
  const { subscription, current, next, quote } = validated;
  const result = planTariffSwitch(
    subscription,
    {
      next,
      kind: quote.kind,
      newPeriodDays: quote.newPeriodDays,
      isPaid: quote.finalKopeks > 0,
      squads: effectiveSquads(next, start.servers).map((squadUuid) => ({ squadUuid, isAvailable: true })),
    },
    { now: t.clock.now(), settings: subscriptionSettingsOf(t), pricing: pricingSettingsOf(t) },
  );
  requireServers(subscription, result.changes);
  const paidDays = quote.newPeriodDays || quote.remainingDays;
  const sale = await completeSale(t, start, {
    order: { kind: 'switch', tariffId: next.id },
    quote,
    quoted: { ...quotedOrder(validated), given },
    changes: result.changes,
    dropsPurchases: true,
    serverPrices: {},
    conversion: result.isTrialConversion
      ? { trialDurationDays: daysUsed(subscription, t.clock.now()), firstPaidPeriodDays: paidDays }
      : null,
    description: text(buyer.language, 'subscriptions.transaction_switch', {
      old_tariff: current.name,
      new_tariff: next.name,
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
    tariffName: next.name,
    isTerm: result.changes.endDate !== undefined,
    marksPaid: quote.finalKopeks > 0,
    resetsTraffic: result.changes.trafficUsedGb === 0,
    resetsDevices: true,
    sendsMail: false,
  });
  const label = labeller(t);
  return {
    success: true,
    message: text(buyer.language, 'subscriptions.switched', { tariff_name: next.name }),
    subscription: soldSubscription(t, { buyer, tariff: next, sale, usedOffer: quote.offerDiscountKopeks > 0 }),
    oldTariffName: current.name,
    newTariffId: next.id,
    newTariffName: next.name,
    chargedKopeks: quote.finalKopeks,
    balanceKopeks: sale.balanceKopeks,
    balanceLabel: label(sale.balanceKopeks),
    ...discountOf(quote),
    ...(quote.discountKopeks > 0 ? { baseChargedKopeks: quote.rawKopeks } : {}),
  };
}

function quotedOrder({ current, next, quote }: ValidatedSwitch): Pick<QuotedSale, 'order' | 'delivered'> {
  const { id: tariffId, trafficLimitGb, deviceLimit } = next;
  const delivered = { fromTariffId: current.id, trafficLimitGb, deviceLimit, newPeriodDays: quote.newPeriodDays };
  return { order: { kind: 'switch', tariffId }, delivered };
}

function validate(
  app: App,
  request: { buyer: Buyer; subscription: Subscription | null; current: Tariff | null; next: Tariff | null },
  denied: string,
): ValidatedSwitch {
  const { buyer } = request;
  return validateSwitch(
    {
      ...request,
      pricing: pricingSettingsOf(app),
      now: app.clock.now(),
      messages: {
        expired: text(buyer.language, 'errors.subscription_expired'),
        inactive: text(buyer.language, 'errors.subscription_inactive'),
      },
    },
    denied,
  );
}

function previewOf(
  app: App,
  buyer: Buyer,
  { subscription, current, next, quote }: ValidatedSwitch,
): Omit<SwitchPreview, 'quote'> {
  const label = labeller(app);
  const cost = quote.finalKopeks;
  const missing = Math.max(0, cost - buyer.balanceKopeks);
  return {
    canSwitch: missing === 0,
    currentTariffId: subscription.tariffId,
    currentTariffName: current.name,
    newTariffId: next.id,
    newTariffName: next.name,
    remainingDays: quote.remainingDays,
    upgradeCostKopeks: cost,
    upgradeCostLabel: cost > 0 ? label(cost) : freeLabel(buyer.language),
    balanceKopeks: buyer.balanceKopeks,
    balanceLabel: label(buyer.balanceKopeks),
    hasEnoughBalance: missing === 0,
    missingAmountKopeks: missing,
    missingAmountLabel: missing > 0 ? label(missing) : '',
    isUpgrade: quote.isUpgrade,
    ...discountOf(quote),
    ...(quote.discountKopeks > 0 ? { baseUpgradeCostKopeks: quote.rawKopeks } : {}),
  };
}

function discountOf(quote: TariffSwitchQuote): SwitchDiscount {
  if (quote.discountKopeks <= 0) return {};
  return { discountPercent: quote.effectiveDiscountPercent, discountKopeks: quote.discountKopeks };
}

function labeller(app: App): (kopeks: number) => string {
  const rounds = app.settings.get('PRICE_ROUNDING_ENABLED');
  return (kopeks) => formatPrice(kopeks, rounds);
}
