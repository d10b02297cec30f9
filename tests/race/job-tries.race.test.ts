import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import type { RunningJob } from '../../src/core/jobs/define-job.ts';
import { JobLeases, JobRunner, LEASE_TIMES } from '../../src/core/jobs/job-runner.ts';
import { sqlJobSender } from '../../src/core/jobs/job-sender.ts';
import type { Logger } from '../../src/core/log.ts';
import { syncSquads } from '../../src/domain/provisioning/jobs.ts';
import { eventually } from '../support/eventually.ts';
import { QUICK_LEASES, TWO_AT_ONCE } from '../support/job-worker.ts';
import { testApp } from '../support/test-app.ts';
import { freshDatabase, serverUrl, type TestDatabase } from '../support/test-database.ts';

describe.runIf(serverUrl !== null)('tries of a job', () => {
  it('the handler is informed that a try is the last one', async () => {
    const { app, database } = await testApp();
    await app.db.sql('DELETE FROM jobs.job');
    await sqlJobSender(database.db.sql, systemClock).send('provisioning.sync-squads', { tariffId: 1 });
    await app.db.sql('UPDATE jobs.job SET retry_limit = 2, retry_delay = 0, retry_backoff = false');
    const tries: boolean[] = [];
    const job: typeof syncSquads = {
      ...syncSquads,
      handle: async (_app, { isLastTry = false }) => {
        tries.push(isLastTry);
        throw new Error('this try fails');
      },
    };
    const runner = new JobRunner(database, app.log, [job]);
    try {
      await runner.install();
      await runner.work(app);
      await eventually(async () => expect(await app.db.sql('SELECT state FROM jobs.job')).toEqual([{ state: 'failed' }]));
    } finally {
      await runner.stop(5_000);
    }
    expect(tries).toEqual([false, false, true]);
  });

  it('a payload that does not fit fails with a log line that names the field, and the handler is not called', async () => {
    const { app, database } = await testApp();
    await app.db.sql('DELETE FROM jobs.job');
    await sqlJobSender(database.db.sql, systemClock).send('provisioning.sync-squads', { tariff: 1 } as never);
    await app.db.sql('UPDATE jobs.job SET retry_limit = 1, retry_delay = 0, retry_backoff = false');
    const handle = vi.fn();
    const logged: [unknown, string][] = [];
    const log = { ...app.log, error: (fields: { err: Error }, message: string) => logged.push([fields.err.message, message]) };
    const runner = new JobRunner(database, log as unknown as Logger, [{ ...syncSquads, handle }]);
    try {
      await runner.install();
      await runner.work(app);
      await eventually(async () => expect(await app.db.sql('SELECT state FROM jobs.job')).toEqual([{ state: 'failed' }]));
    } finally {
      await runner.stop(5_000);
    }
    const problem = expect.stringMatching(/^The payload of a job of provisioning\.sync-squads does not fit: tariffId: /);
    expect(logged).toEqual([
      [problem, 'a job failed and is retried'],
      [problem, 'a job failed for the last time'],
    ]);
    expect(handle).not.toHaveBeenCalled();
  });
});

describe.runIf(serverUrl !== null)('spec 10 M6, F6: jobs of an instance that is gone', () => {
  let database: TestDatabase;
  const workers: ChildProcess[] = [];
  beforeAll(async () => {
    database = await freshDatabase({ poolSize: 8 });
  });
  afterAll(async () => {
    for (const worker of workers) worker.kill('SIGKILL');
    await database?.drop();
  });

  const jobs = () =>
    database.db.sql<{ id: string; state: string; retryCount: number }>(
      "SELECT id, state::text AS state, retry_count FROM jobs.job WHERE name = 'provisioning.sync-squads' ORDER BY created_on, id",
    );
  // The queue keeps one waiting job a key, as the service sends them: one a tariff.
  const send = async (tariffId: number) =>
    sqlJobSender(database.db.sql, systemClock).send('provisioning.sync-squads', { tariffId }, { singletonKey: String(tariffId) });
  const runnerOf = async (handle: typeof syncSquads.handle) => {
    const { app } = await testApp({ database });
    const runner = new JobRunner(database, app.log, [{ ...TWO_AT_ONCE, handle }], { leaseTimes: QUICK_LEASES });
    await runner.install();
    await runner.work(app);
    return runner;
  };

  it('are run again as soon as their leases end, long before their own limit, also those that had no retry left', async () => {
    await database.db.sql('DELETE FROM jobs.job');
    for (const tariffId of [1, 2]) await send(tariffId);
    await database.db.sql('UPDATE jobs.job SET retry_limit = 0, expire_seconds = 7200 WHERE (data->>$1)::int = 1 RETURNING id', [
      'tariffId',
    ]);
    const worker = spawn(process.execPath, [join(import.meta.dirname, '../support/job-worker.ts'), database.url!], {
      stdio: 'inherit',
    });
    workers.push(worker);
    await eventually(async () => expect((await jobs()).map(({ state }) => state)).toEqual(['active', 'active']));
    const before = await jobs();
    const done: unknown[] = [];
    const runner = await runnerOf(async (_app, { data }) => done.push(data.tariffId));
    try {
      // The process lives: nobody else gets its jobs, whatever time passes.
      const living = new JobLeases(database.side.sql, (await testApp({ database })).app.log, { ...QUICK_LEASES, settleMs: 0 });
      await eventually(async () => {
        await living.beat();
        const [row] = await database.db.sql<{ isLong: boolean }>(
          "SELECT min(started_on) < now() - $1::int * interval '2 milliseconds' AS is_long FROM jobs.job WHERE state = 'active'",
          [QUICK_LEASES.leaseMs],
        );
        expect(row!.isLong).toBe(true);
      });
      expect(await jobs()).toEqual(before);
      worker.kill('SIGKILL');
      await eventually(() => expect(done.sort()).toEqual([1, 2]));
      await eventually(async () => expect((await jobs()).map(({ state }) => state)).toEqual(['completed', 'completed']));
      // The former worker's ids are nobody's: what it still does reaches no job.
      expect((await jobs()).filter(({ id }) => before.some((known) => known.id === id))).toEqual([]);
    } finally {
      await runner.stop(5_000);
    }
  });

  it('a worker that learns that its lease has ended stops, and neither completes nor fails the job of its successor', async () => {
    await database.db.sql('DELETE FROM jobs.job');
    await send(3);
    const taken: RunningJob<{ tariffId: number }>[] = [];
    const ends: ((outcome: 'done' | 'failed') => void)[] = [];
    const runner = await runnerOf(async (_app, job) => {
      taken.push(job);
      const outcome = await new Promise((resolve) => ends.push(resolve));
      if (outcome === 'failed') throw new Error('the former worker failed');
    });
    try {
      await eventually(() => expect(taken).toHaveLength(1));
      // As another instance does for one that could not renew its lease in time.
      await database.db.sql("UPDATE jobs.job SET id = gen_random_uuid(), state = 'retry' WHERE state = 'active' RETURNING id");
      await eventually(() => expect(taken).toHaveLength(2));
      await eventually(() => expect(taken[0]!.signal.aborted).toBe(true));
      expect(taken[1]!.signal.aborted).toBe(false);
      ends[0]!('failed');
      await eventually(async () => expect(runner.runningJobs()).toBe(1));
      expect((await jobs()).map(({ state }) => state)).toEqual(['active']);
      ends[1]!('done');
      await eventually(async () => expect((await jobs()).map(({ state }) => state)).toEqual(['completed']));
    } finally {
      for (const end of ends) end('done');
      await runner.stop(5_000);
    }
  });

  it('after an outage nothing is released before every live instance could renew its leases, and one that cannot aborts its jobs', async () => {
    await database.db.sql('DELETE FROM jobs.job');
    await send(4);
    await database.db.sql(
      "UPDATE jobs.job SET state = 'active', started_on = now(), heartbeat_on = now() - interval '1 hour' RETURNING id",
    );
    const { log } = (await testApp({ database })).app;
    let isAway = true;
    const sql: typeof database.side.sql = (text, values) =>
      isAway ? Promise.reject(new Error('away')) : database.side.sql(text, values);
    const times = { beatMs: 1_000, leaseMs: 0, settleMs: 60_000 };
    const leases = new JobLeases(sql, log, times);
    const signal = leases.begin('00000000-0000-4000-8000-000000000000', 'provisioning.sync-squads');
    await leases.beat();
    expect(signal.aborted).toBe(true);
    isAway = false;
    await leases.beat();
    await leases.beat();
    expect((await jobs()).map(({ state }) => state)).toEqual(['active']);
    times.settleMs = 0;
    await leases.beat();
    expect((await jobs()).map(({ state }) => state)).toEqual(['retry']);
  });

  it('within 17 s of the kill another instance releases them, and one that was started again alone within 10 s of its start', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const releases: number[] = [];
    const startedAt = performance.now();
    const sql = (async (text: string) => {
      if (text.includes('gen_random_uuid()')) releases.push(performance.now() - startedAt);
      return [];
    }) as typeof database.side.sql;
    const leases = new JobLeases(sql, (await testApp({ database })).app.log);
    try {
      leases.start();
      await vi.advanceTimersByTimeAsync(60_000);
    } finally {
      leases.stop();
      vi.useRealTimers();
    }
    expect(releases[0]).toBe(10_000);
    const pauses = releases.slice(1).map((at, index) => at - releases[index]!);
    expect(Math.max(...pauses) + LEASE_TIMES.leaseMs).toBe(17_000);
  });

  it('a job that ended several processes is not run for ever', async () => {
    await database.db.sql('DELETE FROM jobs.job');
    await send(5);
    await database.db.sql(
      "UPDATE jobs.job SET state = 'active', started_on = now(), retry_count = retry_limit + 1, heartbeat_on = now() - interval '1 hour' RETURNING id",
    );
    const leases = new JobLeases(database.side.sql, (await testApp({ database })).app.log, { ...QUICK_LEASES, settleMs: 0 });
    await leases.beat();
    expect((await jobs()).map(({ state }) => state)).toEqual(['failed']);
  });
});
