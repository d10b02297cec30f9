import { PgBoss } from 'pg-boss';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { inTransaction } from '../../../src/core/db/transaction.ts';
import { defineJob, type QueuePolicy } from '../../../src/core/jobs/define-job.ts';
import { JobRunner } from '../../../src/core/jobs/job-runner.ts';
import { createLogger } from '../../../src/core/log.ts';
import { allJobs } from '../../../src/jobs/all-jobs.ts';
import { eventually } from '../../support/eventually.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});

const NAME = 'games.poll-press';
const changed: QueuePolicy = {
  policy: 'short',
  retryLimit: 3,
  retryDelaySeconds: 9,
  retryDelayMaxSeconds: 60,
  expireSeconds: 45,
  concurrency: 1,
};

const defined = allJobs().find(({ name }) => name === NAME)!.queue;

/** Installs the queue with these options, or all queues as they are defined. */
async function install(queue?: QueuePolicy): Promise<void> {
  const jobs = queue ? [defineJob({ name: NAME, queue, handle: async () => undefined })] : allJobs();
  const runner = new JobRunner(t.database, createLogger({ level: 'silent', format: 'json' }), jobs);
  await runner.install();
  await runner.stop(0);
}

const OPTIONS = 'policy, retry_limit, retry_delay, retry_backoff, retry_delay_max, expire_seconds';
const queueRow = async () => (await t.app.db.sql(`SELECT ${OPTIONS} FROM jobs.queue WHERE name = $1`, [NAME]))[0];
const jobRows = () =>
  t.app.db.sql<Record<string, unknown>>(`SELECT ${OPTIONS} FROM jobs.job WHERE name = $1 ORDER BY created_on, ctid`, [NAME]);

const original = {
  policy: defined.policy,
  retryLimit: defined.retryLimit,
  retryDelay: defined.retryDelaySeconds,
  retryBackoff: true,
  retryDelayMax: null,
  expireSeconds: defined.expireSeconds,
};
const altered = {
  policy: 'short',
  retryLimit: 3,
  retryDelay: 9,
  retryBackoff: true,
  retryDelayMax: 60,
  expireSeconds: 45,
};

afterEach(async () => {
  await install();
  await t.app.db.sql('DELETE FROM jobs.job WHERE name = $1', [NAME]);
});

describe('options of a queue', () => {
  test('changed options and a changed policy reach an installed queue and the jobs sent from then on', async () => {
    const send = (data: object, key?: string) =>
      t.app.db.sql('SELECT send_job($1, $2::jsonb, $3) AS sent', [NAME, JSON.stringify(data), key]);
    await send({ n: 1 });
    await install(changed);
    expect(await queueRow()).toEqual(altered);
    await send({ n: 2 }, 'key');
    expect(await jobRows()).toEqual([original, altered]);
    expect(await send({ n: 3 }, 'key')).toEqual([{ sent: false }]);
    await install();
    expect(await queueRow()).toEqual(original);
  });

  test('unchanged options write nothing', async () => {
    const stamps = () => t.app.db.sql('SELECT name, updated_on FROM jobs.queue ORDER BY name');
    const before = await stamps();
    await install();
    expect(await stamps()).toEqual(before);
  });
});

describe('send_job', () => {
  test('fills a job as pg-boss does', async () => {
    await install(changed);
    const after = 20 * 86_400;
    await t.app.db.sql("SELECT send_job($1, '{}'::jsonb, NULL, $2::int * interval '1 second') AS sent", [NAME, after]);
    const boss = new PgBoss({ db: t.database.jobDatabase, schema: 'jobs', supervise: false, schedule: false, migrate: false });
    await boss.start();
    // Another key, because the queue is a short one.
    await boss.send(NAME, {}, { startAfter: after, singletonKey: 'boss' });
    await boss.stop({ graceful: false, close: false });
    const rows = await t.app.db.sql<Record<string, unknown>>(
      `SELECT to_jsonb(j) - 'id' - 'singleton_key' - 'created_on' - 'start_after' - 'keep_until' || jsonb_build_object(
         'after', round(extract(epoch FROM start_after - created_on)), 'keep', round(extract(epoch FROM keep_until - start_after))) AS job
       FROM jobs.job j WHERE name = $1 ORDER BY created_on, ctid`,
      [NAME],
    );
    expect(rows).toHaveLength(2);
    expect(rows[0]).toEqual(rows[1]);
  });

  test('names a queue that is not installed', async () => {
    await expect(t.app.db.sql("SELECT send_job('no.such.queue', '{}'::jsonb) AS sent")).rejects.toThrow(
      /the job queue no\.such\.queue is not installed/,
    );
  });
});

describe('workers', () => {
  const queue: QueuePolicy = { ...changed, policy: 'standard', concurrency: 1 };

  test('look for the next job after each one: a list of jobs does not wait for a poll each', async () => {
    const handled: unknown[] = [];
    const job = defineJob({ name: NAME, queue, handle: async (_app, { id }) => void handled.push(id) });
    const runner = new JobRunner(t.database, t.app.log, [job], { pollSeconds: 3_600 });
    await runner.install();
    for (let n = 0; n < 60; n += 1) await t.app.jobs.send(NAME as 'mail.send', {} as never);
    try {
      await runner.work(t.app);
      await eventually(() => expect(handled).toHaveLength(60));
    } finally {
      await runner.stop(5_000);
    }
  });

  test('are woken for jobs that nobody announced, as many as there are jobs', async () => {
    const statements: string[] = [];
    const sql: typeof t.database.db.sql = (text, values) => {
      statements.push(text);
      return t.database.db.sql(text, values);
    };
    const together = Promise.withResolvers<void>();
    let running = 0;
    const handle = async () => {
      running += 1;
      if (running === 3) together.resolve();
      await together.promise;
    };
    const job = defineJob({ name: NAME, queue: { ...queue, concurrency: 3 }, handle });
    const runner = new JobRunner({ ...t.database, db: { ...t.database.db, sql } }, t.app.log, [job], { pollSeconds: 0.05 });
    await runner.install();
    try {
      await runner.work(t.app);
      // By now each worker has found nothing.
      await eventually(() => expect(statements.length).toBeGreaterThan(5));
      for (let n = 0; n < 3; n += 1) await t.app.db.sql("SELECT send_job($1, '{}'::jsonb) AS sent", [NAME]);
      await together.promise;
    } finally {
      together.resolve();
      await runner.stop(5_000);
    }
  });

  test('a stop waits for the poll under way, since the database is closed after it', async () => {
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    const sql: typeof t.database.db.sql = async (text, values) => {
      asked.resolve();
      await answered.promise;
      return t.database.db.sql(text, values);
    };
    const job = defineJob({ name: NAME, queue, handle: async () => undefined });
    const runner = new JobRunner({ ...t.database, db: { ...t.database.db, sql } }, t.app.log, [job]);
    await runner.install();
    await runner.work(t.app);
    await asked.promise;
    const order: string[] = [];
    const stopped = runner.stop(60_000).then(() => order.push('stopped'));
    await new Promise((resolve) => setImmediate(resolve));
    order.push('answered');
    answered.resolve();
    await stopped;
    expect(order).toEqual(['answered', 'stopped']);
  });

  test('are woken after the commit for the queues of a transaction, and not after a rollback', async () => {
    const woken: string[][] = [];
    const jobs = { ...t.app.jobs, wake: (queues: Iterable<string>) => void woken.push([...queues]) };
    const app = { ...t.app, jobs };
    const later = { startAfter: new Date(t.clock.now().getTime() + 60_000) };
    await inTransaction(app, async (tx) => {
      await tx.jobs.send('provisioning.push', { subscriptionId: 1 });
      await tx.jobs.send('payments.callback', { callbackId: 1 }, later);
      expect(woken).toEqual([]);
    });
    expect(woken).toEqual([['provisioning.push']]);
    const failed = inTransaction(app, async (tx) => {
      await tx.jobs.send('provisioning.push', { subscriptionId: 2 });
      throw new Error('rolled back');
    });
    await expect(failed).rejects.toThrow('rolled back');
    expect(woken).toHaveLength(1);
  });

  test('a job that was taken while a restore ran is run only if the restore left it', async () => {
    const handled: string[] = [];
    const job = defineJob({
      name: NAME,
      queue: { ...queue, concurrency: 2 },
      handle: async (_app, { id }) => void handled.push(id),
    });
    const runner = new JobRunner(t.database, t.app.log, [job]);
    await runner.install();
    const opening = Promise.withResolvers<void>();
    const taken = () =>
      t.app.db.sql<{ id: string }>("SELECT id FROM jobs.job WHERE name = $1 AND state = 'active' ORDER BY id", [NAME]);
    try {
      await runner.work(t.app, { isClosed: true, opened: () => opening.promise });
      for (let n = 0; n < 2; n += 1) await t.app.jobs.send(NAME as 'mail.send', {} as never);
      await eventually(async () => expect(await taken()).toHaveLength(2));
      const [removed, left] = await taken();
      await t.app.db.sql('DELETE FROM jobs.job WHERE id = $1 RETURNING id', [removed!.id]);
      opening.resolve();
      await eventually(async () => expect(await taken()).toEqual([]));
      expect(handled).toEqual([left!.id]);
    } finally {
      opening.resolve();
      await runner.stop(5_000);
    }
  });
});
