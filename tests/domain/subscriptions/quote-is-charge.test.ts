import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { applyPercent } from '../../../src/core/money.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import type { TariffsOptions } from '../../../src/domain/subscriptions/purchase-options.ts';
import { purchaseTariff } from '../../../src/domain/subscriptions/purchase-tariff.ts';
import { listRenewalOptions, readPurchaseOptions } from '../../../src/domain/subscriptions/read-subscription.ts';
import { renewSubscription } from '../../../src/domain/subscriptions/renew-subscription.ts';
import { previewTariffSwitch, switchTariff } from '../../../src/domain/subscriptions/switch-tariff.ts';
import { aBuyer, aMembership, anOffer, aServer, aStoredSubscription, aTariff } from '../../support/sale-samples.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});

const RICH = 10_000_000_000;
const percent = fc.integer({ min: 0, max: 100 });
const days = fc.integer({ min: 1, max: 400 });
const kopeks = fc.integer({ min: 0, max: 5_000_000 });

const goods = fc.record({
  period_prices: fc.dictionary(days.map(String), kopeks, { minKeys: 1, maxKeys: 4 }),
  device_limit: fc.integer({ min: 1, max: 5 }),
  device_price_kopeks: fc.option(fc.integer({ min: 0, max: 100_000 })),
  is_daily: fc.boolean(),
  daily_price_kopeks: fc.integer({ min: 0, max: 100_000 }),
});

const group = fc.record({
  is_member: fc.boolean(),
  period_discounts: fc.dictionary(days.map(String), percent, { maxKeys: 4 }),
  device_discount_percent: percent,
  server_discount_percent: percent,
  traffic_discount_percent: percent,
  apply_discounts_to_addons: fc.boolean(),
});

const existing = fc.option(
  fc.record({ isSame: fc.boolean(), device_limit: fc.integer({ min: 0, max: 12 }), is_trial: fc.boolean() }),
);

test('08 C1: the charge is the listed price less the percentage of the offer, for any tariff, group, offer and subscription (spec 02 H5)', async () => {
  await fc.assert(
    fc.asyncProperty(
      goods,
      group,
      percent,
      existing,
      fc.nat(),
      async (columns, { is_member, ...membership }, offer, found, pick) => {
        const tariffId = await aTariff(t.app, columns);
        const buyer = await aBuyer(t.app, RICH);
        if (is_member) await aMembership(t.app, buyer.userId, membership);
        if (found) {
          const { isSame, ...fields } = found;
          await aStoredSubscription(t.app, buyer.userId, { ...fields, tariff_id: isSame ? tariffId : await aTariff(t.app) });
        }
        await anOffer(t.app, buyer.userId, offer);
        const options = (await readPurchaseOptions(t.app, buyer)) as TariffsOptions;
        const shown = options.tariffs.find((tariff) => tariff.id === tariffId)!;
        const prices = shown.isDaily ? [{ days: 1, priceKopeks: shown.dailyPriceKopeks }] : shown.periods;
        const { days: periodDays, priceKopeks } = prices[pick % prices.length]!;
        // As clients calculate it from GET /cabinet/promo/active-discount.
        const price = applyPercent(priceKopeks, offer);
        const bought = purchaseTariff(t.app, buyer, { tariffId, periodDays, trafficGb: null, idempotencyKey: null });
        // A daily tariff without a price is shown but not for sale.
        if (columns.is_daily && columns.daily_price_kopeks === 0) {
          await expect(bought).rejects.toMatchObject({ status: 400, detail: { code: 'period_unavailable' } });
          return;
        }
        expect(await bought).toMatchObject({ chargedAmount: price, balanceKopeks: RICH - price });
      },
    ),
    { numRuns: 40 },
  );
  expect(await checkLedger(t.app)).toEqual([]);
}, 120_000);

test('what renewal-options shows is what the renewal charges, with a tariff and without (spec 02 H5)', async () => {
  await fc.assert(
    fc.asyncProperty(
      goods,
      group,
      percent,
      fc.boolean(),
      fc.nat(),
      async (columns, { is_member, ...membership }, offer, isClassic, pick) => {
        const buyer = await aBuyer(t.app, RICH);
        if (is_member) await aMembership(t.app, buyer.userId, membership);
        const server = await aServer(t.app);
        await aStoredSubscription(t.app, buyer.userId, {
          tariff_id: isClassic ? null : await aTariff(t.app, { ...columns, is_daily: false }),
          device_limit: columns.device_limit + 2,
          connected_squads: [server.uuid],
        });
        await anOffer(t.app, buyer.userId, offer);
        const options = await listRenewalOptions(t.app, buyer);
        if (options.length === 0) return;
        const { periodDays, priceKopeks } = options[pick % options.length]!;
        const answer = await renewSubscription(t.app, buyer, { periodDays, idempotencyKey: null });
        expect(answer).toMatchObject({ amountPaidKopeks: priceKopeks });
      },
    ),
    { numRuns: 40 },
  );
  expect(await checkLedger(t.app)).toEqual([]);
}, 120_000);

test('what the switch preview shows is what the switch charges, between any two tariffs (spec 02 H5, H10, H30)', async () => {
  const timestamp = fc.integer({ min: 1, max: 400 * 24 * 60 });
  await fc.assert(
    fc.asyncProperty(
      goods,
      goods,
      group,
      percent,
      timestamp,
      fc.boolean(),
      async (from, to, membership, offer, minutesLeft, trial) => {
        const buyer = await aBuyer(t.app, RICH);
        const { is_member, ...columns } = membership;
        if (is_member) await aMembership(t.app, buyer.userId, columns);
        await aStoredSubscription(t.app, buyer.userId, {
          tariff_id: await aTariff(t.app, from),
          is_trial: trial,
          end_date: new Date(t.clock.now().getTime() + minutesLeft * 60_000),
        });
        await anOffer(t.app, buyer.userId, offer);
        const order = { tariffId: await aTariff(t.app, to), periodDays: 30, trafficGb: null };
        const preview = previewTariffSwitch(t.app, buyer, order);
        if (to.is_daily && to.daily_price_kopeks === 0) {
          await expect(preview).rejects.toMatchObject({ status: 400 });
          return;
        }
        const cost = (await preview).upgradeCostKopeks;
        const answer = await switchTariff(t.app, buyer, { ...order, idempotencyKey: null });
        expect(answer).toMatchObject({ chargedKopeks: cost, balanceKopeks: RICH - cost });
        const { endDate } = answer.subscription;
        // Paid time is never lost by a switch.
        if (!trial) expect(endDate.getTime()).toBeGreaterThanOrEqual(t.clock.now().getTime() + minutesLeft * 60_000);
      },
    ),
    { numRuns: 40 },
  );
  expect(await checkLedger(t.app)).toEqual([]);
}, 120_000);
