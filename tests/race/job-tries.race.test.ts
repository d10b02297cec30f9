import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { JobRunner } from '../../src/core/jobs/job-runner.ts';
import { sqlJobSender } from '../../src/core/jobs/sql-job-sender.ts';
import { eventually } from '../support/eventually.ts';
import { testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';

describe.runIf(serverUrl !== null)('tries of a job', () => {
  it('the last one knows that it is the last', async () => {
    const { app, database } = await testApp();
    await app.db.sql('DELETE FROM jobs.job');
    await sqlJobSender(database.db.sql, systemClock).send('provisioning.sync-squads', { tariffId: 1 });
    await app.db.sql('UPDATE jobs.job SET retry_limit = 2, retry_delay = 0, retry_backoff = false');
    const tries: boolean[] = [];
    const runner = new JobRunner(database, app.log);
    try {
      await runner.install();
      await runner.work({
        'provisioning.sync-squads': async (job) => {
          tries.push(job.isLastTry ?? false);
          throw new Error('not this time');
        },
      });
      await eventually(async () => expect(await app.db.sql('SELECT state FROM jobs.job')).toEqual([{ state: 'failed' }]));
    } finally {
      await runner.stop(5_000);
    }
    expect(tries).toEqual([false, false, true]);
  });
});
