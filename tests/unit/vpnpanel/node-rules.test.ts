import { describe, expect, it } from 'vitest';
import { DAY_MS } from '../../../src/core/clock.ts';
import { countNodes, groupByNode, usageRange } from '../../../src/domain/provisioning/nodes.ts';
import type { PanelNode } from '../../../src/domain/provisioning/panel-objects.ts';

const now = new Date('2026-03-08T10:00:00.000Z');
const day = (text: string) => new Date(`2026-${text}T00:00:00.000Z`);

describe('bounds of a usage list', () => {
  it.each([
    ['neither', null, null, new Date(now.getTime() - 7 * DAY_MS), now],
    ['a start', day('03-01'), null, day('03-01'), now],
    ['an end', null, day('03-01'), day('02-22'), day('03-01')],
    ['both', day('01-01'), day('02-01'), day('01-01'), day('02-01')],
    ['730 days', new Date(now.getTime() - 730 * DAY_MS), null, new Date(now.getTime() - 730 * DAY_MS), now],
  ])('%s', (_name, from, to, start, end) => expect(usageRange({ from, to }, now)).toEqual({ from: start, to: end }));

  it.each([
    ['an end before the start', day('02-01'), day('01-01'), 'Invalid date range'],
    ['no time at all', day('02-01'), day('02-01'), 'Invalid date range'],
    ['a start in the future', day('04-01'), null, 'Invalid date range'],
    ['more than two years', new Date('2020-01-01'), null, 'Date range cannot exceed 730 days'],
  ])('refuses %s', (_name, from, to, detail) => {
    expect(() => usageRange({ from, to }, now)).toThrow(expect.objectContaining({ status: 400, detail }));
  });
});

describe('days by node', () => {
  it('08 P11: are days, however the panel writes them, and one of them once', () => {
    const rows = [
      { nodeName: 'A', date: '2026-03-02T00:00:00.000Z', totalBytes: 1 },
      { nodeName: 'A', date: '2026-03-02 13:00:00+00:00', totalBytes: 2 },
      { nodeName: 'A', date: '2026-03-01', totalBytes: 4 },
      { nodeName: 'A', date: '2026-03-01T01:00:00+03:00', totalBytes: 8 },
      { nodeName: 'A', date: 'yesterday', totalBytes: 16 },
    ];
    expect(groupByNode(rows)[0]!.days).toEqual([
      { date: '2026-02-28', bytes: 8 },
      { date: '2026-03-01', bytes: 4 },
      { date: '2026-03-02', bytes: 3 },
      { date: 'yesterday', bytes: 16 },
    ]);
  });

  it('adds up, puts days in order and the busiest node first', () => {
    const rows = [
      { nodeName: 'A', date: '2026-03-02', totalBytes: 1 },
      { nodeName: 'C', date: '2026-03-01', totalBytes: 6 },
      { nodeName: 'B', date: '2026-03-01', totalBytes: 6 },
      { nodeName: 'A', date: '2026-03-01', totalBytes: 4 },
    ];
    expect(groupByNode(rows)).toEqual([
      { name: 'B', totalBytes: 6, days: [{ date: '2026-03-01', bytes: 6 }] },
      { name: 'C', totalBytes: 6, days: [{ date: '2026-03-01', bytes: 6 }] },
      {
        name: 'A',
        totalBytes: 5,
        days: [
          { date: '2026-03-01', bytes: 4 },
          { date: '2026-03-02', bytes: 1 },
        ],
      },
    ]);
    expect(groupByNode([])).toEqual([]);
  });
});

describe('counts over nodes (spec 06 section 4.4)', () => {
  it('counts a disabled node as neither online nor offline', () => {
    const node = (isConnected: boolean, isDisabled: boolean, usersOnline: number) =>
      ({ isConnected, isDisabled, usersOnline }) as PanelNode;
    const nodes = [node(true, false, 3), node(false, false, 0), node(true, true, 2), node(false, true, 0), node(true, false, 1)];
    expect(countNodes(nodes)).toEqual({ total: 5, online: 2, offline: 1, disabled: 2, usersOnline: 6, nodes });
  });
});
