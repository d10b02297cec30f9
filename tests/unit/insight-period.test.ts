import { describe, expect, test } from 'vitest';
import { changeBetween, checkRange, conversionRate, percentOf, writtenPeriod } from '../../src/domain/insight/sales/period.ts';

const of = (startDate: string | null, endDate: string | null, days: number | null = 30) =>
  writtenPeriod({ days, startDate, endDate });

describe('spec 06 section 4.5: periods', () => {
  test('both dates: to the end of the last day, where a timestamp without a zone is one of the service', () => {
    expect(of('2026-01-05', '2026-01-07')).toEqual({
      start: { local: '2026-01-05T00:00:00.000', offset: null },
      end: { local: '2026-01-07T23:59:59.999', offset: null },
    });
    expect(of('2026-01-05 10:20', '2026-01-07T01:02:03.456789+0300')).toEqual({
      start: { local: '2026-01-05T10:20:00.000', offset: null },
      end: { local: '2026-01-07T23:59:59.999', offset: '+03:00' },
    });
    expect(of('2026-01-05T10:20:30Z', '2026-01-07')).toMatchObject({
      start: { local: '2026-01-05T10:20:30.000', offset: '+00:00' },
    });
  });

  test.each([
    'x',
    '2026-02-30',
    '2026-1-1',
    '2026-01-05T24:00',
    '2026-01-05T10:61',
    '0000-01-01',
    '0001-01-01',
    '0004-12-31',
    '9999-01-01',
    '2026-01-05+99:00',
    '\u0000',
  ])('a date that cannot be read: %j', (text) => {
    expect(() => of(text, '2026-01-01')).toThrow('Invalid start_date format');
    expect(() => of('2026-01-01', text)).toThrow('Invalid end_date format');
  });

  test('one date alone is ignored, also when it cannot be read', () => {
    expect(of('x', null)).toEqual({ days: 30 });
    expect(of('', '2026-01-01', 7)).toEqual({ days: 7 });
  });

  test('days are cut at 730', () => {
    expect([730, 731, 2 ** 53].map((days) => of(null, null, days))).toEqual([{ days: 730 }, { days: 730 }, { days: 730 }]);
  });

  test('days of 0, negative and null are everything', () => {
    expect([0, -1, null].map((days) => of(null, null, days))).toEqual([{ days: null }, { days: null }, { days: null }]);
  });

  test('the range: in order, at most 730 whole days', () => {
    const day = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 86_400_000);
    expect(() => checkRange(day(1), day(0))).toThrow('start_date must be before end_date');
    expect(() => checkRange(day(0), new Date(day(731).getTime() - 1))).not.toThrow();
    expect(() => checkRange(day(0), day(731))).toThrow('Date range cannot exceed 730 days');
  });
});

test('spec 06 section 4.5: rates and changes have one decimal, the trend is the sign of the rounded percentage', () => {
  expect([percentOf(1, 3), percentOf(1, 0), conversionRate(0, 0), conversionRate(0, 5), conversionRate(3, 1)]).toEqual([
    33.3, 0, 0, 100, 25,
  ]);
  expect(changeBetween(0, 0)).toEqual({ absolute: 0, percent: 0, trend: 'stable' });
  expect(changeBetween(5, 0)).toEqual({ absolute: 5, percent: 100, trend: 'up' });
  expect(changeBetween(1, 2)).toEqual({ absolute: -1, percent: -50, trend: 'down' });
  expect(changeBetween(100_001, 100_000)).toEqual({ absolute: 1, percent: 0, trend: 'stable' });
});
