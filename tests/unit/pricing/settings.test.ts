import { describe, expect, it } from 'vitest';
import { parseDays, parsePeriodDiscounts, parseTrafficPackages } from '../../../src/domain/pricing/settings.ts';
import { pricingSettings } from './samples.ts';

describe('pricing settings', () => {
  it('reads period discounts and leaves bad entries out', () => {
    expect(parsePeriodDiscounts('30:5, 90:10,x:1,60,7:1:2,0:5,')).toEqual({ 30: 5, 90: 10 });
    expect(parsePeriodDiscounts('')).toEqual({});
  });

  it('reads lists of days in order and once', () => {
    expect(parseDays('90,14, 30,30,0,-3,week')).toEqual([14, 30, 90]);
  });

  it('reads packages of exactly three parts', () => {
    expect(parseTrafficPackages('10:3500:true,0:20000:false,5:1,x:1:true,5:-1:true,1:2:true:4', 'flag_required')).toEqual([
      { gb: 10, priceKopeks: 3500, isEnabled: true },
      { gb: 0, priceKopeks: 20_000, isEnabled: false },
    ]);
  });

  it('reads top-up packages of two or three parts', () => {
    expect(parseTrafficPackages('10:3500,20:5000:false', 'flag_optional')).toEqual([
      { gb: 10, priceKopeks: 3500, isEnabled: true },
      { gb: 20, priceKopeks: 5000, isEnabled: false },
    ]);
  });

  it('takes the price settings when no list is configured, unlimited last', () => {
    const settings = pricingSettings();
    expect(settings.trafficPackages.map((entry) => entry.gb)).toEqual([5, 10, 25, 50, 100, 250, 500, 1000, 0]);
    expect(settings.trafficTopupPackages).toBe(settings.trafficPackages);
  });

  it('takes every sales mode but classic for tariffs', () => {
    expect(pricingSettings({ salesMode: 'classic' }).salesMode).toBe('classic');
    expect(pricingSettings({ salesMode: 'whatever' }).salesMode).toBe('tariffs');
  });
});
