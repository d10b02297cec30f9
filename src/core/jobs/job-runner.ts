import { setTimeout as delay } from 'node:timers/promises';
import { type JobWithMetadata, PgBoss, type QueueResult } from 'pg-boss';
import type { App } from '../app.ts';
import { SECOND_MS } from '../clock.ts';
import type { Database } from '../db/database.ts';
import { runOutsideTransaction } from '../db/root-guard.ts';
import type { Logger } from '../log.ts';
import type { ServiceGate } from '../service-gate.ts';
import { NO_TRACING, splitTrace, type Tracing } from '../telemetry/tracing.ts';
import { type JobDefinition, JobPayloadError, type QueuePolicy, runJob } from './define-job.ts';

export interface LeaseTimes {
  /** Between two beats. */
  beatMs: number;
  /** Without a beat for as long, a job is no longer this instance's. */
  leaseMs: number;
  /** For as long an instance must have reached the database before it releases anything: by then every live instance has beaten again. */
  settleMs: number;
}

/** A lease that ended is noticed by the next beat, so that with a beat and a poll what a killed process had in hand runs again within 18 s. */
export const LEASE_TIMES: LeaseTimes = { beatMs: 2_000, leaseMs: 15_000, settleMs: 10_000 };

/** What instances of releases without leases call their connection beside the pool. Their jobs do not beat, so nothing is released beside them. */
const FORMER_NAME = 'subscription-service-side';

const KEEP = `UPDATE jobs.job SET heartbeat_on = now() FROM unnest($1::text[], $2::uuid[]) AS mine(name, id)
  WHERE job.name = mine.name AND job.id = mine.id AND job.state = 'active' RETURNING job.id`;

/**
 * The new id is what makes it safe: whatever the former worker still does, it completes, fails and keeps a job that is not there any more.
 * A job that ended several processes is not run for ever: one run more than its retries is the limit.
 */
const RELEASE = `UPDATE jobs.job SET id = gen_random_uuid(), start_after = now(), heartbeat_on = NULL,
    state = (CASE WHEN retry_count <= retry_limit THEN 'retry' ELSE 'failed' END)::jobs.job_state,
    completed_on = CASE WHEN retry_count <= retry_limit THEN NULL ELSE now() END,
    output = '{"value": {"message": "the instance that ran it is gone"}}'
  WHERE state = 'active' AND heartbeat_on < now() - $1::int * interval '1 millisecond'
    AND NOT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND application_name = '${FORMER_NAME}')
  RETURNING name, state::text AS state`;

interface RunningJob {
  name: string;
  controller: AbortController;
}

/**
 * The jobs that this instance runs, and those of instances that are gone (spec 10 M6 and F6). Each running job has a lease by the clock of the
 * database, which its instance renews every two seconds over the connection beside the pool, so that a full pool ends none. A job whose
 * lease ended is released by any instance and starts again, on whatever queue it is. An instance that could not renew its leases for as long
 * aborts its jobs by itself.
 */
export class JobLeases {
  readonly #sql: Database['side']['sql'];
  readonly #log: Logger;
  readonly #times: LeaseTimes;
  readonly #running = new Map<string, RunningJob>();
  #timer: NodeJS.Timeout | null = null;
  #isStopped = false;
  #keptAt = performance.now();
  /** Since when every beat succeeded; null after one that failed. */
  #reachedSince: number | null = null;

  constructor(sql: Database['side']['sql'], log: Logger, times: LeaseTimes = LEASE_TIMES) {
    this.#sql = sql;
    this.#log = log;
    this.#times = times;
  }

  /** A job was taken. @returns aborted when it is no longer this instance's */
  begin(id: string, name: string): AbortSignal {
    const controller = new AbortController();
    this.#running.set(id, { name, controller });
    return controller.signal;
  }

  end(id: string): void {
    this.#running.delete(id);
  }

  /** Begins with a beat at once: a process that was started again alone releases what its predecessor had in hand (spec 10 M6: at most 20 s). */
  start(): void {
    const round = (): void => {
      void runOutsideTransaction(() => this.beat()).then(() => {
        if (this.#isStopped) return;
        this.#timer = setTimeout(round, this.#times.beatMs);
        this.#timer.unref();
      });
    };
    round();
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#timer) clearTimeout(this.#timer);
  }

  /** One round; never rejects. */
  async beat(): Promise<void> {
    try {
      await this.#keep();
      const now = performance.now();
      this.#reachedSince ??= now;
      if (now - this.#reachedSince >= this.#times.settleMs) await this.#release();
    } catch (error) {
      this.#reachedSince = null;
      if (performance.now() - this.#keptAt < this.#times.leaseMs) return;
      if (this.#running.size > 0) this.#log.warn({ err: error, jobs: this.#running.size }, 'the leases of running jobs ended');
      for (const { controller } of this.#running.values())
        controller.abort(new Error('the lease of the job could not be renewed'));
    }
  }

  async #keep(): Promise<void> {
    const jobs = [...this.#running];
    const kept = new Set<string>();
    if (jobs.length > 0) {
      const rows = await this.#sql<{ id: string }>(KEEP, [jobs.map(([, { name }]) => name), jobs.map(([id]) => id)]);
      for (const { id } of rows) kept.add(id);
    } else await this.#sql('SELECT 1 AS one');
    this.#keptAt = performance.now();
    for (const [id, job] of jobs) {
      // It ended meanwhile, or another worker has it.
      if (kept.has(id) || this.#running.get(id) !== job) continue;
      job.controller.abort(new Error('the lease of the job has ended'));
    }
  }

  async #release(): Promise<void> {
    const released = await this.#sql<{ name: string; state: string }>(RELEASE, [this.#times.leaseMs]);
    if (released.length === 0) return;
    const jobs = released.map(({ name, state }) => `${name} ${state}`);
    this.#log.warn({ jobs }, 'jobs of an instance that is gone were released');
  }
}

/** Schema of the job tables in the database. */
const JOBS_SCHEMA = 'jobs';
/** How often an instance looks for jobs that nobody announced: of other instances, and sent by SQL functions. */
const POLL_SECONDS = 0.5;
/**
 * One statement asks for all queues, and only workers that have something to do are woken. By itself each worker of pg-boss would ask:
 * two hundred statements a second on an idle instance, which are a tenth of a processor and 10 MB/s of garbage.
 */
const DUE = `SELECT q.name, due.jobs FROM unnest($1::text[], $2::int[]) AS q (name, idle) CROSS JOIN LATERAL
    (SELECT count(*)::int AS jobs FROM (SELECT FROM ${JOBS_SCHEMA}.job j WHERE j.name = q.name AND j.state < 'active' AND NOT j.blocked
      AND j.start_after < now() LIMIT q.idle) AS jobs) AS due
  WHERE due.jobs > 0`;
/** The longest interval at which a worker asks without being woken. */
const UNWOKEN_POLL_SECONDS = 60;
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
  #timer: NodeJS.Timeout | null = null;
  /** The poll under way, or the last one. */
  #polling: Promise<void> = Promise.resolve();
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

  /** The database is asked twice a second: during an outage one line in a while is enough. */
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
    this.#poll();
  }

  #poll(): void {
    this.#polling = runOutsideTransaction(() => this.#wakeForDueJobs()).then(() => {
      if (!this.#isStopping) this.#timer = setTimeout(() => this.#poll(), this.#pollSeconds * SECOND_MS).unref();
    });
  }

  /** As many idle workers of each queue as it has jobs that are due; never rejects. */
  async #wakeForDueJobs(): Promise<void> {
    const idle = [...this.#workers].map(
      ([name, workers]) => [name, workers.filter((worker) => !this.#busy.has(worker))] as const,
    );
    try {
      const counts = [idle.map(([name]) => name), idle.map(([, workers]) => workers.length)];
      const rows = await this.#database.db.sql<{ name: string; jobs: number }>(DUE, counts);
      const due = new Map(rows.map(({ name, jobs }) => [name, jobs]));
      for (const [name, workers] of idle)
        for (const worker of workers.slice(0, due.get(name) ?? 0)) this.#boss.notifyWorker(worker);
    } catch (error) {
      // Any failure: the next poll asks again.
      this.#report(error);
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
    const options = { pollingIntervalSeconds: UNWOKEN_POLL_SECONDS, batchSize: 1, includeMetadata: true } as const;
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

  /** A restore replaces the jobs with the rows that they name. */
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
    if (this.#timer) clearTimeout(this.#timer);
    // The caller closes the database next.
    await Promise.race([this.#polling, delay(timeoutMs, undefined, { ref: false })]);
    await this.#boss.stop({ graceful: true, timeout: timeoutMs, close: false });
    this.#leases.stop();
  }
}
