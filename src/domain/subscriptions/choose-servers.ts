import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { refusal } from '../../core/errors.ts';
import { applyPercent, rublesOf } from '../../core/money.ts';
import { listSquads } from '../catalog/find-squads.ts';
import { isFull, squadVisibleTo } from '../catalog/find-tariff.ts';
import type { ServerSquad } from '../catalog/types.ts';
import { runOnceFrom } from '../ledger/run-once.ts';
import { text } from '../messaging/texts.ts';
import { quoteServer } from '../pricing/addons.ts';
import { addOnPercent } from '../pricing/discounts.ts';
import type { PricedUser, PricingSettings } from '../pricing/types.ts';
import { noSubscription } from './errors.ts';
import { ADD_ON, completeSale, openSale, requireBuyer } from './purchase/complete-sale.ts';
import { insufficientFundsForServers, requireBuyerDetails } from './purchase/insufficient-funds.ts';
import type { SaleNeeds, SaleStart } from './purchase/types.ts';
import { actualStatus, daysLeft } from './rules/status.ts';
import { pricingSettingsOf } from './settings.ts';
import type { Subscription } from './types.ts';

/** Servers that were connected and disconnected; names, and kopeks. */
export type ChosenServers =
  | { message: 'No changes detected'; connectedSquads: string[] }
  | {
      message: 'Countries updated successfully';
      added: string[];
      removed: string[];
      amountPaidKopeks: number;
      connectedSquads: string[];
    };

/** The servers that the user may connect, with prices (spec 02 section 5.13). Never writes. @throws AppError 404 'User not found' */
export async function readServerOffer(app: App, actor: UserActor) {
  const [{ buyer, details }, squads] = await Promise.all([requireBuyerDetails(app, actor), listSquads(app)]);
  const context = { user: buyer, settings: pricingSettingsOf(app), now: app.clock.now(), squads };
  return offerServers(details?.subscription ?? null, context);
}

const NEEDS: SaleNeeds = { servers: 'always' };

/**
 * Makes the connected servers those of the list, once per idempotency key: added ones are paid from the balance for the rest of the time,
 * removing is free. The rows of servers, the charge and the request to update the panel are one transaction (spec 02 sections 5.13 and 15).
 * @param order.countries squad uuids
 * @throws AppError 403 restricted | 404 'No subscription found' | 400 (see `planServerChange`) | 402 'Insufficient balance. Need …'
 */
export function chooseServers(
  app: App,
  actor: UserActor,
  order: { countries: readonly string[]; idempotencyKey: string | null },
): Promise<ChosenServers> {
  const { idempotencyKey, ...input } = order;
  return runOnceFrom<SaleStart | null, ChosenServers>(
    app,
    actor,
    { key: idempotencyKey, operation: 'subscription.servers', input },
    (t, claim) => openSale(t, actor.userId, NEEDS, claim),
    (t, start) => sellServers(t, start, input.countries),
  );
}

async function sellServers(t: App, opened: SaleStart | null, countries: readonly string[]): Promise<ChosenServers> {
  const start = requireBuyer(opened);
  const { buyer, subscription, servers: squads } = start;
  if (!subscription) throw noSubscription();
  const context = { user: buyer, settings: pricingSettingsOf(t), now: t.clock.now(), squads };
  const { connectedSquads, pricesKopeks, totalKopeks, added, removed, isUnchanged } = planServerChange(
    subscription,
    countries,
    context,
  );
  if (isUnchanged) return { message: 'No changes detected', connectedSquads };
  await completeSale(t, start, {
    ...ADD_ON,
    order: { kind: 'servers', squadUuids: connectedSquads },
    quote: { finalKopeks: totalKopeks, offerDiscountKopeks: 0 },
    changes: { connectedSquads },
    serverPrices: pricesKopeks,
    dropsPurchases: false,
    description: text(buyer.language, 'subscriptions.transaction_servers', { servers: added.join(', ') }),
    refusal: () => insufficientFundsForServers(totalKopeks, buyer.balanceKopeks),
  });
  return { message: 'Countries updated successfully', added, removed, amountPaidKopeks: totalKopeks, connectedSquads };
}

export const trialRefusal = refusal('trial', 400, 'Country management is not available for trial subscriptions');
export const subscriptionInactive = refusal('subscription_inactive', 400, 'Subscription is not active');
export const noCountry = refusal('no_country', 400, 'At least one country must be selected');
export const countryUnavailable = refusal('country_unavailable', 400, 'Country no-such is not available');

interface ServerChoiceContext {
  user: PricedUser;
  settings: PricingSettings;
  now: Date;
  /** Every server, available or not. */
  squads: readonly ServerSquad[];
}

/**
 * What the owner may connect: the servers of the user's group with the price that adding one is charged at (spec 02 H5), for
 * 30 days without a subscription; kopeks. `connectedCount` counts servers that are no longer offered, too.
 */
function offerServers(subscription: Subscription | null, context: ServerChoiceContext) {
  const { now } = context;
  const discountPercent = discountOf(context);
  const connected = new Set(subscription?.connectedSquads ?? []);
  const countries = offered(context).map((squad) => {
    const pricePerMonthKopeks = applyPercent(squad.priceKopeks, discountPercent);
    const priceKopeks = subscription === null ? pricePerMonthKopeks : priceOf(squad, subscription, context);
    return {
      uuid: squad.squadUuid,
      name: squad.displayName,
      countryCode: squad.countryCode,
      basePriceKopeks: squad.priceKopeks,
      priceKopeks,
      priceRubles: rublesOf(priceKopeks),
      pricePerMonthKopeks,
      isAvailable: !isFull(squad),
      isConnected: connected.has(squad.squadUuid),
      hasDiscount: discountPercent > 0 && pricePerMonthKopeks < squad.priceKopeks,
      discountPercent,
    };
  });
  return {
    countries,
    connectedCount: connected.size,
    hasSubscription: subscription !== null,
    daysLeft: subscription === null ? 0 : daysLeft(subscription, now),
    discountPercent,
  };
}

/**
 * Compares the list with what is connected and prices what is added, each server by its uuid (spec 02 section 5.13, H26).
 * @returns the whole new list in the order given, kopeks by squad uuid of added servers, names; of removed ones only those still offered
 * @throws AppError 400 trial, inactive, nothing chosen, not available or full
 */
function planServerChange(subscription: Subscription, chosen: readonly string[], context: ServerChoiceContext) {
  if (subscription.isTrial) throw trialRefusal();
  const status = actualStatus(subscription, context.now);
  if (status !== 'active' && status !== 'limited') throw subscriptionInactive();
  const connectedSquads = [...new Set(chosen)];
  if (connectedSquads.length === 0) throw noCountry();
  const before = new Set(subscription.connectedSquads);
  const onOffer = new Map(offered(context).map((squad) => [squad.squadUuid, squad]));
  const addedSquads = connectedSquads
    .filter((uuid) => !before.has(uuid))
    .map((uuid) => {
      const squad = onOffer.get(uuid);
      if (!squad || isFull(squad)) throw countryUnavailable({ detail: `Country ${uuid} is not available` });
      return squad;
    });
  const prices = addedSquads.map((squad) => [squad.squadUuid, priceOf(squad, subscription, context)] as const);
  const dropped = [...before].filter((uuid) => !connectedSquads.includes(uuid));
  return {
    connectedSquads,
    pricesKopeks: Object.fromEntries(prices),
    totalKopeks: prices.reduce((sum, [, kopeks]) => sum + kopeks, 0),
    added: addedSquads.map((squad) => squad.displayName),
    removed: dropped.flatMap((uuid) => onOffer.get(uuid)?.displayName ?? []),
    isUnchanged: addedSquads.length === 0 && dropped.length === 0,
  };
}

function offered({ squads, user }: ServerChoiceContext): ServerSquad[] {
  return squads.filter((squad) => squad.isAvailable && squadVisibleTo(squad, user.primaryPromoGroup));
}

function discountOf({ user, settings }: ServerChoiceContext): number {
  return addOnPercent(user.primaryPromoGroup, 'servers', null, settings);
}

function priceOf(squad: ServerSquad, { endDate }: Subscription, { user, settings, now }: ServerChoiceContext): number {
  return quoteServer({ monthlyKopeks: squad.priceKopeks, endDate, user, settings, now }).finalKopeks;
}
