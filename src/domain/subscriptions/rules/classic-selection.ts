import { addDays } from '../../../core/clock.ts';
import { refusal } from '../../../core/errors.ts';
import { isFull } from '../../catalog/find-tariff.ts';
import { type ClassicQuote, isTrafficFixed, quoteClassic } from '../../pricing/classic-price.ts';
import { type ClassicChoices, classicChoices } from '../classic-options.ts';
import { invalidServers } from '../errors.ts';
import type { Choice, OrderOf } from '../order.ts';
import type { PurchaseOptionsInput } from '../purchase-options.ts';
import type { Subscription, SubscriptionChanges, SubscriptionSettings } from '../types.ts';
import { isPast } from './status.ts';

const invalidPeriod = refusal('invalid_period', 400, 'Invalid or missing subscription period');
const invalidTraffic = refusal('invalid_traffic', 400, 'Selected traffic option is not available');
const calculationError = refusal('calculation_error', 400, 'Invalid total amount');
export const SELECTION_REFUSALS = [invalidPeriod, invalidTraffic, invalidServers, calculationError];

/** What the buyer picked; null or empty = what the options name as default. */
export interface ClassicSelection {
  /** `days:{n}`; wins over the number. */
  periodId: string | null;
  periodDays: number | null;
  /** GB; 0 = unlimited. Without effect while traffic is fixed. */
  trafficGb: number | null;
  squadUuids: readonly string[];
  devices: number | null;
}

/** A selection that is sold, and its price. */
export interface ClassicOrder {
  order: OrderOf<'classic'>;
  quote: ClassicQuote;
}

/**
 * Checks a selection against the choices that the options list, and prices it as the charge does (spec 02 section 5.9, H3, H5).
 * @throws AppError 400 invalid_period, invalid_traffic, invalid_servers, calculation_error
 */
export function resolveSelection(selection: ClassicSelection, input: PurchaseOptionsInput): ClassicOrder {
  const { settings, user, now } = input;
  const choices = classicChoices(input);
  const periodDays = periodOf(selection);
  if (periodDays === null || !settings.availableSubscriptionPeriods.includes(periodDays)) throw invalidPeriod();
  const trafficGb = isTrafficFixed(settings) ? choices.defaults.trafficGb : (selection.trafficGb ?? choices.defaults.trafficGb);
  if (!isTrafficFixed(settings) && !choices.trafficGb.includes(trafficGb)) throw invalidTraffic();
  const squadUuids = squadsOf(selection, choices, input.subscription);
  const requested = selection.devices ?? choices.defaults.devices;
  const devices = Math.min(choices.maxDevices, Math.max(choices.minDevices, requested));
  const quote = quoteClassic({
    periodDays,
    trafficLimitGb: trafficGb,
    purchasedTrafficGb: 0,
    squadUuids,
    servers: input.squads,
    deviceLimit: devices,
    user,
    settings,
    now,
  });
  // What discounts make free may be bought; only a renewal of it is refused (spec 10 X21).
  if (quote.finalKopeks <= 0 && quote.base.originalKopeks <= 0) throw calculationError();
  return { order: { kind: 'classic', periodDays, trafficGb: quote.trafficLimitGb, squadUuids, devices }, quote };
}

/**
 * The changes that a classic purchase makes to a subscription (spec 02 section 5.9): new limits, servers and devices, and the period after
 * the rest of the paid time; the rest of a trial counts only by the setting (H8). A former tariff is removed, so that renewals are priced
 * by what was bought.
 */
export function classicChanges(
  subscription: Subscription | null,
  order: Choice<'classic'>,
  context: { now: Date; settings: Pick<SubscriptionSettings, 'trialAddRemainingDaysToPaid'> },
): SubscriptionChanges {
  const { now } = context;
  const isUnpaid = subscription?.status === 'pending';
  const addsRest =
    subscription !== null &&
    !isUnpaid &&
    !isPast(subscription, now) &&
    (!subscription.isTrial || context.settings.trialAddRemainingDaysToPaid);
  return {
    status: 'active',
    isTrial: false,
    ...(addsRest && !subscription.isTrial ? {} : { startDate: now }),
    endDate: addDays(addsRest ? subscription.endDate : now, order.periodDays),
    trafficLimitGb: order.trafficGb,
    trafficUsedGb: 0,
    purchasedTrafficGb: 0,
    trafficResetAt: null,
    deviceLimit: order.devices,
    connectedSquads: order.squadUuids,
    tariffId: null,
    isDailyPaused: false,
    lastDailyChargeAt: null,
  };
}

function periodOf({ periodId, periodDays }: ClassicSelection): number | null {
  const named = periodId === null ? null : /^\s*(?:days:)?(\d{1,6})\s*$/.exec(periodId);
  if (named) return Number(named[1]);
  return periodId === null || periodId.trim() === '' ? periodDays : null;
}

/** Servers that are full or closed stay with those who have them, and are not sold to others. */
function squadsOf(selection: ClassicSelection, choices: ClassicChoices, subscription: Subscription | null): string[] {
  const picked = [...new Set(selection.squadUuids)];
  const uuids = picked.length > 0 ? picked : choices.defaults.squadUuids;
  if (uuids.length < choices.minServers) throw invalidServers({ detail: 'Select at least one server' });
  const connected = new Set(subscription?.connectedSquads ?? []);
  const isSold = (uuid: string) => {
    const squad = choices.squads.find((candidate) => candidate.squadUuid === uuid);
    return squad !== undefined && (connected.has(uuid) || (squad.isAvailable && !isFull(squad)));
  };
  if (!uuids.every(isSold)) throw invalidServers();
  return uuids.slice(0, choices.maxServers);
}
