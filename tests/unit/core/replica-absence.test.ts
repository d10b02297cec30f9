/** Spec 08 S10: for how long standbys are left out. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { freePort } from '../../../packages/measures/src/free-port.ts';
import type { Db } from '../../../src/core/db/db.ts';
import { WAIT_LIMITS } from '../../../src/core/db/open-prisma.ts';
import { openReplica } from '../../../src/core/db/replica.ts';
import { createLogger } from '../../../src/core/log.ts';

test('a failover that the look for a standby itself finds out counts for a minute', async () => {
  const url = `postgresql://nobody@127.0.0.1:${await freePort()}/none`;
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  let looks = 0;
  const sql = async () => {
    looks += 1;
    return [{ lsn: '0/1', timeline: looks === 1 ? '00000001' : '00000002' }];
  };
  const replica = openReplica({
    url,
    poolSize: 1,
    statementTimeoutMs: 1_000,
    answerMs: 1_000,
    limits: WAIT_LIMITS,
    nameOf: () => '',
    onFailedStatement: () => undefined,
    primary: { sql } as unknown as Db,
    log: createLogger({ level: 'silent', format: 'json' }),
  });
  onTestFinished(() => replica.close());
  // Nobody listens there: the first look fails, and the next one comes after seconds.
  await vi.waitFor(() => expect(looks).toBe(1));
  while (looks < 2) {
    await new Promise(setImmediate);
    vi.advanceTimersByTime(1_000);
  }
  await new Promise(setImmediate);
  vi.advanceTimersByTime(50_000);
  await new Promise(setImmediate);
  expect([looks, replica.isUsable()]).toEqual([2, false]);
  vi.advanceTimersByTime(11_000);
  await new Promise(setImmediate);
  expect(looks).toBe(3);
});
