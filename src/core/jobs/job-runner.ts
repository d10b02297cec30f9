import { PgBoss, type QueueResult } from 'pg-boss';
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

function optionsOf(definition: QueueDefinition) {
  return {
    retryLimit: definition.retryLimit,
    retryDelay: definition.retryDelaySeconds,
    retryBackoff: true,
    ...(definition.retryDelayMaxSeconds === undefined ? {} : { retryDelayMax: definition.retryDelayMaxSeconds }),
    expireInSeconds: definition.expireSeconds,
  };
}

/** Runs durable jobs on this instance (pg-boss); installs its tables. */
export class JobRunner {
  readonly #boss: PgBoss;
  readonly #database: Database;
  readonly #log: Logger;

  constructor(database: Database, log: Logger) {
    this.#log = log;
    this.#database = database;
    this.#boss = new PgBoss({ db: database.jobDatabase, schema: JOBS_SCHEMA, superviseIntervalSeconds: 30 });
    this.#boss.on('error', (error) => log.warn({ err: error }, 'job queue'));
  }

  /**
   * Installs tables and queues and brings the options of installed queues to their definitions. Jobs that wait keep the options they
   * were sent with. Needed before anything sends a job.
   */
  async install(queues: Readonly<Record<string, QueueDefinition>> = QUEUES): Promise<void> {
    await runOutsideTransaction(async () => {
      await this.#boss.start();
      const installed = new Map((await this.#boss.getQueues()).map((queue) => [queue.name, queue]));
      for (const [name, definition] of Object.entries(queues)) {
        const queue = installed.get(name);
        if (queue) await this.#update(queue, definition);
        else await this.#boss.createQueue(name, { policy: definition.policy, ...optionsOf(definition) });
      }
    });
  }

  async #update(queue: QueueResult, definition: QueueDefinition): Promise<void> {
    const { retryDelayMax = null, ...options } = optionsOf(definition);
    const wanted = { ...options, retryDelayMax };
    const names = Object.keys(wanted) as (keyof typeof wanted)[];
    if (names.some((name) => (queue[name] ?? null) !== wanted[name])) await this.#boss.updateQueue(queue.name, wanted);
    if (queue.policy === definition.policy) return;
    // pg-boss cannot change a policy, because the partition of a queue has the indexes of one policy only. Queues of this service share
    // one table, which has the indexes of all policies; a job is bound to the policy in its own row.
    if (queue.partition)
      throw new Error(`The policy of the job queue ${queue.name} cannot change: it has a partition of its own`);
    await this.#database.jobDatabase.executeSql(
      `UPDATE ${JOBS_SCHEMA}.queue SET policy = $2, updated_on = now() WHERE name = $1`,
      [queue.name, definition.policy],
    );
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
