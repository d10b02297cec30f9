import { describe, expect, it } from 'vitest';
import { undoAtEnd, undoNow } from '../../../packages/measures/src/drills/cleanup.ts';
import { KILL_OPERATIONS } from '../../../packages/measures/src/drills/kill-points/operation-names.ts';
import { FAILOVER_FAULTS, readOptions } from '../../../packages/measures/src/drills/options.ts';
import { DrillReport, textTable } from '../../../packages/measures/src/drills/report.ts';
import { PROJECT_STAND } from '../../../packages/measures/src/drills/stand.ts';

describe('options of a drill', () => {
  it('reads each drill with what it needs', () => {
    expect(readOptions(['failover', '--stand', 's.sh', '--seed', '5', '--pause', '20', '--faults', 'switchover'])).toEqual({
      drill: 'failover',
      stand: 's.sh',
      folder: null,
      seed: 5,
      writes: 300,
      pauseSeconds: 20,
      faults: ['switchover'],
      isPooled: false,
      payments: 1_000,
    });
    expect(readOptions(['failover', '--pooled', '--seed', '1'])).toMatchObject({ isPooled: true, faults: FAILOVER_FAULTS });
    expect(readOptions(['scale', '--folder', 'stand', '--seed', '1'])).toEqual({
      drill: 'scale',
      stand: PROJECT_STAND,
      folder: 'stand',
      seed: 1,
      writes: 300,
      pauseSeconds: 15,
      requests: 2_000,
    });
    expect(readOptions(['events', '--seed', '1'])).toEqual({ drill: 'events', count: 100_000, seed: 1 });
    expect(readOptions(['silence', '--writes', '500', '--seed', '1'])).toEqual({
      drill: 'silence',
      writes: 500,
      silentSeconds: 30,
      seed: 1,
    });
    expect(readOptions(['restart', '--requests', '50', '--writes', '40', '--seed', '1'])).toEqual({
      drill: 'restart',
      requests: 50,
      writes: 40,
      seed: 1,
    });
    expect(readOptions(['money', '--days', '3', '--day-seconds', '5', '--seed', '1'])).toEqual({
      drill: 'money',
      days: 3,
      daySeconds: 5,
      seed: 1,
    });
    expect(readOptions(['kill-points', '--operations', 'topup,purchase', '--points', '9', '--seed', '1'])).toEqual({
      drill: 'kill-points',
      operations: ['topup', 'purchase'],
      points: 9,
      lanes: 2,
      seed: 1,
    });
    expect(readOptions(['kill-points'])).toMatchObject({ operations: KILL_OPERATIONS, points: null });
    expect(readOptions(['soak', '--minutes', '5', '--seed', '1'])).toEqual({ drill: 'soak', minutes: 5, share: 0.6, seed: 1 });
    expect(readOptions(['--help'])).toBe('help');
  });

  it('hands the options of all drills to each, with one seed', () => {
    const all = readOptions(['all', '--points', '3', '--count', '500']);
    if (all === 'help' || all.drill !== 'all') throw new Error('these are the options of all drills');
    expect(all.drills.map(({ drill }) => drill)).toEqual(['scale', 'silence', 'events', 'money', 'kill-points', 'soak']);
    expect(new Set(all.drills.map(({ seed }) => seed))).toEqual(new Set([all.seed]));
    expect(all.drills).toContainEqual(expect.objectContaining({ drill: 'kill-points', points: 3 }));
    expect(all.drills).toContainEqual({ drill: 'events', count: 500, seed: all.seed });
  });

  it('takes a new seed for each run', () => {
    const seedOf = () => (readOptions(['events']) as { seed: number }).seed;
    expect(new Set([seedOf(), seedOf(), seedOf(), seedOf()]).size).toBeGreaterThan(1);
  });

  it.each([
    [[], /failover, scale, events, silence, restart, money, kill-points or soak/],
    [['kill-points', '--operations', 'purchase,theft'], /--operations/],
    [['money', '--days', '0'], /--days/],
    [['failover', '--faults', 'flood'], /--faults/],
    [['events', '--count', '12'], /--count/],
    [['silence', '--writes', '5'], /--writes/],
    [['restart', '--requests', 'many'], /--requests/],
    [['events', '--seed', '-1'], /--seed/],
    [['restart', '--unknown'], /unknown/],
  ])('refuses %j', (args, problem) => {
    expect(() => readOptions(args)).toThrow(problem);
  });
});

describe('the report of a drill', () => {
  it('is met as long as no check has a violation', () => {
    const report = new DrillReport();
    report.add('first', '3 of 3', []);
    expect(report.isMet).toBe(true);
    report.add(
      'second',
      '7 wrong',
      Array.from({ length: 7 }, (_, index) => `difference ${index}`),
    );
    expect(report.isMet).toBe(false);
    const text = report.render();
    expect(text).toMatch(/ok +first +3 of 3/);
    expect(text).toMatch(/VIOLATED +second +7 wrong/);
    expect(text).toContain('second: 7 violations, the first of them:\n  difference 0\n');
    expect(text).not.toContain('difference 5');
  });

  it('names the part of a check, and is not met by a measurement that is not', () => {
    const report = new DrillReport();
    report.beginPart('direct');
    report.add('first', '3 of 3', []);
    const result = { drill: 'kill-primary', name: 'writes again', measured: '4.0 s', wanted: '<= 5.0 s', isMet: true };
    report.addMeasured(result);
    expect(report.isMet).toBe(true);
    report.addMeasured({ ...result, measured: '6.0 s', isMet: false });
    expect([report.isMet, report.areChecksMet]).toEqual([false, true]);
    expect(report.render()).toMatch(/ok +direct: first +3 of 3/);
    expect(report.render()).toMatch(/VIOLATED +direct: kill-primary +writes again +6.0 s +<= 5.0 s/);
  });

  it('of several drills has one table, in their order', () => {
    const report = new DrillReport();
    report.beginDrill('scale');
    report.beginPart('direct');
    report.add('no write is lost', '0 of 300', []);
    report.beginDrill('events');
    report.add('each arrived | once', '2 missing', ['7', '9']);
    report.addMeasured({ drill: 'readers', name: 'pause', measured: '1 s', wanted: '<= 2 s', isMet: true });
    expect(report.renderTable().split('\n').slice(2)).toEqual([
      '| scale | direct: no write is lost | 0 of 300 | no violation | ok |',
      '| events | readers: pause | 1 s | <= 2 s | ok |',
      '| events | each arrived \\| once | 2 missing | no violation | not met |',
    ]);
    expect(report.render()).toMatch(/ok +scale: direct: no write is lost/);
  });

  it('has columns as wide as their widest cell', () => {
    expect(textTable(['a', 'b'], [['long', 'x']])).toBe('a     b\n----  -\nlong  x');
  });
});

it('undoes what is open when a drill is interrupted, the latest first, and nothing twice', async () => {
  const undone: string[] = [];
  const undo = (name: string) => undoAtEnd(async () => void undone.push(name));
  undo('stand');
  const closeFixture = undo('stage');
  undo('database');
  await closeFixture();
  await closeFixture();
  await undoNow();
  await undoNow();
  expect(undone).toEqual(['stage', 'database', 'stand']);
});
