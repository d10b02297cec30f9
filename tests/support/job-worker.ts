/** A process that takes every job of one queue and never ends it: `node job-worker.ts <database url>`. Tests kill it. */
import { pathToFileURL } from 'node:url';
import { openPostgres } from '../../src/core/db/open-postgres.ts';
import { JobRunner, type LeaseTimes } from '../../src/core/jobs/job-runner.ts';
import { createLogger } from '../../src/core/log.ts';
import { syncSquads } from '../../src/domain/provisioning/jobs.ts';
import { testApp } from './test-app.ts';
import { migrationsFolder } from './test-database.ts';

/** Long enough for a stalled process on a busy machine, much shorter than what a test waits for. */
export const QUICK_LEASES: LeaseTimes = { beatMs: 200, leaseMs: 3_000, settleMs: 1_000 };

/** The job that the tests run. */
export const TWO_AT_ONCE: typeof syncSquads = { ...syncSquads, queue: { ...syncSquads.queue, concurrency: 2 } };

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const log = createLogger({ level: 'silent', format: 'json' });
  const limits = { connectMs: 60_000, beginMs: 60_000, transactionMs: 90_000 };
  const url = process.argv[2]!;
  const database = await openPostgres({ url, poolSize: 6, statementTimeoutMs: 15_000, migrationsFolder, log, limits });
  const { app } = await testApp({ database });
  const endless = { ...TWO_AT_ONCE, handle: () => new Promise<never>(() => undefined) };
  const runner = new JobRunner(database, log, [endless], { leaseTimes: QUICK_LEASES });
  await runner.work(app);
}
