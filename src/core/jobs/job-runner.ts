import { type JobWithMetadata, PgBoss, type QueueResult } from 'pg-boss';
import type { App } from '../app.ts';
import type { Database } from '../db/database.ts';
import { runOutsideTransaction } from '../db/root-guard.ts';
import type { Logger } from '../log.ts';
import type { ServiceGate } from '../service-gate.ts';
import { NO_TRACING, splitTrace, type Tracing } from '../telemetry/tracing.ts';
import { type JobDefinition, JobPayloadError, type QueuePolicy, runJob } from './define-job.ts';
import { JobLeases, type LeaseTimes } from './job-leases.ts';

/** Schema of the job tables in the database. */
const JOBS_SCHEMA = 'jobs';
/** How often an idle worker looks for jobs that nobody announced: of other instances, and sent by SQL functions. */
const POLL_SECONDS = 0.5;
/** After a job a worker looks for the next one; the pause bounds what background work takes from requests. */
const NEXT_JOB_MS = 100;
/** A queue is announced to an idle worker at most this often; that worker then goes on by itself. */
const WAKE_MS = 100;
const REPORT_PAUSE_MS = 10_000;
/** The jobs that run, of all that are stored: each instance looks through them every two seconds. Taken under a lock of its own, as instances may start together. */
const INDEX_RUNNING = `BEGIN; SELECT pg_advisory_xact_lock(727110005);
  CREATE INDEX IF NOT EXISTS service_running ON ${JOBS_SCHEMA}.job_common (heartbeat_on) WHERE state = 'active'; COMMIT;`;
const OPEN_GATE = { isClosed: false, opened: async () => undefined };

export type LastFailureObserver = (queue: string, error: unknown, jobId: string) => Promise<void>;

export interface JobRunnerOptions {
  /** Default: none. */
  tracing?: Tracing;
  /** Gets each job that is not tried again, unless the process stops; it must not reject. */
  onLastFailure?: LastFailureObserver;
  /** For tests. */
  leaseTimes?: LeaseTimes;
  /** For tests. */
  pollSeconds?: number;
}

function optionsOf(definition: QueuePolicy) {
  return {
    retryLimit: definition.retryLimit,
    retryDelay: definition.retryDelaySeconds,
    retryBackoff: true,
    ...(definition.retryDelayMaxSeconds === undefined ? {} : { retryDelayMax: definition.retryDelayMaxSeconds }),
    expireInSeconds: definition.expireSeconds,
  };
}

/** Runs durable jobs on this instance (pg-boss); installs its tables and the queues of the given jobs. */
export class JobRunner {
  readonly #boss: PgBoss;
  readonly #database: Database;
  readonly #log: Logger;
  readonly #jobs: readonly JobDefinition[];
  readonly #tracing: Tracing;
  /** Ids of the workers of each queue; those that run a job. */
  readonly #workers = new Map<string, string[]>();
  readonly #busy = new Set<string>();
  readonly #wokenAt = new Map<string, number>();
  readonly #onLastFailure: LastFailureObserver;
  readonly #leases: JobLeases;
  readonly #pollSeconds: number;
  #reportedAt = Number.NEGATIVE_INFINITY;
  #unreported = 0;
  #isStopping = false;

  constructor(database: Database, log: Logger, jobs: readonly JobDefinition[], options: JobRunnerOptions = {}) {
    this.#tracing = options.tracing ?? NO_TRACING;
    this.#onLastFailure = options.onLastFailure ?? (async () => undefined);
    this.#log = log;
    this.#jobs = jobs;
    this.#database = database;
    this.#pollSeconds = options.pollSeconds ?? POLL_SECONDS;
    this.#leases = new JobLeases(database.side.sql, log, options.leaseTimes);
    this.#boss = new PgBoss({ db: database.jobDatabase, schema: JOBS_SCHEMA, superviseIntervalSeconds: 30 });
    this.#boss.on('error', (error) => this.#report(error));
  }

  /** Every queue asks the database twice a second: during an outage one line in a while is enough. */
  #report(error: unknown): void {
    const now = performance.now();
    this.#unreported += 1;
    if (now - this.#reportedAt < REPORT_PAUSE_MS) return;
    this.#log.warn({ err: error, errors: this.#unreported }, 'job queue');
    this.#reportedAt = now;
    this.#unreported = 0;
  }

  /**
   * Installs tables and queues and brings the options of installed queues to their definitions. Jobs that wait keep the options they
   * were sent with. Needed before anything sends a job.
   */
  async install(): Promise<void> {
    await runOutsideTransaction(async () => {
      await this.#boss.start();
      const installed = new Map((await this.#boss.getQueues()).map((queue) => [queue.name, queue]));
      for (const { name, queue: definition } of this.#jobs) {
        const queue = installed.get(name);
        if (queue) await this.#update(queue, definition);
        else await this.#boss.createQueue(name, { policy: definition.policy, ...optionsOf(definition) });
      }
      await this.#database.jobDatabase.executeSql(INDEX_RUNNING);
    });
  }

  async #update(queue: QueueResult, definition: QueuePolicy): Promise<void> {
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

  /** Starts to run jobs of every given definition. @param gate a job that was taken while it is closed waits until it opens, and is left when it is no longer stored */
  async work(app: App, gate: Pick<ServiceGate, 'isClosed' | 'opened'> = OPEN_GATE): Promise<void> {
    this.#leases.start();
    for (const definition of this.#jobs) {
      const workers: string[] = [];
      this.#workers.set(definition.name, workers);
      while (workers.length < definition.queue.concurrency) workers.push(await this.#startWorker(app, definition, gate));
    }
  }

  /** A job of this queue was committed: an idle worker looks for it now. */
  wake(queue: string): void {
    const now = performance.now();
    if (this.#isBusy() || now - (this.#wokenAt.get(queue) ?? Number.NEGATIVE_INFINITY) < WAKE_MS) return;
    this.#wokenAt.set(queue, now);
    const idle = this.#workers.get(queue)?.find((worker) => !this.#busy.has(worker));
    if (idle !== undefined) this.#boss.notifyWorker(idle);
  }

  /** While half of the connections are in use, jobs do not compete with requests: each worker then takes one job at each poll. */
  #isBusy(): boolean {
    const { size, inUse, waiting } = this.#database.poolCounters();
    return waiting > 0 || inUse * 2 > size;
  }

  async #startWorker(app: App, definition: JobDefinition, gate: Pick<ServiceGate, 'isClosed' | 'opened'>): Promise<string> {
    const options = { pollingIntervalSeconds: this.#pollSeconds, batchSize: 1, includeMetadata: true } as const;
    const worker: string = await this.#boss.work<unknown, unknown, typeof options>(definition.name, options, async ([job]) => {
      if (!job) return;
      this.#busy.add(worker);
      const lease = this.#leases.begin(job.id, job.name);
      try {
        if (gate.isClosed) {
          await gate.opened();
          if (!(await this.#isStored(job))) return;
        }
        await this.#run(app, definition, job, AbortSignal.any([job.signal, lease]));
      } finally {
        this.#leases.end(job.id);
        this.#busy.delete(worker);
        // Only a full batch of several jobs makes pg-boss look for more; it would wait for the next poll here.
        setTimeout(() => {
          if (!this.#isBusy()) this.#boss.notifyWorker(worker);
        }, NEXT_JOB_MS).unref();
      }
    });
    return worker;
  }

  /** A restore replaces the jobs with the rows that they name (spec 06 section 7). */
  async #isStored({ name, id }: Pick<JobWithMetadata, 'name' | 'id'>): Promise<boolean> {
    const { rows } = await this.#database.jobDatabase.executeSql(
      `SELECT 1 AS found FROM ${JOBS_SCHEMA}.job WHERE name = $1 AND id = $2 AND state = 'active'`,
      [name, id],
    );
    return rows.length > 0;
  }

  async #run(app: App, definition: JobDefinition, job: JobWithMetadata<unknown>, signal: AbortSignal): Promise<void> {
    const isLastTry = job.retryCount >= job.retryLimit;
    try {
      const { payload, traceparent } = splitTrace(job.data);
      const attributes = { 'messaging.destination.name': definition.name };
      await runOutsideTransaction(() =>
        this.#tracing.inJob(`job ${definition.name}`, attributes, traceparent, () =>
          runJob(app, definition, { id: job.id, data: payload, signal, isLastTry }),
        ),
      );
    } catch (error) {
      const level = error instanceof JobPayloadError ? 'error' : 'warn';
      this.#log[level](
        { err: error, queue: definition.name, jobId: job.id },
        isLastTry ? 'a job failed for the last time' : 'a job failed and is retried',
      );
      if (isLastTry && !this.#isStopping) await this.#onLastFailure(definition.name, error, job.id);
      throw error;
    }
  }

  /** How many jobs this instance runs now. */
  runningJobs(): number {
    return this.#busy.size;
  }

  /** Stops fetching, waits for running jobs up to `timeoutMs`; unfinished ones run again later. */
  async stop(timeoutMs: number): Promise<void> {
    this.#isStopping = true;
    await this.#boss.stop({ graceful: true, timeout: timeoutMs, close: false });
    this.#leases.stop();
  }
}
