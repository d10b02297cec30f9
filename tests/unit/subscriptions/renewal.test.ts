import { describe, expect, it } from 'vitest';
import type { PricedUser } from '../../../src/domain/pricing/types.ts';
import { isRenewable, quoteRenewal, type RenewalInput, renewalOptions } from '../../../src/domain/subscriptions/rules/terms.ts';
import { aBuyer, aGroup, aTariff, pricingSettings } from '../pricing/samples.ts';
import { aSquad, aSubscription, NOW } from './samples.ts';

function inputOf(fields: Partial<RenewalInput>): RenewalInput {
  return {
    subscription: aSubscription(),
    tariff: null,
    servers: [aSquad('a')],
    user: aBuyer(),
    settings: pricingSettings(),
    now: NOW,
    ...fields,
  };
}

describe('renewal', () => {
  it('is priced by the tariff when there is one, whatever the sales mode', () => {
    const tariff = aTariff({ id: 7, periodPrices: { 60: 50_000, 30: 30_000 } });
    const input = inputOf({
      tariff,
      subscription: aSubscription({ tariffId: 7, deviceLimit: 2 }),
      settings: pricingSettings({ salesMode: 'classic' }),
    });
    expect(quoteRenewal(input, 30)).toMatchObject({ kind: 'quote', finalKopeks: 35_000 });
    expect(quoteRenewal(input, 90)).toEqual({ kind: 'refusal', reason: 'period_unavailable' });
    expect(renewalOptions(input).map((option) => option.periodDays)).toEqual([30, 60]);
  });

  it('is priced by servers, traffic and devices when it is classic, also in tariffs mode', () => {
    expect(quoteRenewal(inputOf({}), 30)).toMatchObject({ finalKopeks: 99_000 + 1000 + 15_000 });
    expect(quoteRenewal(inputOf({}), 14)).toEqual({ kind: 'refusal', reason: 'period_unavailable' });
  });

  it('lists the very prices it charges (spec 02 H5)', () => {
    const input = inputOf({ user: aBuyer(aGroup({ periodDiscounts: { 90: 10 }, serverDiscountPercent: 33 }), 15) });
    for (const option of renewalOptions(input)) {
      expect(quoteRenewal(input, option.periodDays)).toMatchObject({
        finalKopeks: option.priceKopeks,
        originalTotalKopeks: option.originalPriceKopeks,
      });
    }
    expect(renewalOptions(input)).toHaveLength(3);
  });

  it('spec 10 X10: names an original price only when something is taken off', () => {
    const priceOf = (user: PricedUser) => renewalOptions(inputOf({ tariff: aTariff(), user }))[0];
    expect(priceOf(aBuyer())).toMatchObject({ priceKopeks: 30_000, originalPriceKopeks: null, discountPercent: 0 });
    expect(priceOf(aBuyer(null, 10))).toMatchObject({ priceKopeks: 27_000, originalPriceKopeks: 30_000, discountPercent: 10 });
  });

  it('truncates the shown percent', () => {
    const tariff = aTariff({ periodPrices: { 30: 33_333 } });
    const [option] = renewalOptions(inputOf({ tariff, user: aBuyer(aGroup({ periodDiscounts: { 30: 7 } })) }));
    expect(option).toEqual({ periodDays: 30, priceKopeks: 31_000, discountPercent: 6, originalPriceKopeks: 33_333 });
  });

  it('leaves out what is free without being priced, and keeps what the offer makes free', () => {
    const free = inputOf({ tariff: aTariff({ periodPrices: { 30: 0 } }) });
    expect(renewalOptions(free)).toEqual([]);
    const discounted = inputOf({ tariff: aTariff(), user: aBuyer(null, 100) });
    expect(renewalOptions(discounted)).toEqual([
      { periodDays: 30, priceKopeks: 0, discountPercent: 100, originalPriceKopeks: 30_000 },
    ]);
    const quote = quoteRenewal(free, 30);
    expect(quote.kind === 'quote' && isRenewable(quote)).toBe(false);
  });

  it('spec 10 X21: leaves out what the group makes free', () => {
    const user = aBuyer(aGroup({ periodDiscounts: { 30: 100 } }));
    expect(renewalOptions(inputOf({ tariff: aTariff(), user }))).toEqual([]);
    const extraDevice = { ...aSubscription(), deviceLimit: 2 };
    expect(renewalOptions(inputOf({ tariff: aTariff(), user, subscription: extraDevice }))).toMatchObject([{ periodDays: 30 }]);
  });
});
