/** Spec 07 section 9: what an import says while it goes on, and how it holds itself back. */
import { describe, expect, test } from 'vitest';
import { ProgressLines } from '../../../src/cli/import-progress.ts';
import { ImportStopped, RowPace, watchedLines } from '../../../src/domain/import/import-progress.ts';

const START = new Date('2026-11-28T09:00:00Z').getTime();

function atSeconds() {
  const clock = { seconds: 0 };
  return { clock, lines: new ProgressLines(() => new Date(START + clock.seconds * 1_000)) };
}

describe('the lines of an import', () => {
  test('say nothing before it has begun', () => {
    expect(atSeconds().lines.line()).toBeNull();
  });

  test('have rows, rate, time left and expected end while it loads', () => {
    const { clock, lines } = atSeconds();
    lines.move({ phase: 'loading', part: 'users', rows: 0, done: 0, all: 10_000 });
    clock.seconds = 5;
    lines.move({ phase: 'loading', part: 'users', rows: 2_000, done: 2_000, all: 10_000 });
    expect(lines.line()).toBe(
      '… loading users: 2000 rows, 2000 of about 10000 in all, 400 rows/s, 20 s left, until 09:00:25 UTC',
    );
  });

  test('measure each phase by itself', () => {
    const { clock, lines } = atSeconds();
    lines.move({ phase: 'loading', part: 'users', rows: 10, done: 10, all: 10 });
    clock.seconds = 100;
    lines.move({ phase: 'moving', part: 'payments', rows: 900, done: 100, all: 60_000 });
    clock.seconds = 110;
    lines.move({ phase: 'moving', part: 'users', rows: 500, done: 1_100, all: 60_000 });
    expect(lines.line()).toBe(
      '… moving users: 500 rows, 1100 of about 60000 in all, 100 rows/s, 10 min left, until 09:11:39 UTC',
    );
  });

  test('say for how long it finishes', () => {
    const { clock, lines } = atSeconds();
    lines.move({ phase: 'finishing', part: 'the ledger', rows: 60_000, done: 60_000, all: 60_000 });
    clock.seconds = 90;
    expect(lines.line()).toBe('… finishing the ledger: for 90 s');
  });

  test('expect no end after the first few rows, since a large table that follows is one statement', () => {
    const { clock, lines } = atSeconds();
    lines.move({ phase: 'moving', part: 'settings', rows: 13, done: 0, all: 60_000 });
    clock.seconds = 50;
    lines.move({ phase: 'moving', part: 'payments', rows: 40_000, done: 13, all: 60_000 });
    expect(lines.line()).toBe('… moving payments: 40000 rows, 13 of about 60000 in all');
  });

  test('count the steps while it prepares', () => {
    const { clock, lines } = atSeconds();
    lines.move({ phase: 'preparing', part: 'payments', rows: 0, done: 11, all: 31 });
    clock.seconds = 14;
    expect(lines.line()).toBe('… preparing payments: step 12 of 31, for 14 s');
  });
});

describe('the pace of a load', () => {
  test.each([
    [1_000, 5_000, 2_000, 3_000],
    [1_000, 1_000, 4_000, 0],
    [null, 1_000_000, 1, 0],
  ])('at %s rows a second, %i rows after %i ms wait %i ms', (rowsPerSecond, rows, ms, expected) => {
    expect(new RowPace(rowsPerSecond, START).delayAfter(rows, START + ms)).toBe(expected);
  });

  test('counts the rows of all chunks', () => {
    const pace = new RowPace(100, START);
    pace.delayAfter(100, START);
    expect(pace.delayAfter(100, START)).toBe(2_000);
  });
});

test('lines that are watched end when they are stopped', async () => {
  const stop = new AbortController();
  const counted: number[] = [];
  const chunks = (async function* () {
    yield Buffer.from('1\n2\n');
    stop.abort();
    yield Buffer.from('3\n');
  })();
  const watched = watchedLines(chunks, {
    pace: new RowPace(null, 0),
    signal: stop.signal,
    onRows: (rows) => void counted.push(rows),
  });
  const readAll = async () => {
    for await (const _chunk of watched);
  };
  await expect(readAll()).rejects.toThrow(ImportStopped);
  expect(counted).toEqual([2]);
});
