import type { Database } from '../db/database.ts';
import { runOutsideTransaction } from '../db/root-guard.ts';
import type { Logger } from '../log.ts';

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
