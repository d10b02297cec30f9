import { beforeAll, expect, test } from 'vitest';
import { readState } from '../../../src/core/service-state.ts';
import { startRound } from '../../../src/jobs/schedules.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});

test('a round is started once, however many instances try', async () => {
  const waiting = async () =>
    (
      await t.app.db.sql<{ n: number }>(
        "SELECT count(*)::int AS n FROM jobs.job WHERE name = 'ledger.count' AND state = 'created'",
      )
    )[0]!.n;
  await Promise.all(Array.from({ length: 10 }, () => startRound(t.app, 'ledger.count', 60_000)));
  expect(await waiting()).toBe(1);
  const round = await readState<number>(t.app.db, 'schedule:ledger.count');
  expect(round).toBe(Math.floor(t.clock.now().getTime() / 60_000));
});

test('a round whose job could not be sent is not spent: the next tick tries again', async () => {
  const queue = 'no.such.queue' as 'ledger.count';
  await expect(startRound(t.app, queue, 60_000)).rejects.toThrow('the job queue no.such.queue is not installed');
  expect(await readState(t.app.db, `schedule:${queue}`)).toBeNull();
});
