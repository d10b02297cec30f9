import { PgBoss } from 'pg-boss';
import type { Database } from '../db/database.ts';
import { runOutsideTransaction } from '../db/root-guard.ts';
import type { Logger } from '../log.ts';
import { QUEUES, type QueueDefinition, type QueueName } from './job-catalogue.ts';
import type { JobTypes } from './job-sender.ts';

/** Schema of the job tables in the database. */
const JOBS_SCHEMA = 'jobs';
const POLL_SECONDS = 0.5;

export interface RunningJob<Data> {
  id: string;
  data: Data;
  /** Set when the process is asked to stop or the job ran out of time. */
  signal: AbortSignal;
  /** The queue will not try again: what must not be lost is to be left to somebody else now. Left out: it will. */
  isLastTry?: boolean;
}

export type JobHandlers = { [K in keyof JobTypes]?: (job: RunningJob<JobTypes[K]>) => Promise<void> };

/** A queue filled by the clock: one job an interval for the whole cluster, however many instances run. */
export interface Schedule {
  queue: QueueName;
  /** Read before each round, so that a changed setting counts. */
  intervalMs: () => number;
}

/** Runs durable jobs on this instance (pg-boss); installs its tables. */
export class JobRunner {
  readonly #boss: PgBoss;
  readonly #log: Logger;

  constructor(database: Database, log: Logger) {
    this.#log = log;
    this.#boss = new PgBoss({ db: database.jobDatabase, schema: JOBS_SCHEMA, superviseIntervalSeconds: 30 });
    this.#boss.on('error', (error) => log.warn({ err: error }, 'job queue'));
  }

  /** Installs tables and queues. Needed before anything sends a job. */
  async install(): Promise<void> {
    await runOutsideTransaction(async () => {
      await this.#boss.start();
      const known = new Set((await this.#boss.getQueues()).map((queue) => queue.name));
      for (const [name, definition] of Object.entries(QUEUES) as [string, QueueDefinition][]) {
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

  async work(handlers: JobHandlers): Promise<void> {
    for (const [name, handler] of Object.entries(handlers)) {
      const queue = name as QueueName;
      const { concurrency } = QUEUES[queue];
      const options = {
        pollingIntervalSeconds: POLL_SECONDS,
        localConcurrency: concurrency,
        batchSize: 1,
        burstWhenBatchFull: true,
        includeMetadata: true,
      } as const;
      await this.#boss.work<object, unknown, typeof options>(queue, options, async ([job]) => {
        if (!job) return;
        const run = handler as (job: RunningJob<object>) => Promise<void>;
        const isLastTry = job.retryCount >= job.retryLimit;
        try {
          await runOutsideTransaction(() => run({ id: job.id, data: job.data, signal: job.signal, isLastTry }));
        } catch (error) {
          this.#log.warn({ err: error, queue, jobId: job.id }, 'a job failed; it is tried again as its queue says');
          throw error;
        }
      });
    }
  }

  /** Stops fetching, waits for running jobs up to `timeoutMs`; unfinished ones are handed out again later. */
  async stop(timeoutMs: number): Promise<void> {
    await this.#boss.stop({ graceful: true, timeout: timeoutMs, close: false });
  }
}
