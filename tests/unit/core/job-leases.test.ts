import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { JobLeases, LEASE_TIMES } from '../../../src/core/jobs/job-runner.ts';
import { createLogger } from '../../../src/core/log.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('spec 10 M6 and F6: after every failed beat an instance waits again before it releases jobs of others', async () => {
  let isAway = false;
  let releases = 0;
  const sql = async (statement: string) => {
    if (isAway) throw new Error('the database is away');
    if (statement.includes('gen_random_uuid')) releases += 1;
    return [];
  };
  const leases = new JobLeases(sql as never, createLogger({ level: 'silent', format: 'json' }));
  const beatAfter = async (ms: number) => {
    vi.advanceTimersByTime(ms);
    await leases.beat();
    return releases;
  };
  expect(await beatAfter(0)).toBe(0);
  expect(await beatAfter(LEASE_TIMES.settleMs)).toBe(1);
  isAway = true;
  await beatAfter(LEASE_TIMES.beatMs);
  isAway = false;
  expect(await beatAfter(LEASE_TIMES.settleMs)).toBe(1);
  expect(await beatAfter(LEASE_TIMES.settleMs - 1)).toBe(1);
  expect(await beatAfter(1)).toBe(2);
});
