import { describe, expect, it } from 'vitest';
import {
  changeOf,
  comparedWindows,
  fillDays,
  partsOf,
  percentOfTotal,
  usualWindows,
} from '../../../src/domain/referrals/stats/rules.ts';

const at = (text: string) => new Date(`${text}Z`);

describe('windows are taken apart into whole days and what is left at their ends', () => {
  it.each([
    ['open, from noon', '2026-03-01T12:00', null, ['2026-03-02', '9999-12-31'], [['2026-03-01T12:00', '2026-03-02T00:00']]],
    ['open, from midnight', '2026-03-01T00:00', null, ['2026-03-01', '9999-12-31'], []],
    [
      'noon to noon',
      '2026-03-01T12:00',
      '2026-03-04T12:00',
      ['2026-03-02', '2026-03-04'],
      [
        ['2026-03-01T12:00', '2026-03-02T00:00'],
        ['2026-03-04T00:00', '2026-03-04T12:00'],
      ],
    ],
    ['midnight to midnight', '2026-03-01T00:00', '2026-03-04T00:00', ['2026-03-01', '2026-03-04'], []],
    [
      'within a day',
      '2026-03-01T01:00',
      '2026-03-01T05:00',
      ['9999-12-31', '9999-12-31'],
      [['2026-03-01T01:00', '2026-03-01T05:00']],
    ],
    [
      'up to the next midnight',
      '2026-03-01T01:00',
      '2026-03-02T00:00',
      ['2026-03-02', '2026-03-02'],
      [['2026-03-01T01:00', '2026-03-02T00:00']],
    ],
  ] as const)('%s', (_, since, until, [from, to], edges) => {
    expect(partsOf({ since: at(since), until: until === null ? null : at(until) })).toEqual({
      days: { from, to },
      edges: edges.map(([start, end]) => ({ since: at(start), until: at(end) })),
    });
  });

  it('today starts at midnight UTC, the others are multiples of 24 hours (spec 04 section 0.4)', () => {
    const { today, week, month, year } = usualWindows(at('2026-03-05T13:30'));
    expect([today, week, month, year].map((window) => window.since.toISOString().slice(0, 16))).toEqual([
      '2026-03-05T00:00',
      '2026-02-26T13:30',
      '2026-02-03T13:30',
      '2025-03-05T13:30',
    ]);
  });

  it('compared periods touch and do not overlap', () => {
    const { current, previous } = comparedWindows(at('2026-03-10T10:00'), 7, 14);
    expect([current.since, current.until]).toEqual([at('2026-03-03T10:00'), null]);
    expect([previous.since, previous.until]).toEqual([at('2026-02-17T10:00'), at('2026-03-03T10:00')]);
  });
});

it('daily arrays end today and have a zero for an empty day (spec 04 section 5, item 4)', () => {
  const rows = [{ date: '2026-02-28', referralsCount: 2, earningsKopeks: 5 }];
  expect(fillDays(3, at('2026-03-01T23:59'), rows)).toEqual([
    { date: '2026-02-27', referralsCount: 0, earningsKopeks: 0 },
    { date: '2026-02-28', referralsCount: 2, earningsKopeks: 5 },
    { date: '2026-03-01', referralsCount: 0, earningsKopeks: 0 },
  ]);
});

it.each([
  [10, 5, 0, { absolute: 5, percent: 100, trend: 'up' }],
  [1, 3, 0, { absolute: -2, percent: -66.67, trend: 'down' }],
  [3, 3, 0, { absolute: 0, percent: 0, trend: 'stable' }],
  [4, 0, 0, { absolute: 4, percent: 0, trend: 'up' }],
  [4, 0, 100, { absolute: 4, percent: 100, trend: 'up' }],
  [0, 0, 100, { absolute: 0, percent: 0, trend: 'stable' }],
] as const)('from %i to %i before (%i from nothing)', (current, previous, fromNothing, change) => {
  expect(changeOf(current, previous, fromNothing)).toEqual(change);
});

it('a share has two decimals and is 0 of nothing', () => {
  expect([percentOfTotal(1, 3), percentOfTotal(2, 2), percentOfTotal(0, 0)]).toEqual([33.33, 100, 0]);
});
