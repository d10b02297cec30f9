import { describe, expect, it } from 'vitest';
import { applyPercent } from '../../../src/core/money.ts';
import type { Tariff } from '../../../src/domain/catalog/types.ts';
import { quoteClassic } from '../../../src/domain/pricing/classic-price.ts';
import { quoteTariff } from '../../../src/domain/pricing/tariff-price.ts';
import { classicOptions } from '../../../src/domain/subscriptions/classic-options.ts';
import type { OrderOf } from '../../../src/domain/subscriptions/order.ts';
import {
  type PurchaseOptionsInput,
  type TariffsOptionsInput,
  tariffOptions,
} from '../../../src/domain/subscriptions/purchase-options.ts';
import {
  ClassicOptionsAnswer,
  classicOptionsAnswer,
  PurchaseOptionsAnswer,
  purchaseOptionsAnswer,
} from '../../../src/routers/purchase-options-wire.ts';
import { toWire } from '../../../src/routers/wire.ts';
import { aBuyer, aGroup, aTariff, pricingSettings } from '../pricing/samples.ts';
import { aSquad, aSubscription, inDays, NOW } from './samples.ts';

const group = aGroup({ id: 3, name: 'Gold', periodDiscounts: { 30: 10, 1: 10 }, deviceDiscountPercent: 20 });

function inputOf(fields: Partial<PurchaseOptionsInput> = {}): PurchaseOptionsInput {
  return {
    subscription: null,
    user: { ...aBuyer(), balanceKopeks: 12_345, language: 'en' },
    squads: [aSquad('a'), aSquad('b')],
    settings: pricingSettings(),
    now: NOW,
    ...fields,
  };
}

function buyer(offer = 0) {
  return { ...aBuyer(group, offer), balanceKopeks: 0, language: 'en' };
}

/** What a quote states, unsigned. */
const sign: TariffsOptionsInput['sign'] = ({ userId, order, delivered, priceKopeks }) => {
  const { tariffId, periodDays } = order as OrderOf<'tariff'>;
  return JSON.stringify({ userId, tariffId, periodDays, ...delivered, priceKopeks });
};

function quotedInput(fields: Partial<PurchaseOptionsInput>): TariffsOptionsInput {
  const input = inputOf(fields);
  return { ...input, user: { id: 7, ...input.user }, sign, defaultTrafficReset: 'MONTH' };
}

/** The answer as clients get it. */
function answerOf(tariffs: Tariff[], fields: Partial<PurchaseOptionsInput> = {}) {
  const options = purchaseOptionsAnswer(tariffOptions({ ...quotedInput(fields), tariffs }));
  const answer = toWire(PurchaseOptionsAnswer).parse(options);
  if (answer.sales_mode !== 'tariffs') throw new Error('tariffs mode has become classic');
  return answer;
}

function tariffsOf(tariffs: Tariff[], fields: Partial<PurchaseOptionsInput> = {}) {
  return answerOf(tariffs, fields).tariffs;
}

describe('tariff options', () => {
  it('contain the state of the user', () => {
    const subscription = aSubscription({ tariffId: 1, endDate: inDays(-1) });
    expect(answerOf([], { subscription })).toEqual({
      sales_mode: 'tariffs',
      tariffs: [],
      current_tariff_id: 1,
      balance_kopeks: 12_345,
      balance_label: '123.45 ₽',
      subscription_status: 'expired',
      subscription_is_expired: true,
      has_subscription: true,
    });
    expect(answerOf([])).toMatchObject({
      current_tariff_id: null,
      subscription_status: null,
      subscription_is_expired: false,
      has_subscription: false,
    });
  });

  it('hold only what the user may buy (spec 02 H19)', () => {
    const tariffs = [
      aTariff({ id: 1 }),
      aTariff({ id: 2, isActive: false }),
      aTariff({ id: 3, allowedPromoGroupIds: [3] }),
      aTariff({ id: 4, allowedPromoGroupIds: [4] }),
    ];
    expect(tariffsOf(tariffs).map((tariff) => tariff.id)).toEqual([1]);
    expect(tariffsOf(tariffs, { user: buyer() }).map((tariff) => tariff.id)).toEqual([1, 3]);
  });

  it('show a plain tariff', () => {
    const [tariff] = tariffsOf([aTariff({ periodPrices: { 90: 80_000, 30: 30_000 }, trafficLimitGb: 0 })]);
    expect(tariff).toMatchObject({
      traffic_limit_label: 'Unlimited',
      is_unlimited_traffic: true,
      device_limit: 1,
      extra_devices_count: 0,
      device_price_kopeks: 0,
      servers_count: 2,
      servers: [
        { uuid: 'a', name: 'Server a' },
        { uuid: 'b', name: 'Server b' },
      ],
      is_current: false,
      is_available: true,
    });
    expect(tariff?.periods).toEqual([
      {
        days: 30,
        months: 1,
        label: '1 month',
        price_kopeks: 30_000,
        price_label: '300 ₽',
        price_per_month_kopeks: 30_000,
        price_per_month_label: '300 ₽',
        quote: expect.stringContaining('"priceKopeks":30000'),
      },
      {
        days: 90,
        months: 3,
        label: '3 months',
        price_kopeks: 80_000,
        price_label: '800 ₽',
        price_per_month_kopeks: 26_666,
        price_per_month_label: '266.66 ₽',
        quote: expect.stringContaining('"priceKopeks":80000'),
      },
    ]);
    expect(tariff).not.toHaveProperty('promo_group_name');
    expect(tariff).not.toHaveProperty('original_device_price_kopeks');
  });

  it('08 C1: list the charge before the offer, with extra devices and real months (spec 02 H5)', () => {
    const tariff = aTariff({
      id: 1,
      periodPrices: { 30: 33_333, 45: 50_000, 90: 80_000 },
      devicePriceKopeks: 5000,
      deviceLimit: 1,
    });
    const subscription = aSubscription({ tariffId: 1, deviceLimit: 3 });
    const user = buyer(15);
    const [option] = tariffsOf([tariff], { subscription, user });
    expect(option?.periods).toHaveLength(3);
    for (const period of option?.periods ?? []) {
      const quote = quoteTariff({
        tariff,
        periodDays: period.days,
        deviceLimit: 3,
        customTrafficGb: null,
        user,
        settings: pricingSettings(),
        now: NOW,
      });
      expect(quote).toMatchObject({
        finalKopeks: applyPercent(period.price_kopeks, 15),
        originalTotalKopeks: period.original_price_kopeks,
      });
      expect(period.base_tariff_price_kopeks! + period.extra_devices_cost_kopeks!).toBe(period.original_price_kopeks);
    }
    expect(option).toMatchObject({
      is_current: true,
      device_limit: 3,
      base_device_limit: 1,
      extra_devices_count: 2,
      promo_group_name: 'Gold',
      device_price_kopeks: 4000,
      original_device_price_kopeks: 5000,
      device_discount_percent: 20,
    });
  });

  it("spec 10 X13: name base and extra devices before the group's discount", () => {
    const tariff = aTariff({ id: 1, deviceLimit: 1, devicePriceKopeks: 5000, periodPrices: { 30: 30_000 } });
    const [option] = tariffsOf([tariff], { subscription: aSubscription({ tariffId: 1, deviceLimit: 3 }), user: buyer() });
    expect(option?.periods[0]).toMatchObject({
      base_tariff_price_kopeks: 30_000,
      base_tariff_price_label: '300 ₽',
      extra_devices_count: 2,
      extra_devices_cost_kopeks: 10_000,
      extra_devices_cost_label: '100 ₽',
      price_kopeks: 27_000 + 8_000,
    });
  });

  it('08 C1: show the percent of the group alone, with an offer too', () => {
    const [plain] = tariffsOf([aTariff({ periodPrices: { 30: 33_333 } })], { user: buyer() });
    expect(plain?.periods[0]).toMatchObject({ discount_percent: 10, discount_label: '-10%', discount_amount_kopeks: 3333 });
    const [offered] = tariffsOf([aTariff()], { user: buyer(20) });
    expect(offered?.periods[0]).toMatchObject({ discount_percent: 10, price_kopeks: 27_000 });
  });

  it('spec 10 X24: have no price of a day unless they are daily', () => {
    const [byPeriods] = tariffsOf([aTariff({ isDaily: false, dailyPriceKopeks: 700 })], { user: buyer() });
    expect(byPeriods).toMatchObject({ is_daily: false, daily_price_kopeks: 0 });
  });

  it('show the day price of daily and custom tariffs', () => {
    const [daily] = tariffsOf([aTariff({ isDaily: true, dailyPriceKopeks: 2000, periodPrices: { 30: 1 } })], { user: buyer(20) });
    expect(daily).toMatchObject({
      periods: [],
      is_daily: true,
      daily_price_kopeks: 1800,
      original_daily_price_kopeks: 2000,
      daily_discount_percent: 10,
    });
    const [custom] = tariffsOf([aTariff({ customDaysEnabled: true, pricePerDayKopeks: 1000 })], { user: buyer() });
    expect(custom).toMatchObject({
      price_per_day_kopeks: 900,
      original_price_per_day_kopeks: 1000,
      custom_days_discount_percent: 10,
    });
  });

  it('08 C5: name the group only where it changes a price', () => {
    const idle = { ...buyer(), primaryPromoGroup: aGroup({ id: 4, name: 'Nothing off' }) };
    const [unchanged] = tariffsOf([aTariff({ devicePriceKopeks: 5000 })], { user: idle });
    expect(unchanged).not.toHaveProperty('promo_group_name');
    const [elsewhere] = tariffsOf([aTariff({ periodPrices: { 90: 50_000 }, devicePriceKopeks: 0 })], { user: buyer() });
    expect(elsewhere).not.toHaveProperty('promo_group_name');
    for (const reduced of [aTariff(), aTariff({ isDaily: true, dailyPriceKopeks: 2000 }), aTariff({ devicePriceKopeks: 5000 })]) {
      expect(tariffsOf([reduced], { user: buyer() })[0]).toHaveProperty('promo_group_name', 'Gold');
    }
  });

  it('name at most 5 servers but count them all', () => {
    const squads = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((uuid) => aSquad(uuid));
    const [tariff] = tariffsOf([aTariff()], { squads });
    expect(tariff?.servers_count).toBe(7);
    expect(tariff?.servers).toHaveLength(5);
  });
});

describe('classic options', () => {
  const settings = pricingSettings({ salesMode: 'classic' });
  const optionsOf = (fields: Partial<PurchaseOptionsInput> = {}) =>
    toWire(ClassicOptionsAnswer).parse(classicOptionsAnswer(classicOptions(inputOf({ settings, ...fields }))));
  const periodsOf = (fields: Partial<PurchaseOptionsInput> = {}) => optionsOf(fields).periods;

  it('repeat the default period on top, in both spellings', () => {
    const options = optionsOf();
    const first = periodsOf().find((period) => period.period_days === 14);
    expect(options).toMatchObject({
      currency: 'RUB',
      balance_kopeks: 12_345,
      balanceKopeks: 12_345,
      balanceLabel: '123.45 ₽',
      subscription_id: null,
      summary: null,
      sales_mode: 'classic',
    });
    expect(options.traffic).toEqual(first?.traffic);
    expect(options.servers).toEqual(first?.servers);
    expect(options.devices).toEqual(first?.devices);
    expect(options.selection).toEqual({
      period_id: 'days:14',
      periodId: 'days:14',
      period_days: 14,
      periodDays: 14,
      traffic_value: 5,
      trafficValue: 5,
      servers: ['a'],
      countries: ['a'],
      server_uuids: ['a'],
      serverUuids: ['a'],
      devices: 1,
      device_limit: 1,
      deviceLimit: 1,
    });
  });

  it('list every period at the price of the base', () => {
    const periods = periodsOf();
    expect(periods.map((period) => [period.id, period.price_kopeks, period.months, period.per_month_price_kopeks])).toEqual([
      ['days:14', 50_000, 1, 50_000],
      ['days:30', 99_000, 1, 99_000],
      ['days:60', 189_000, 2, 94_500],
      ['days:90', 269_000, 3, 89_666],
      ['days:180', 499_000, 6, 83_166],
      ['days:360', 899_000, 12, 74_916],
    ]);
    expect(periods[0]).not.toHaveProperty('discount_percent');
  });

  it('add up to the charge without discounts (spec 02 H5, H3)', () => {
    const month = periodsOf().find((period) => period.period_days === 30);
    const unlimited = month?.traffic.options?.find((option) => option.value === 0);
    const charged = quoteClassic({
      periodDays: 30,
      trafficLimitGb: 0,
      purchasedTrafficGb: 0,
      squadUuids: ['a', 'b'],
      servers: [aSquad('a'), aSquad('b')],
      deviceLimit: 3,
      user: aBuyer(),
      settings,
      now: NOW,
    });
    const listed =
      month!.price_kopeks +
      unlimited!.price_kopeks +
      2 * month!.servers.options[0]!.price_kopeks +
      2 * month!.devices.price_per_device_kopeks;
    expect(unlimited).toMatchObject({ label: 'Unlimited', price_kopeks: 20_000 });
    expect(listed).toBe(charged.finalKopeks);
  });

  it('08 C1: carry the group on every price and leave the offer out', () => {
    const month = periodsOf({ user: buyer(20) }).find((period) => period.period_days === 30);
    expect(month).toMatchObject({ price_kopeks: 89_100, original_price_kopeks: 99_000, discount_percent: 10 });
    expect(month?.devices).toMatchObject({
      price_per_device_kopeks: 4000,
      price_per_device_original_kopeks: 5000,
      discount_percent: 20,
    });
    expect(month?.servers.options[0]).toMatchObject({ price_kopeks: 1000 });
  });

  it('take the limits of a paid subscription for defaults, not those of a trial', () => {
    const paidFor = { connectedSquads: ['b'], trafficLimitGb: 50, deviceLimit: 4 };
    expect(optionsOf({ subscription: aSubscription(paidFor) }).selection).toMatchObject({
      servers: ['b'],
      traffic_value: 50,
      devices: 4,
    });
    // Of a trial only the servers (spec 10 X19).
    expect(optionsOf({ subscription: aSubscription({ ...paidFor, isTrial: true }) }).selection).toMatchObject({
      servers: ['b'],
      traffic_value: 5,
      devices: 1,
    });
  });

  it('name the package of a paid subscription, which keeps what was added to it', () => {
    const subscription = aSubscription({ trafficLimitGb: 70, purchasedTrafficGb: 20 });
    const { selection, periods } = optionsOf({ subscription });
    expect(selection).toMatchObject({ traffic_value: 50 });
    for (const { traffic } of periods) {
      expect(traffic).toMatchObject({ current: 50, default: 50 });
      expect(traffic.options?.map(({ value }) => value)).toContain(50);
    }
  });

  it('spec 10 X19: preselect the first period and the first package', () => {
    const settings = pricingSettings({
      salesMode: 'classic',
      availableSubscriptionPeriods: '14,30',
      defaultTrafficLimitGb: 100,
    });
    expect(optionsOf({ settings }).selection).toMatchObject({ period_days: 14, traffic_value: 5 });
  });

  it('offer the available servers of the group, and the connected ones', () => {
    const squads = [
      aSquad('a', { isAvailable: false }),
      aSquad('b', { isAvailable: false }),
      aSquad('c', { allowedPromoGroupIds: [9] }),
      aSquad('d', { maxUsers: 1, currentUsers: 1 }),
      aSquad('e'),
    ];
    const [period] = periodsOf({ squads, subscription: aSubscription({ connectedSquads: ['b'] }) });
    expect(period?.servers.options.map((option) => [option.uuid, option.is_available])).toEqual([
      ['b', false],
      ['d', false],
      ['e', true],
    ]);
    expect(period?.servers).toMatchObject({ min: 1, max: 3, default: ['b'], selected: ['b'] });
    expect(periodsOf({ squads: [] })[0]?.servers).toMatchObject({ options: [], min: 0, max: 0, default: [] });
  });

  it.each(['fixed', 'fixed_with_topup'])('offer no choice of traffic in mode %s', (trafficSelectionMode) => {
    const fixed = pricingSettings({ salesMode: 'classic', trafficSelectionMode, fixedTrafficLimitGb: 70 });
    expect(periodsOf({ settings: fixed })[0]?.traffic).toEqual({ selectable: false, mode: trafficSelectionMode, default: 70 });
  });

  it('bound the devices by the cap, or 10 above the default', () => {
    const devicesOf = (maxDevicesLimit: number, defaultDeviceLimit = 1) =>
      periodsOf({ settings: pricingSettings({ maxDevicesLimit, defaultDeviceLimit }) })[0]?.devices;
    expect(devicesOf(5)).toMatchObject({ min: 1, max: 5 });
    expect(devicesOf(2, 3)).toMatchObject({ min: 3, max: 3, default: 3 });
    expect(devicesOf(0, 3)).toMatchObject({ min: 3, max: 13 });
  });

  it.each([
    ['more devices than the cap', 12, { max: 12, default: 12, current: 12 }],
    ['fewer devices than the default', 1, { max: 5, default: 3, current: 3 }],
    ['devices between the two', 4, { max: 5, default: 4, current: 4 }],
  ])('spec 10 X4: a customer with %s loses none by buying again', (_name, deviceLimit, expected) => {
    const settings = pricingSettings({ salesMode: 'classic', maxDevicesLimit: 5, defaultDeviceLimit: 3 });
    const subscription = aSubscription({ deviceLimit });
    expect(periodsOf({ settings, subscription })[0]?.devices).toMatchObject({ min: 3, ...expected });
    const uncapped = periodsOf({ settings: { ...settings, maxDevicesLimit: 0 }, subscription })[0]?.devices;
    expect(uncapped).toMatchObject({ min: 3, ...expected, max: expected.default + 10 });
  });
});
