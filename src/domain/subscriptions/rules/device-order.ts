import type { Tariff } from '../../catalog/types.ts';
import { type AddOnQuote, type DeviceTerms, deviceTerms, quoteDevices } from '../../pricing/addons.ts';
import type { PricedUser, PricingSettings } from '../../pricing/types.ts';
import type { Subscription } from '../types.ts';
import { isPast } from './status.ts';

/** Why no devices are sold; the caller has the texts. */
export type DeviceRefusal =
  | { kind: 'refusal'; reason: 'inactive' | 'off'; terms: DeviceTerms }
  | { kind: 'refusal'; reason: 'maximum' | 'too_many'; terms: DeviceTerms; canAdd: number; max: number };

export type DeviceOffer = { kind: 'offer'; quote: AddOnQuote; terms: DeviceTerms; canAdd: number | null };

/**
 * Whether more devices are sold and at what price: the one rule of price, purchase and saved cart in both areas (spec 02 section 5.5, H28).
 * @param devices how many to add, 1 or more
 * @param tariff the tariff of the subscription; null for a classic one
 */
export function planDevices(
  subscription: Pick<Subscription, 'status' | 'endDate' | 'deviceLimit'>,
  tariff: Tariff | null,
  devices: number,
  context: { user: PricedUser; settings: PricingSettings; now: Date },
): DeviceOffer | DeviceRefusal {
  const { user, settings, now } = context;
  const terms = deviceTerms(tariff, settings);
  const isLive = subscription.status === 'active' || subscription.status === 'trial';
  if (!isLive || isPast(subscription, now)) return { kind: 'refusal', reason: 'inactive', terms };
  if (terms.unitKopeks <= 0) return { kind: 'refusal', reason: 'off', terms };
  const currentLimit = subscription.deviceLimit;
  const max = terms.maxDevices;
  const canAdd = max === null ? null : Math.max(0, max - currentLimit);
  if (max !== null && canAdd !== null && devices > canAdd) {
    return { kind: 'refusal', reason: canAdd === 0 ? 'maximum' : 'too_many', terms, canAdd, max };
  }
  const { endDate } = subscription;
  const quote = quoteDevices({ terms, currentLimit, newLimit: currentLimit + devices, endDate, user, settings, now });
  return { kind: 'offer', quote, terms, canAdd };
}
