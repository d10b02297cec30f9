import type { Database } from '../core/db/database.ts';
import { JobRunner } from '../core/jobs/job-runner.ts';
import type { Logger } from '../core/log.ts';
import { allJobs } from '../jobs/all-jobs.ts';

/** Installs the job tables and the queues of all jobs in a migrated database, and runs no job. */
export async function installJobs(database: Database, log: Logger): Promise<void> {
  const runner = new JobRunner(database, log, allJobs());
  await runner.install();
  await runner.stop(0);
}
