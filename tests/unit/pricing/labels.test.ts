import { describe, expect, it } from 'vitest';
import { devicesLabel, discountLabel, freeLabel, periodLabel, trafficLabel } from '../../../src/domain/pricing/periods.ts';

describe('labels', () => {
  it.each([
    [30, '1 month', '1 месяц'],
    [60, '2 months', '2 месяца'],
    [90, '3 months', '3 месяца'],
    [180, '6 months', '6 месяцев'],
    [360, '12 months', '12 месяцев'],
    [14, '14 days', '14 дней'],
    [1, '1 day', '1 день'],
    [22, '22 days', '22 дня'],
    [11, '11 days', '11 дней'],
    [45, '45 days', '45 дней'],
  ])('names a period of %i days', (days, english, russian) => {
    expect(periodLabel(days, 'en')).toBe(english);
    expect(periodLabel(days, 'ru')).toBe(russian);
    expect(periodLabel(days, 'fa')).toBe(russian);
  });

  it('names amounts', () => {
    expect([trafficLabel(100, 'en'), trafficLabel(0, 'en'), trafficLabel(100, 'ru')]).toEqual(['100 GB', 'Unlimited', '100 ГБ']);
    expect([devicesLabel(1, 'en'), devicesLabel(3, 'en'), devicesLabel(5, 'ru')]).toEqual([
      '1 device',
      '3 devices',
      '5 устройств',
    ]);
    expect([freeLabel('en'), freeLabel('ru'), discountLabel(10)]).toEqual(['Free', 'Бесплатно', '-10%']);
  });
});
