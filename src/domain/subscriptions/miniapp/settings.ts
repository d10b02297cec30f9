import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { refusal } from '../../../core/errors.ts';
import { applyPercent, formatPrice } from '../../../core/money.ts';
import { listSquads } from '../../catalog/find-squads.ts';
import { findTariff, isFull, squadVisibleTo } from '../../catalog/find-tariff.ts';
import type { ServerSquad } from '../../catalog/types.ts';
import { runOnceFrom } from '../../ledger/run-once.ts';
import { text } from '../../messaging/texts.ts';
import { deviceTerms } from '../../pricing/addons.ts';
import { addOnPercent, type DiscountCategory } from '../../pricing/discounts.ts';
import { MONTH_DAYS, wholeDaysLeft } from '../../pricing/periods.ts';
import { requestProvisioning } from '../../provisioning/request-provisioning.ts';
import { openSale, requireBuyer } from '../purchase/complete-sale.ts';
import { InsufficientFundsError, insufficientFundsInMiniapp } from '../purchase/insufficient-funds.ts';
import type { Buyer, SaleStart } from '../purchase/types.ts';
import { sellDevices } from '../purchase-devices.ts';
import { update } from '../repo.ts';
import { pricingSettingsOf } from '../settings.ts';
import { packageGb, switchTraffic } from '../switch-traffic.ts';
import type { Subscription } from '../types.ts';
import { type ChangeRequest, NO_CHANGES } from './change-servers.ts';
import { requirePaidSubscription } from './paid-guard.ts';

const subscriptionInactive = refusal('subscription_inactive', 403, 'The subscription is not active');

/** How many devices above the current limit are listed where there is no cap. */
const UNCAPPED_EXTRA_DEVICES = 10;

/**
 * What of the subscription can be changed, with prices per 30 days in kopeks (spec 02 section 12.3a). The devices that the tariff
 * includes are free.
 * @throws AppError the paid guard's; trials are admitted
 */
export async function readMiniappSettings(app: App, actor: UserActor, subscriptionId: number | null) {
  const { buyer, subscription } = await requirePaidSubscription(app, actor, { subscriptionId, trial: true });
  // A trial is a stored `active` with its flag; the status of older installations is refused here (spec 10 X24).
  if (subscription.status === 'trial') {
    throw subscriptionInactive({ detail: text(buyer.language, 'errors.subscription_inactive') });
  }
  const settings = pricingSettingsOf(app);
  const daysLeft = wholeDaysLeft(subscription.endDate, app.clock.now());
  const hintDays = daysLeft > 0 ? daysLeft : null;
  const percentOf = (category: DiscountCategory) => addOnPercent(buyer.primaryPromoGroup, category, hintDays, settings);
  const label = (kopeks: number) => formatPrice(kopeks, settings.priceRoundingEnabled);
  const squads = await listSquads(app);
  const names = new Map(squads.map((squad) => [squad.squadUuid, squad.displayName]));
  const servers = serverOptions(selectableSquads(squads, subscription, buyer), subscription, {
    percent: percentOf('servers'),
    label,
  });
  const tariff = subscription.tariffId === null ? null : await findTariff(app, subscription.tariffId);
  const isFixed = settings.trafficSelectionMode === 'fixed' || subscription.tariffId !== null;
  const trafficPercent = percentOf('traffic');
  const terms = deviceTerms(tariff, settings);
  const devicePercent = percentOf('devices');
  const current = subscription.deviceLimit;
  const last = terms.maxDevices ?? Math.max(current, terms.includedDevices) + UNCAPPED_EXTRA_DEVICES;
  const devicePrice = (devices: number) =>
    applyPercent(Math.max(0, devices - terms.includedDevices) * Math.max(0, terms.unitKopeks), devicePercent);
  const unitKopeks = applyPercent(Math.max(0, terms.unitKopeks), devicePercent);
  return {
    subscription,
    connected: subscription.connectedSquads.map((uuid) => ({ uuid, name: names.get(uuid) ?? uuid })),
    servers,
    traffic: {
      canUpdate: !isFixed,
      options: isFixed
        ? []
        : settings.trafficPackages
            .filter((entry) => entry.isEnabled)
            .map(({ gb, priceKopeks }) => {
              const finalKopeks = applyPercent(priceKopeks, trafficPercent);
              const isCurrent = gb === subscription.trafficLimitGb;
              return { value: gb, priceKopeks: finalKopeks, priceLabel: label(finalKopeks), isCurrent };
            }),
    },
    devices: {
      canUpdate: terms.unitKopeks > 0,
      options: Array.from({ length: Math.max(last, current) }, (_, index) => {
        const priceKopeks = devicePrice(index + 1);
        return { value: index + 1, priceKopeks, priceLabel: label(priceKopeks) };
      }),
      max: terms.maxDevices ?? 0,
      current,
      priceKopeks: unitKopeks,
      priceLabel: label(unitKopeks),
    },
    billing: { monthsRemaining: Math.max(1, Math.ceil(daysLeft / MONTH_DAYS)), periodHintDays: hintDays },
  };
}

/** Servers of a subscription, then those that its owner's group may choose. */
function selectableSquads(
  squads: readonly ServerSquad[],
  subscription: Pick<Subscription, 'connectedSquads'>,
  buyer: Pick<Buyer, 'primaryPromoGroup'>,
): ServerSquad[] {
  const byUuid = new Map(squads.map((squad) => [squad.squadUuid, squad]));
  const connected = subscription.connectedSquads.flatMap((uuid) => byUuid.get(uuid) ?? []);
  const others = squads.filter((squad) => squad.isAvailable && squadVisibleTo(squad, buyer.primaryPromoGroup));
  return [...new Set([...connected, ...others])];
}

function serverOptions(
  squads: readonly ServerSquad[],
  subscription: Pick<Subscription, 'connectedSquads'>,
  { percent, label }: { percent: number; label: (kopeks: number) => string },
) {
  const connected = new Set(subscription.connectedSquads);
  return squads.map((squad) => {
    const isConnected = connected.has(squad.squadUuid);
    const isAvailable = isConnected || (squad.isAvailable && !isFull(squad));
    const priceKopeks = applyPercent(squad.priceKopeks, percent);
    return {
      uuid: squad.squadUuid,
      name: squad.displayName,
      priceKopeks,
      priceLabel: label(priceKopeks),
      discountPercent: percent > 0 ? percent : null,
      isConnected,
      isAvailable,
      disabledReason: isAvailable ? null : 'Server is not available',
    };
  });
}

export const deviceLimitTooLow = refusal('validation_error', 400, 'Device limit must be at least 1');
const subscriptionNotFound = refusal('subscription_not_found', 404, 'You have no subscription');
export const devicesLimitExceeded = refusal('devices_limit_exceeded', 400, 'At most <n> devices may be added');

/** As many as one purchase may add (spec 02 H29). */
const MAX_ADDED = 100;

/**
 * Sets the device limit. More devices are bought at the price of the cabinet (spec 02 H28), fewer are free (spec 02 section 12.2). The
 * number is compared under the lock, so that two equal calls at once charge once.
 * @param limit null = not given
 * @returns the text for the user
 * @throws AppError the paid guard's | 400 validation_error, devices_unavailable, devices_limit_exceeded | 402 insufficient_funds | 403
 */
export async function changeMiniappDevices(
  app: App,
  actor: UserActor,
  limit: number | null,
  { subscriptionId, idempotencyKey: key }: ChangeRequest,
): Promise<string> {
  await requirePaidSubscription(app, actor, { subscriptionId, trial: true });
  if (limit === null || limit < 1) throw deviceLimitTooLow();
  try {
    return await runOnceFrom(
      app,
      actor,
      { key, operation: 'subscription.device-limit', input: { limit } },
      (t, claim) => openSale(t, actor.userId, {}, claim),
      (t, start) => setLimit(t, requireBuyer(start), limit),
    );
  } catch (error) {
    throw error instanceof InsufficientFundsError ? insufficientFundsInMiniapp(error) : error;
  }
}

async function setLimit(t: App, start: SaleStart, limit: number): Promise<string> {
  const { buyer, subscription } = start;
  if (!subscription) throw subscriptionNotFound({ detail: text(buyer.language, 'errors.subscription_missing') });
  const added = limit - subscription.deviceLimit;
  if (added === 0) return NO_CHANGES;
  if (added > MAX_ADDED) throw devicesLimitExceeded({ detail: `At most ${MAX_ADDED} devices may be added` });
  if (added > 0) return (await sellDevices(t, start, { kind: 'devices', devices: added }, { noneStatus: 404 })).message;
  await update(t.db, subscription.id, { deviceLimit: limit }, { now: t.clock.now() });
  await requestProvisioning(t, subscription.id);
  return text(buyer.language, 'subscriptions.devices_limit_set', { limit });
}

export const trafficAmountRequired = refusal('validation_error', 400, 'Traffic amount is required');

/**
 * Replaces the traffic package: the switch of the cabinet, which trials may make here too, and which is charged for the days left.
 * Subscriptions to a tariff are refused, since their traffic has a price of its own (spec 02 H4).
 * @param gb null = not given
 * @returns the text for the user
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
