import { describe, expect, test } from 'vitest';
import { lockWaitsOf } from '../../../packages/measures/src/bench/lock-waits.ts';
import {
  growthAim,
  type MoneyGrowthRow,
  moneyGrowthFaults,
  moneyGrowthTable,
  moneyGrowthVerdicts,
  withGrowth,
} from '../../../packages/measures/src/bench/money-growth.ts';
import {
  type TwoInstancesResult,
  twoInstancesFaults,
  twoInstancesTable,
} from '../../../packages/measures/src/bench/two-instances.ts';

const once = (value: number) => ({ median: value, min: value, max: value });

const aRow = (durability: string, connections: number, service: number, bare: number): MoneyGrowthRow => ({
  durability,
  connections,
  servicePerSecond: once(service),
  barePerSecond: once(bare),
  ratio: once(service / bare),
  serviceP99Ms: 40,
  lockWaits: { samples: 100, share: 0 },
  failures: 0,
  statuses: {},
});

describe('growth of money writes', () => {
  test('each row is compared with the fewest connections of its durability', () => {
    const rows = [aRow('on', 4, 200, 400), aRow('on', 32, 500, 1_200), aRow('off', 4, 1_000, 2_000), aRow('off', 32, 900, 2_000)];
    expect(withGrowth(rows).map(({ serviceGrowth, bareGrowth }) => [serviceGrowth, bareGrowth])).toEqual([
      [1, 1],
      [2.5, 3],
      [1, 1],
      [0.9, 1],
    ]);
  });

  test('2.5 times is wanted at 32 connections where the baseline reaches it, and nowhere may throughput fall', () => {
    expect(growthAim({ connections: 32, bareGrowth: 2.5 })).toEqual({ atLeast: 2.5 });
    expect(growthAim({ connections: 32, bareGrowth: 2.4 })).toEqual({ atLeast: 1 });
    expect(growthAim({ connections: 64, bareGrowth: 5 })).toEqual({ atLeast: 1 });
  });

  test('a ratio below 0.7, a fall and a single wait miss their aims', () => {
    const slow = { ...aRow('fsync on', 16, 69, 100), lockWaits: { samples: 10, share: 0.001 } };
    const verdicts = moneyGrowthVerdicts({ rows: [aRow('fsync on', 4, 70, 100), slow], ledgerProblems: {} });
    expect(verdicts.map(({ subject, isMet }) => [subject, isMet])).toEqual([
      ['money writes, fsync on, 4 connections: throughput', true],
      ['money writes, fsync on, 4 connections: waits for Lock: object', true],
      ['money writes, fsync on, 16 connections: throughput', false],
      ['money writes, fsync on, 16 connections: of that at 4', false],
      ['money writes, fsync on, 16 connections: waits for Lock: object', false],
    ]);
  });

  test('failed writes and a broken ledger are faults', () => {
    const failing = { ...aRow('fsync off', 4, 70, 100), failures: 2, statuses: { 503: 2 } };
    expect(moneyGrowthFaults({ rows: [failing], ledgerProblems: { 'fsync on': 0, 'fsync off': 1 } })).toEqual([
      'money writes, fsync off, 4 connections: {"503":2}',
      'money writes, fsync off: ledger check: 1 problems',
    ]);
  });

  test('the table shows throughput, growth and waits', () => {
    const waiting = { ...aRow('fsync on', 32, 500, 1_000), lockWaits: { samples: 50, share: 0.125 } };
    const text = moneyGrowthTable({ rows: [aRow('fsync on', 4, 200, 400), waiting], ledgerProblems: {} });
    expect(
      text
        .split('\n')
        .at(-1)!
        .split(/ *\| */)
        .slice(1, -1),
    ).toEqual(['fsync on', '32', '500', '2.50', '1000', '2.50', '0.50 (0.50–0.50)', '40.0', '12.5 % (50)']);
  });
});

describe('waits for a lock', () => {
  test('the share is that of the sessions that did something', () => {
    expect(
      lockWaitsOf([
        { busy: 4, waiting: 1 },
        { busy: 0, waiting: 0 },
        { busy: 6, waiting: 4 },
      ]),
    ).toEqual({
      samples: 3,
      share: 0.5,
    });
    expect(lockWaitsOf([{ busy: 0, waiting: 0 }])).toEqual({ samples: 1, share: 0 });
    expect(lockWaitsOf([])).toEqual({ samples: 0, share: 0 });
  });
});

describe('two instances', () => {
  const clean: TwoInstancesResult = {
    connections: 32,
    onePerSecond: once(400),
    twoPerSecond: once(600),
    ratio: once(1.5),
    lockWaits: { samples: 9, share: 0 },
    failures: 0,
    statuses: {},
    answered: 1_000,
    stored: 1_010,
    ledgerProblems: 0,
  };

  test('an answered write that is not stored, a failure and a broken ledger are faults, but an unanswered stored one is none', () => {
    expect(twoInstancesFaults(clean)).toEqual([]);
    expect(twoInstancesFaults({ ...clean, stored: 999, failures: 3, statuses: { 500: 3 }, ledgerProblems: 2 })).toEqual([
      'two instances: 3 failures {"500":3}',
      'two instances: 1000 writes were answered, 999 are stored',
      'two instances: ledger check: 2 problems',
    ]);
  });

  test('the table shows both throughputs and their ratio', () => {
    expect(twoInstancesTable([clean])).toContain('| 400    | 600    | 1.50 (1.50–1.50)');
  });
});
