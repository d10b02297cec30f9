import { describe, expect, test } from 'vitest';
import { readOptions } from '../../../packages/measures/src/bench/options.ts';
import { type BenchResults, faults, render, verdicts } from '../../../packages/measures/src/bench/report.ts';

const nothing: BenchResults = {
  machine: {},
  options: {},
  starts: [],
  memories: [],
  paths: [],
  hotAccounts: [],
  moneyGrowths: [],
  twoInstances: [],
  eventLatencies: [],
  telemetryCosts: [],
  interfaceWordsCosts: [],
  signInBursts: [],
  bigLists: [],
  adminStatistics: [],
  histories: [],
  stalls: [],
  sockets: [],
  remarks: [],
};

const aPath: BenchResults['paths'][number] = {
  name: 'user-by-id',
  title: 'GET /users/{id}, API key',
  database: 'postgres',
  servicePerSecond: { median: 700, min: 690, max: 710 },
  barePerSecond: { median: 1000, min: 990, max: 1010 },
  ratio: { median: 0.7, min: 0.69, max: 0.71 },
  serviceP50Ms: 1,
  serviceP99Ms: 8,
  bareP99Ms: 2,
  serviceCpuMicros: 90,
  bareCpuMicros: 55,
  requests: 1000,
  failures: 0,
  statuses: {},
  memoryGrowthMiB: 5,
  memoryMiB: 300,
  loopDelayMs: 12,
};

describe('the verdict', () => {
  test('each path is compared with its own aims', () => {
    expect(verdicts({ ...nothing, paths: [aPath] }).map(({ text, isMet }) => [text, isMet])).toEqual([
      ['0.70 x', true],
      ['4.00 x', false],
    ]);
  });

  test('a deadlock, a slow list and a long stall miss their aims', () => {
    const results: BenchResults = {
      ...nothing,
      hotAccounts: [
        { database: 'postgres', perSecond: 401, p99Ms: 50, failures: 0, statuses: {}, deadlocks: 1, ledgerProblems: 0 },
      ],
      bigLists: [
        {
          database: 'postgres',
          users: 10,
          transactions: 100,
          title: 'list',
          p50Ms: 1,
          p95Ms: 50.1,
          maxMs: 60,
          requests: 9,
          failures: 0,
        },
      ],
      stalls: [
        {
          database: 'postgres',
          usualP99Ms: 4,
          stalledP99Ms: 5,
          growth: 0.25,
          failures: 0,
          statuses: {},
          reached: { panel: 1, receiver: 1 },
        },
      ],
    };
    expect(verdicts(results).map((verdict) => verdict.isMet)).toEqual([true, false, false, false]);
    expect(faults(results)).toEqual([]);
  });

  test('an event loop that sign-ins hold up misses its aim, and a refused sign-in is a fault', () => {
    const burst: BenchResults['signInBursts'][number] = {
      database: 'postgres',
      loopDelayP99Ms: 49.9,
      perSecond: 6,
      slowestMs: 9_000,
      failures: 0,
      statuses: {},
    };
    const results: BenchResults = {
      ...nothing,
      signInBursts: [burst, { ...burst, loopDelayP99Ms: 50.1, failures: 1, statuses: { 429: 1 } }],
    };
    expect(verdicts(results).map(({ text, isMet }) => [text, isMet])).toEqual([
      ['49.9 ms', true],
      ['50.1 ms', false],
    ]);
    expect(faults(results)).toEqual(['sign-ins at once [postgres]: {"429":1}']);
    expect(render(results)).toContain('| 50 sign-ins at once |');
  });

  test('failures, a leak and a broken ledger are faults whatever the aims say', () => {
    const results: BenchResults = {
      ...nothing,
      paths: [{ ...aPath, failures: 2, statuses: { 500: 2 }, memoryGrowthMiB: 900 }],
      hotAccounts: [
        { database: 'postgres', perSecond: 900, p99Ms: 9, failures: 0, statuses: {}, deadlocks: 0, ledgerProblems: 3 },
      ],
    };
    expect(faults(results)).toEqual([
      'GET /users/{id}, API key [postgres]: 2 failures {"500":2}',
      'GET /users/{id}, API key [postgres]: memory grew by 900 MiB',
      'ledger check: 3 problems [postgres]',
    ]);
  });

  test('the table shows what was measured and what was left out', () => {
    const text = render({ ...nothing, paths: [aPath], remarks: ['PostgreSQL was left out'] });
    expect(text).toContain('0.70 (0.69–0.71)');
    expect(text).toContain('MISSED');
    expect(text.endsWith('PostgreSQL was left out')).toBe(true);
  });
});

describe('options', () => {
  test('quick means short rounds and small data, single values still win', () => {
    expect(readOptions(['--quick', '--only', 'users,start', '--only', 'stall', '--seconds', '2'])).toMatchObject({
      quick: true,
      only: ['users', 'start', 'stall'],
      secondsPerRound: 2,
      rounds: 3,
      scale: 10_000,
      databases: ['postgres', 'embedded'],
    });
  });

  test('nonsense is refused', () => {
    expect(() => readOptions(['--rounds', 'many'])).toThrow('--rounds');
    expect(() => readOptions(['--database', 'sqlite'])).toThrow('postgres or embedded');
    expect(() => readOptions(['--fast'])).toThrow('--fast');
  });
});
