/** An order has one type; its stored form and the terms of its quotes are those that installations and open quotes have. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { QuotableOrder, SavableOrder } from '../../../src/domain/subscriptions/order.ts';
import { type QuotedSale, signQuote } from '../../../src/domain/subscriptions/purchase/signed-quote.ts';
import { orderOfCart } from '../../../src/domain/subscriptions/saved-cart.ts';
import type { SavedCart } from '../../../src/domain/subscriptions/types.ts';
import { testApp } from '../../support/test-app.ts';

const { app } = await testApp();

const COMMON = { source: 'cabinet', total_price: 30_000, missing_amount: 100, description: 'An order' } as const;
const LIMITS = { traffic_limit_gb: 100, device_limit: 2, allowed_squads: ['a'] };
const ADD_ON = { price_kopeks: 30_000, base_price_kopeks: 40_000, discount_percent: 25 };

// Rows as releases before the one type of orders have stored them.
const STORED: [SavedCart, SavableOrder][] = [
  [
    {
      ...COMMON,
      ...LIMITS,
      cart_mode: 'extend',
      subscription_id: 5,
      tariff_id: 3,
      period_days: 30,
      discount_percent: 0,
      consume_promo_offer: false,
    },
    { kind: 'renewal', periodDays: 30 },
  ],
  [
    { ...COMMON, ...LIMITS, cart_mode: 'tariff_purchase', tariff_id: 3, period_days: 90, custom_traffic_gb: 250 },
    { kind: 'tariff', tariffId: 3, periodDays: 90, trafficGb: 250 },
  ],
  [
    { ...COMMON, ...LIMITS, cart_mode: 'daily_tariff_purchase', tariff_id: 4, is_daily: true, daily_price_kopeks: 1_000 },
    { kind: 'tariff', tariffId: 4, periodDays: 1, trafficGb: null },
  ],
  [
    {
      ...COMMON,
      cart_mode: 'subscription_purchase',
      period_id: 'days:30',
      period_days: 30,
      traffic_gb: 0,
      countries: ['a', 'b'],
      devices: 3,
    },
    { kind: 'classic', periodDays: 30, trafficGb: 0, squadUuids: ['a', 'b'], devices: 3 },
  ],
  [
    { ...COMMON, ...ADD_ON, cart_mode: 'add_traffic', subscription_id: 5, traffic_gb: 50 },
    { kind: 'traffic', gb: 50 },
  ],
  [
    { ...COMMON, ...ADD_ON, cart_mode: 'add_devices', devices_to_add: 2 },
    { kind: 'devices', devices: 2 },
  ],
];

test.each(STORED.map(([cart, order]) => [cart.cart_mode, cart, order] as const))(
  'a stored order is read: %s',
  (_mode, cart, order) => {
    expect(orderOfCart(cart)).toEqual(order);
  },
);

test.each([
  ['no mode that is known', { ...COMMON, cart_mode: 'another' }],
  ['no period', { ...COMMON, cart_mode: 'extend', subscription_id: 5 }],
  ['a period that is no number', { ...COMMON, ...LIMITS, cart_mode: 'tariff_purchase', tariff_id: 3, period_days: '30' }],
  ['servers that are no list', { ...STORED[3]![0], countries: 'a' }],
])('a stored row without an order is none: %s', (_reason, cart) => {
  expect(orderOfCart(cart as SavedCart)).toBeNull();
});

const hashOf = (terms: object) =>
  createHash('sha256')
    .update(JSON.stringify(Object.entries(terms).sort(([a], [b]) => (a < b ? -1 : 1))))
    .digest('base64url');

const LIMIT_TERMS = { trafficLimitGb: 100, deviceLimit: 2 };

// The terms that releases before the one type of orders have signed: a quote of theirs is accepted for ten minutes.
test.each<[QuotableOrder, QuotedSale['delivered'], object]>([
  [
    { kind: 'classic', periodDays: 30, trafficGb: 50, squadUuids: ['b', 'a'], devices: 2 },
    {},
    { periodDays: 30, trafficGb: 50, servers: ['a', 'b'], devices: 2 },
  ],
  [{ kind: 'tariff', tariffId: 3, periodDays: 30, trafficGb: 100 }, LIMIT_TERMS, { tariffId: 3, periodDays: 30, ...LIMIT_TERMS }],
  [
    { kind: 'renewal', periodDays: 30 },
    { tariffId: null, ...LIMIT_TERMS, servers: ['a'] },
    { tariffId: null, periodDays: 30, ...LIMIT_TERMS, servers: ['a'] },
  ],
  [
    { kind: 'switch', tariffId: 4 },
    { fromTariffId: 3, ...LIMIT_TERMS, newPeriodDays: 0 },
    { fromTariffId: 3, tariffId: 4, ...LIMIT_TERMS, newPeriodDays: 0 },
  ],
  [{ kind: 'traffic', gb: 50 }, { trafficLimitGb: 100 }, { gb: 50, trafficLimitGb: 100 }],
  [{ kind: 'devices', devices: 2 }, { newDeviceLimit: 4 }, { devices: 2, newDeviceLimit: 4 }],
  [{ kind: 'gift', tariffId: 3, periodDays: 30 }, LIMIT_TERMS, { tariffId: 3, periodDays: 30, ...LIMIT_TERMS }],
])('the terms of a quote are those of earlier releases: %o', async (order, delivered, terms) => {
  const quote = await signQuote(app, { order, delivered, userId: 7, priceKopeks: 30_000 });
  const claims = JSON.parse(Buffer.from(quote.split('.')[0]!, 'base64url').toString());
  expect(claims).toMatchObject({ product: order.kind, terms: hashOf(terms), user_id: 7, price_kopeks: 30_000 });
});
