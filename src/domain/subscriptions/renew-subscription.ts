import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { refusal } from '../../core/errors.ts';
import { formatPrice } from '../../core/money.ts';
import type { Tariff } from '../catalog/types.ts';
import { runOnceFrom } from '../ledger/run-once.ts';
import { text } from '../messaging/texts.ts';
import type { ClassicQuote } from '../pricing/classic-price.ts';
import { periodLabel } from '../pricing/periods.ts';
import { invalidPeriod, noSubscription } from './errors.ts';
import type { Choice, OrderOf } from './order.ts';
import { completeSale, openSale, requireBuyer } from './purchase/complete-sale.ts';
import { insufficientFunds } from './purchase/insufficient-funds.ts';
import { type GivenQuote, readGivenQuote } from './purchase/signed-quote.ts';
import type { Buyer, SaleNeeds, SaleStart } from './purchase/types.ts';
import { daysUsed } from './rules/status.ts';
import { extendSubscription, isRenewable, quotedRenewal, quoteRenewal } from './rules/terms.ts';
import { cartOf, keepCartOnRefusal } from './saved-cart.ts';
import { pricingSettingsOf, subscriptionSettingsOf } from './settings.ts';

export const periodUnavailable = refusal('period_unavailable', 400, 'Selected renewal period is not available');

/** A renewal that was made; kopeks. The fields of the personal discount are absent without one. */
export interface RenewedSubscription {
  message: string;
  subscriptionId: number;
  newEndDate: Date;
  amountPaidKopeks: number;
  /** After the renewal. */
  balanceKopeks: number;
  promoDiscountPercent?: number;
  promoDiscountAmountKopeks?: number;
  /** Before the group's discount and the personal one (spec 10 X11). */
  originalPriceKopeks?: number;
}

/**
 * Renews the user's subscription from the balance, once per idempotency key (spec 02 sections 3.2 and 5.2). Works for trials
 * and any status; a renewed trial becomes paid (H8). An order that the balance does not cover is saved as
 * the cart.
 * @throws AppError 403 restricted | 404 | 400 period not on offer | 402 insufficient_funds | those of `requireQuoted`
 */
export async function renewSubscription(
  app: App,
  actor: UserActor,
  request: Choice<'renewal'> & { quote?: string | null | undefined; idempotencyKey: string | null },
): Promise<RenewedSubscription> {
  const { quote, idempotencyKey, ...input } = request;
  const given = await readGivenQuote(app, quote);
  return keepCartOnRefusal(app, actor.userId, () =>
    runOnceFrom(
      app,
      actor,
      { key: idempotencyKey, operation: 'subscription.renew', input },
      (t, claim) => openSale(t, actor.userId, RENEWAL_NEEDS, claim),
      (t, start) => sellRenewal(t, start, { kind: 'renewal', ...input }, { given }),
    ),
  );
}

/** What a renewal has to lock and read. */
export const RENEWAL_NEEDS: SaleNeeds = { locksCurrentTariff: true, servers: 'without_tariff' };

/** The renewal in the caller's transaction, for orders that run after a top-up (spec 02 section 6). */
export async function renewInTransaction(t: App, userId: number, order: OrderOf<'renewal'>): Promise<RenewedSubscription> {
  return sellRenewal(t, (await openSale(t, userId, RENEWAL_NEEDS)).start, order);
}

/**
 * The renewal itself in the caller's transaction, also for autopay (spec 02 section 13).
 * @param opened with `RENEWAL_NEEDS`
 * @param options.given what the client sent back of `listRenewalOptions`; null = nothing
 * @param options.isAutopay the panel resets the used traffic whenever the setting says so (section 13, spec 06 section 14); a renewal by hand
 * resets it there only when the old time was over (spec 02 section 3.2)
 */
export async function sellRenewal(
  t: App,
  opened: SaleStart | null,
  order: OrderOf<'renewal'>,
  { isAutopay = false, given = null }: { isAutopay?: boolean; given?: GivenQuote | null } = {},
): Promise<RenewedSubscription> {
  const pricing = pricingSettingsOf(t);
  const settings = subscriptionSettingsOf(t);
  const now = t.clock.now();
  const start = requireBuyer(opened, 'Subscription renewal is restricted for this account');
  const { buyer, subscription } = start;
  if (!subscription) throw noSubscription();
  const { currentTariff: tariff, servers } = start;
  const quote = quoteRenewal({ subscription, tariff, servers, user: buyer, settings: pricing, now }, order.periodDays);
  if (quote.kind === 'refusal') throw periodUnavailable();
  if (!isRenewable(quote)) throw invalidPeriod();

  const result = extendSubscription(
    subscription,
    { days: order.periodDays, isPaid: true },
    { now, settings, pricing, isCurrentTariffDaily: start.isCurrentTariffDaily },
  );
  const description = describe(buyer, tariff, order.periodDays);
  const newEndDate = result.changes.endDate ?? subscription.endDate;
  const totalKopeks = quote.finalKopeks;
  const sale = await completeSale(t, start, {
    order,
    quote,
    quoted: { ...quotedRenewal({ subscription, tariff }, order), given },
    changes: result.changes,
    dropsPurchases: result.dropsPurchases,
    serverPrices: 'serverPrices' in quote ? pricesByUuid(quote) : {},
    conversion: result.isTrialConversion
      ? { trialDurationDays: daysUsed(subscription, now), firstPaidPeriodDays: order.periodDays }
      : null,
    description,
    refusal: (missingKopeks) =>
      insufficientFunds(
        t,
        buyer,
        missingKopeks,
        cartOf({ ...order, subscription, quote }, { totalKopeks, missingKopeks, description }),
      ),
    event: (balanceAfter) => ({
      type: 'renewal',
      extra: {
        extended_days: order.periodDays,
        previous_end_date: result.previousEndDate.toISOString(),
        new_end_date: newEndDate.toISOString(),
        payment_method: 'balance',
        balance_after: balanceAfter,
      },
    }),
    tariffName: tariff?.name ?? null,
    isTerm: true,
    marksPaid: true,
    resetsTraffic: (isAutopay || result.wasExpired) && settings.resetTrafficOnPayment,
    sendsMail: false,
  });
  return {
    message: text(buyer.language, 'messages.renewed', { amount: formatPrice(quote.finalKopeks, pricing.priceRoundingEnabled) }),
    subscriptionId: subscription.id,
    newEndDate,
    amountPaidKopeks: quote.finalKopeks,
    balanceKopeks: sale.balanceKopeks,
    ...(quote.offerDiscountKopeks > 0
      ? {
          promoDiscountPercent: quote.offerDiscountPercent,
          promoDiscountAmountKopeks: quote.offerDiscountKopeks,
          originalPriceKopeks: quote.originalTotalKopeks,
        }
      : {}),
  };
}

function describe(buyer: Buyer, tariff: Tariff | null, periodDays: number): string {
  const period = periodLabel(periodDays, buyer.language);
  if (tariff === null) return text(buyer.language, 'messages.transaction_renewal', { period });
  return text(buyer.language, 'messages.transaction_tariff_renewal', { tariff_name: tariff.name, period });
}

function pricesByUuid(quote: ClassicQuote): Record<string, number> {
  return Object.fromEntries(quote.serverPrices.map((server) => [server.squadUuid, server.paidPriceKopeks]));
}
