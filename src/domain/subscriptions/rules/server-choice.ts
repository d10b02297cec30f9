import { refusal } from '../../../core/errors.ts';
import { applyPercent, rublesOf } from '../../../core/money.ts';
import { isFull, squadVisibleTo } from '../../catalog/rules/tariff-access.ts';
import type { ServerSquad } from '../../catalog/types.ts';
import { quoteServer } from '../../pricing/addons.ts';
import { addOnPercent } from '../../pricing/discounts.ts';
import type { PricedUser, PricingSettings } from '../../pricing/types.ts';
import type { Subscription } from '../types.ts';
import { actualStatus, daysLeft } from './status.ts';

export const trialRefusal = refusal('trial', 400, 'Country management is not available for trial subscriptions');
export const subscriptionInactive = refusal('subscription_inactive', 400, 'Subscription is not active');
export const noCountry = refusal('no_country', 400, 'At least one country must be selected');
export const countryUnavailable = refusal('country_unavailable', 400, 'Country no-such is not available');

/** Who chooses, for which subscription, from which servers. */
export interface ServerChoiceContext {
  user: PricedUser;
  settings: PricingSettings;
  now: Date;
  /** Every server, available or not. */
  squads: readonly ServerSquad[];
}

/**
 * What the owner may connect (spec 02 section 5.13): the servers of the user's group with the price that adding one is charged at (H5), for
 * 30 days without a subscription; kopeks. `connectedCount` counts servers that are no longer offered, too.
 */
export function offerServers(subscription: Subscription | null, context: ServerChoiceContext) {
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
export function planServerChange(subscription: Subscription, chosen: readonly string[], context: ServerChoiceContext) {
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
