import { describe, expect, test } from 'vitest';
import { csvCell } from '../../../src/core/csv.ts';
import { listFilter, riskOf, trafficRange } from '../../../src/domain/insight/traffic/rules.ts';

const NOW = new Date('2026-03-15T10:33:21Z');
const dates = (startDate: string, endDate: string) => trafficRange({ period: 30, startDate, endDate }, NOW);
const GIB = 1024 ** 3;

describe('06 5: the range', () => {
  test('a period ends now, on five minutes', () => {
    const range = trafficRange({ period: 7, startDate: '2026-01-01', endDate: null }, NOW);
    expect(range).toEqual({
      from: new Date('2026-03-08T10:30:00Z'),
      to: new Date('2026-03-15T10:30:00Z'),
      periodDays: 7,
      label: '7d',
    });
  });

  test('two dates are whole days, and the end is not later than now', () => {
    expect(dates('2026-03-01', '2026-03-03')).toMatchObject({ periodDays: 2, to: new Date('2026-03-03T23:59:59.999Z') });
    expect(dates('2026-03-15', '2026-03-20')).toMatchObject({ periodDays: 1, to: NOW, label: '2026-03-15_2026-03-20' });
    expect(dates('2026-02-12', '2026-03-14').periodDays).toBe(30);
  });

  test.each([
    [2, '', '', 'Period must be one of: [1, 3, 7, 14, 30]'],
    [30, '2026-3-1', '2026-03-02', 'Invalid date format. Use YYYY-MM-DD.'],
    [30, '2026-02-30', '2026-03-02', 'Invalid date format. Use YYYY-MM-DD.'],
    [30, '2026-03-02', 'soon', 'Invalid date format. Use YYYY-MM-DD.'],
    [30, '2026-03-05', '2026-03-04', 'start_date must be before end_date.'],
    [30, '2026-03-16', '2026-03-20', 'start_date must be before end_date.'],
    [30, '2026-01-01', '2026-02-02', 'Date range cannot exceed 31 days.'],
  ])('refuses %s %s %s', (period, startDate, endDate, detail) => {
    expect(() => trafficRange({ period, startDate, endDate }, NOW)).toThrow(expect.objectContaining({ status: 400, detail }));
  });

  test('32 whole days are too many, 31 are not', () => {
    expect(dates('2026-02-01', '2026-03-03').periodDays).toBe(30);
    expect(() => dates('2026-02-01', '2026-03-05')).toThrow(expect.objectContaining({ status: 400 }));
  });
});

test('06 5: comma lists are trimmed, empty parts and repetitions dropped', () => {
  expect(listFilter(' a, b,,a ')).toEqual(['a', 'b']);
  expect([listFilter(''), listFilter(null), listFilter(' , ')]).toEqual([[], [], []]);
});

describe('spec 06 hazard 20: cells of a spreadsheet', () => {
  test.each([
    ['=cmd()', "'=cmd()"],
    ['+7900', "'+7900"],
    ['-1', "'-1"],
    ['@sum', "'@sum"],
    [' =1', "' =1"],
    ['\t=1', "'\t=1"],
    ['=HYPERLINK("x","y")', `"'=HYPERLINK(""x"",""y"")"`],
    ['a,b', '"a,b"'],
    ['a\r\nb', '"a\r\nb"'],
    ['Ivan', 'Ivan'],
    [null, ''],
    [-5, '-5'],
  ])('%j', (value, expected) => expect(csvCell(value)).toBe(expected));
});

describe('06 5: the risk', () => {
  test.each([
    [4.9, 'low'],
    [5, 'medium'],
    [7.9, 'medium'],
    [8, 'high'],
    [11.9, 'high'],
    [12, 'critical'],
  ])('%s of 10 GB a day is %s', (gb, level) => {
    expect(riskOf(gb * GIB, [], 1, { total: 10, node: null }).level).toBe(level);
  });

  test('the larger ratio counts, the total when both are equal, and no threshold is a ratio of 0', () => {
    expect(riskOf(20 * GIB, [15 * GIB, 5 * GIB], 2, { total: 100, node: 5 })).toMatchObject({ ratio: 1.5, gbPerDay: 7.5 });
    expect(riskOf(20 * GIB, [10 * GIB], 2, { total: 10, node: 5 })).toMatchObject({ ratio: 1, gbPerDay: 10 });
    expect(riskOf(20 * GIB, [10 * GIB], 2, { total: null, node: 0 })).toMatchObject({ ratio: 0, level: 'low', gbPerDay: 10 });
  });
});
