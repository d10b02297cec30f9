import fc from 'fast-check';
import type { UserActor } from '../../src/core/actor.ts';
import type { App } from '../../src/core/app.ts';
import { buyGift } from '../../src/domain/storefront/gifts/buy-gift.ts';
import { readGiftConfig } from '../../src/domain/storefront/gifts/gift-config.ts';
import { previewClassic, purchaseClassic } from '../../src/domain/subscriptions/purchase-classic.ts';
import { purchaseDevices, readDevicePrice } from '../../src/domain/subscriptions/purchase-devices.ts';
import type { TariffsOptions } from '../../src/domain/subscriptions/purchase-options.ts';
import { purchaseTariff } from '../../src/domain/subscriptions/purchase-tariff.ts';
import { purchaseTraffic } from '../../src/domain/subscriptions/purchase-traffic.ts';
import {
  listRenewalOptions,
  listTrafficPackages,
  readPurchaseOptions,
} from '../../src/domain/subscriptions/read-subscription.ts';
import { renewSubscription } from '../../src/domain/subscriptions/renew-subscription.ts';
import { previewTariffSwitch, switchTariff } from '../../src/domain/subscriptions/switch-tariff.ts';
import { aBuyer, aMembership, anOffer, aServer, aStoredSubscription, aTariff } from './sale-samples.ts';

/** Random carts of everything that is quoted: who buys, what exists, and how it is previewed and paid. */

const percent = fc.integer({ min: 0, max: 100 });
const days = fc.integer({ min: 1, max: 400 });
const kopeks = fc.integer({ min: 0, max: 5_000_000 });

const tariff = fc.record({
  period_prices: fc.dictionary(days.map(String), kopeks, { minKeys: 1, maxKeys: 4 }),
  device_limit: fc.integer({ min: 1, max: 5 }),
  device_price_kopeks: fc.option(fc.integer({ min: 0, max: 100_000 })),
  is_daily: fc.boolean(),
  daily_price_kopeks: fc.integer({ min: 0, max: 100_000 }),
  traffic_limit_gb: fc.integer({ min: 0, max: 500 }),
  traffic_topup_enabled: fc.boolean(),
  traffic_topup_packages: fc.dictionary(fc.integer({ min: 1, max: 500 }).map(String), kopeks, { maxKeys: 3 }),
});

const membership = fc.option(
  fc.record({
    period_discounts: fc.dictionary(days.map(String), percent, { maxKeys: 4 }),
    device_discount_percent: percent,
    server_discount_percent: percent,
    traffic_discount_percent: percent,
    apply_discounts_to_addons: fc.boolean(),
  }),
);

export const PRODUCTS = ['tariff', 'renewal', 'switch', 'devices', 'traffic', 'gift', 'classic'] as const;
type Product = (typeof PRODUCTS)[number];

export const cart = fc.record({
  product: fc.constantFrom(...PRODUCTS),
  tariff,
  other: tariff,
  membership,
  offer: percent,
  isClassic: fc.boolean(),
  isSame: fc.boolean(),
  isTrial: fc.boolean(),
  minutesLeft: fc.integer({ min: 1, max: 400 * 24 * 60 }),
  extraDevices: fc.integer({ min: 0, max: 8 }),
  pick: fc.nat(),
});
export type Cart = typeof cart extends fc.Arbitrary<infer Value> ? Value : never;

/** One order that has been previewed. */
export interface PreviewedCart {
  /** What the preview showed; kopeks. */
  shownKopeks: number | null;
  quote: string;
  /** Buys it. @returns what was charged, kopeks */
  buy(quote: string | null): Promise<number>;
}

/** A buyer in the situation of the cart. */
export interface CartFixture {
  buyer: UserActor;
  tariffId: number;
  otherId: number;
}

const RICH = 10_000_000_000;

export async function prepareCart(app: App, given: Cart): Promise<CartFixture> {
  const { product } = given;
  const buyer = await aBuyer(app, RICH);
  if (given.membership) await aMembership(app, buyer.userId, given.membership);
  const isBare = product === 'classic' || given.isClassic;
  const server = isBare ? await aServer(app) : null;
  const tariffId = await aTariff(app, given.tariff);
  const otherId = await aTariff(app, given.other);
  const hasSubscription = !['tariff', 'classic', 'gift'].includes(product) || given.isSame;
  if (hasSubscription) {
    const hasTariff = product === 'switch' || (product !== 'classic' && !given.isClassic);
    await aStoredSubscription(app, buyer.userId, {
      tariff_id: hasTariff ? tariffId : null,
      is_trial: given.isTrial,
      device_limit: given.tariff.device_limit + given.extraDevices,
      traffic_limit_gb: given.tariff.traffic_limit_gb,
      connected_squads: server ? [server.uuid] : [],
      end_date: new Date(app.clock.now().getTime() + given.minutesLeft * 60_000),
    });
  }
  if (given.offer > 0) await anOffer(app, buyer.userId, given.offer);
  return { buyer, tariffId, otherId };
}

/** Removes what the cart needed from the service, so that the lists of the next one stay short. */
export async function clearCatalog(app: App): Promise<void> {
  await app.db.sql('UPDATE tariffs SET is_active = false WHERE is_active RETURNING id');
  await app.db.sql('UPDATE server_squads SET is_available = false WHERE is_available RETURNING id');
}

/** @returns null where the service does not sell such a cart, which the preview says by listing or refusing it */
export async function preview(app: App, given: Cart, fixture: CartFixture): Promise<PreviewedCart | null> {
  try {
    return await PREVIEWS[given.product](app, given, fixture);
  } catch (error) {
    // What is refused before anything is charged has no price.
    if (error instanceof Error && 'status' in error && error.status === 400) return null;
    throw error;
  }
}

const none = { idempotencyKey: null };
const one = <T>(list: readonly T[], pick: number): T | undefined => list[pick % Math.max(1, list.length)];

const PREVIEWS: Record<Product, (app: App, given: Cart, fixture: CartFixture) => Promise<PreviewedCart | null>> = {
  async tariff(app, { pick }, { buyer, tariffId }) {
    const options = (await readPurchaseOptions(app, buyer)) as TariffsOptions;
    const shown = options.tariffs.find(({ id }) => id === tariffId)!;
    const daily = shown.dailyQuote === undefined ? [] : [{ days: 1, quote: shown.dailyQuote }];
    const period = one(shown.isDaily ? daily : shown.periods, pick);
    if (!period) return null;
    const order = { tariffId, periodDays: period.days, trafficGb: null, ...none };
    const buy = async (quote: string | null) => (await purchaseTariff(app, buyer, { ...order, quote })).chargedAmount;
    // The list leaves the personal offer to the client (08 C1); the quote has it.
    return { shownKopeks: null, quote: period.quote, buy };
  },
  async renewal(app, { pick }, { buyer }) {
    const option = one(await listRenewalOptions(app, buyer), pick);
    if (!option) return null;
    const order = { periodDays: option.periodDays, ...none };
    const buy = async (quote: string | null) => (await renewSubscription(app, buyer, { ...order, quote })).amountPaidKopeks;
    return { shownKopeks: option.priceKopeks, quote: option.quote, buy };
  },
  async switch(app, _given, { buyer, otherId }) {
    const order = { tariffId: otherId, periodDays: null, trafficGb: null };
    const shown = await previewTariffSwitch(app, buyer, order);
    const buy = async (quote: string | null) => (await switchTariff(app, buyer, { ...order, ...none, quote })).chargedKopeks;
    return { shownKopeks: shown.upgradeCostKopeks, quote: shown.quote, buy };
  },
  async devices(app, { pick }, { buyer }) {
    const devices = 1 + (pick % 4);
    const shown = await readDevicePrice(app, buyer, devices);
    if (!shown.available) return null;
    const buy = async (quote: string | null) => (await purchaseDevices(app, buyer, { devices, ...none, quote })).priceKopeks;
    return { shownKopeks: shown.totalPriceKopeks, quote: shown.quote, buy };
  },
  async traffic(app, { pick }, { buyer }) {
    const offer = one(await listTrafficPackages(app, buyer), pick);
    if (!offer?.quote) return null;
    const order = { gb: offer.gb, ...none };
    const buy = async (quote: string | null) => (await purchaseTraffic(app, buyer, { ...order, quote })).amountPaidKopeks;
    return { shownKopeks: null, quote: offer.quote, buy };
  },
  async gift(app, { pick }, { buyer, tariffId }) {
    const shown = (await readGiftConfig(app, buyer)).tariffs.find(({ id }) => id === tariffId);
    const period = shown && one(shown.periods, pick);
    if (!period) return null;
    const order = { tariffId, periodDays: period.days, recipient: null, giftMessage: null, paymentMethod: null };
    const buy = async (quote: string | null) => {
      await buyGift(app, buyer, order, { idempotencyKey: null, ip: null }, quote);
      const [row] = await app.db.sql<{ kopeks: number }>(
        "SELECT -amount_kopeks AS kopeks FROM transactions WHERE user_id = $1::int AND type = 'gift_payment'",
        [buyer.userId],
      );
      return row!.kopeks;
    };
    return { shownKopeks: period.priceKopeks, quote: period.quote, buy };
  },
  async classic(app, { pick, extraDevices }, { buyer }) {
    const periods = [30, 90, 180];
    const selection = {
      periodId: null,
      periodDays: one(periods, pick)!,
      trafficGb: null,
      squadUuids: [],
      devices: 1 + extraDevices,
    };
    const shown = await previewClassic(app, buyer, selection);
    const buy = async (quote: string | null) =>
      RICH - (await purchaseClassic(app, buyer, { selection, ...none, quote })).balanceKopeks;
    return { shownKopeks: shown.totalPriceKopeks, quote: shown.quote, buy };
  },
};
