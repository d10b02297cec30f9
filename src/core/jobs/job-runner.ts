import { PgBoss } from 'pg-boss';
import type { App } from '../app.ts';
import type { Database } from '../db/database.ts';
import { runOutsideTransaction } from '../db/root-guard.ts';
import type { Logger } from '../log.ts';
import { type JobDefinition, JobPayloadError, runJob } from './define-job.ts';

/** Schema of the job tables in the database. */
const JOBS_SCHEMA = 'jobs';
const POLL_SECONDS = 0.5;

/** Runs durable jobs on this instance (pg-boss); installs its tables and the queues of the given jobs. */
export class JobRunner {
  readonly #boss: PgBoss;
  readonly #log: Logger;
  readonly #jobs: readonly JobDefinition[];

  constructor(database: Database, log: Logger, jobs: readonly JobDefinition[]) {
    this.#log = log;
    this.#jobs = jobs;
    this.#boss = new PgBoss({ db: database.jobDatabase, schema: JOBS_SCHEMA, superviseIntervalSeconds: 30 });
    this.#boss.on('error', (error) => log.warn({ err: error }, 'job queue'));
  }

  /** Installs tables and queues. Needed before anything sends a job. */
  async install(): Promise<void> {
    await runOutsideTransaction(async () => {
      await this.#boss.start();
      const known = new Set((await this.#boss.getQueues()).map((queue) => queue.name));
      for (const { name, queue: definition } of this.#jobs) {
        if (known.has(name)) continue;
        await this.#boss.createQueue(name, {
          policy: definition.policy,
          retryLimit: definition.retryLimit,
          retryDelay: definition.retryDelaySeconds,
          retryBackoff: true,
          ...(definition.retryDelayMaxSeconds === undefined ? {} : { retryDelayMax: definition.retryDelayMaxSeconds }),
          expireInSeconds: definition.expireSeconds,
        });
      }
    });
  }

  /** Starts to run jobs of every given definition. */
  async work(app: App): Promise<void> {
    for (const definition of this.#jobs) {
      const queue = definition.name;
      const options = {
        pollingIntervalSeconds: POLL_SECONDS,
        localConcurrency: definition.queue.concurrency,
        batchSize: 1,
        burstWhenBatchFull: true,
        includeMetadata: true,
      } as const;
      await this.#boss.work<unknown, unknown, typeof options>(queue, options, async ([job]) => {
        if (!job) return;
        const isLastTry = job.retryCount >= job.retryLimit;
        try {
          await runOutsideTransaction(() =>
            runJob(app, definition, { id: job.id, data: job.data, signal: job.signal, isLastTry }),
          );
        } catch (error) {
          const level = error instanceof JobPayloadError ? 'error' : 'warn';
          this.#log[level](
            { err: error, queue, jobId: job.id },
            isLastTry ? 'a job failed for the last time' : 'a job failed and is retried',
          );
          throw error;
        }
      });
    }
  }

  /** Stops fetching, waits for running jobs up to `timeoutMs`; unfinished ones run again later. */
  async stop(timeoutMs: number): Promise<void> {
    await this.#boss.stop({ graceful: true, timeout: timeoutMs, close: false });
  }
}
