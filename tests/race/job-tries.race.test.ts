import { describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { JobRunner } from '../../src/core/jobs/job-runner.ts';
import { sqlJobSender } from '../../src/core/jobs/sql-job-sender.ts';
import type { Logger } from '../../src/core/log.ts';
import { syncSquads } from '../../src/domain/provisioning/jobs.ts';
import { eventually } from '../support/eventually.ts';
import { testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';

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
