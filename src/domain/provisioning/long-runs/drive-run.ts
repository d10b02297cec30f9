import { setTimeout as wait } from 'node:timers/promises';
import type { App } from '../../../core/app.ts';
import { addMs } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { isPanelError } from '../ports.ts';
import { claimRun, isRunning, type RunTable, releaseRun, renewRun } from './repo.ts';

/** Another worker has claimed the run, or the run is over. The worker that gets this error must write nothing more for it. */
export class RunLeaseLost extends Error {
  constructor() {
    super('The run was claimed by another worker');
    this.name = 'RunLeaseLost';
  }
}

/** Age from which a lease is renewed by `keep`; short against the lease itself. */
const KEEP_MS = 5_000;

/** The lease of one worker on a run. Only this worker may work on the run, as long as it renews the lease. */
export class RunLease {
  readonly table: RunTable;
  readonly id: number;
  #until: Date;
  /** Reading of the monotonic clock. */
  #renewedAtMs = performance.now();
  #renewal: Promise<void> | null = null;

  constructor(table: RunTable, id: number, until: Date) {
    this.table = table;
    this.id = id;
    this.#until = until;
  }

  /** End of the lease, by the database's clock. */
  get until(): Date {
    return this.#until;
  }

  /** To be called before each call to the panel. @throws RunLeaseLost */
  async renew(app: App): Promise<void> {
    const until = await renewRun(app.db, this.table, this.id, this.#until);
    if (until === null) throw new RunLeaseLost();
    this.#until = until;
    this.#renewedAtMs = performance.now();
  }

  /** For workers side by side, before each of their calls: one of them renews a lease that is some seconds old. @throws RunLeaseLost */
  async keep(app: App): Promise<void> {
    if (performance.now() - this.#renewedAtMs < KEEP_MS) return;
    this.#renewal ??= this.renew(app).finally(() => {
      this.#renewal = null;
    });
    await this.#renewal;
  }

  /**
   * One transaction of the run. It locks the run's row from its beginning, so a worker that stalled past its lease writes nothing.
   * @throws RunLeaseLost
   */
  async write<T>(app: App, work: (t: App) => Promise<T>): Promise<T> {
    const before = this.#until;
    const { result, until } = await inTransaction(app, async (t) => {
      const renewed = await renewRun(t.db, this.table, this.id, before);
      if (renewed === null) throw new RunLeaseLost();
      return { result: await work(t), until: renewed };
    });
    this.#until = until;
    return result;
  }
}

/** `more`: call again. `done`: the run's row has the result. `{pauseMs}`: call again after a pause. */
export type StepResult = 'more' | 'done' | { pauseMs: number };

export interface LongRun {
  readonly table: RunTable;
  readonly id: number;
  /** One batch: calls to the panel, then one transaction through `lease.write`. */
  step(app: App, lease: RunLease): Promise<StepResult>;
  /** Closes the run as failed after unexpected errors. */
  giveUp(app: App, lease: RunLease): Promise<void>;
}

export interface DriveLimits {
  /** Reading of the monotonic clock after which no further batch begins. */
  untilMs: number;
  signal?: AbortSignal;
}

/** `paused`: the queue continues the run. `busy`: another worker has the lease. */
export type DriveResult = 'done' | 'paused' | 'busy';

/** Unexpected errors in a row after which a run is given up. */
const MAX_UNEXPECTED = 3;
const UNEXPECTED_PAUSE_MS = 500;

/**
 * Works on a run batch by batch until it is done or the time is up; then the queue continues it, on any instance. Each batch is
 * committed, so a killed worker costs one batch at most.
 * @param lease given where the caller started the run; else the run is claimed
 */
export async function driveRun(app: App, run: LongRun, limits: DriveLimits, lease?: RunLease): Promise<DriveResult> {
  const mine = lease ?? (await claim(app, run));
  if (mine === null) return (await isRunning(app.db, run.table, run.id)) ? 'busy' : 'done';
  try {
    return await work(app, run, mine, limits);
  } catch (error) {
    if (!(error instanceof RunLeaseLost)) throw error;
    app.log.warn({ table: run.table, runId: run.id }, 'long run: another worker has claimed it');
    return 'busy';
  }
}

async function claim(app: App, run: LongRun): Promise<RunLease | null> {
  const until = await claimRun(app.db, run.table, run.id);
  return until === null ? null : new RunLease(run.table, run.id, until);
}

async function work(app: App, run: LongRun, lease: RunLease, limits: DriveLimits): Promise<DriveResult> {
  let unexpected = 0;
  for (;;) {
    let result: StepResult;
    try {
      result = await run.step(app, lease);
      unexpected = 0;
    } catch (error) {
      if (error instanceof RunLeaseLost) throw error;
      // Any failure: the run goes on from its stored state; after several in a row it is given up.
      unexpected += 1;
      app.log.error({ err: error, table: run.table, runId: run.id }, 'long run: a batch failed');
      if (unexpected >= MAX_UNEXPECTED) {
        await run.giveUp(app, lease);
        return 'done';
      }
      result = { pauseMs: UNEXPECTED_PAUSE_MS };
    }
    if (result === 'done') return 'done';
    const pauseMs = result === 'more' ? 0 : result.pauseMs;
    if (limits.signal?.aborted || performance.now() + pauseMs >= limits.untilMs) {
      await releaseToQueue(app, lease, pauseMs);
      return 'paused';
    }
    if (pauseMs > 0) await wait(pauseMs);
  }
}

/** Releases the lease and enqueues the continuation, in one transaction. */
async function releaseToQueue(app: App, lease: RunLease, pauseMs: number): Promise<void> {
  await inTransaction(app, async (t) => {
    if (await releaseRun(t.db, lease.table, lease.id, lease.until)) await enqueueContinuation(t, lease, pauseMs);
  });
}

/** Sends the job that continues a run; at most one waits for each run. */
export async function enqueueContinuation(app: App, run: Pick<LongRun, 'table' | 'id'>, pauseMs = 0): Promise<void> {
  await app.jobs.send(
    'provisioning.continue',
    { table: run.table, runId: run.id },
    {
      singletonKey: `${run.table}:${run.id}`,
      ...(pauseMs > 0 ? { startAfter: addMs(app.clock.now(), pauseMs) } : {}),
    },
  );
}

/**
 * Works on the items with at most `VPNPANEL_CONCURRENCY` of them under way at the same time; the next begins as soon as one ends. After
 * an error no further item begins, and it is thrown when those under way have ended.
 * @param lease of the run, kept while the items are worked on; null = the work belongs to no run
 * @throws RunLeaseLost, and what the work throws
 */
export async function inParallel<T>(
  app: App,
  lease: RunLease | null,
  items: Iterable<T>,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items[Symbol.iterator]();
  let failure: { error: unknown } | null = null;
  const worker = async () => {
    try {
      for (let next = queue.next(); !next.done && failure === null; next = queue.next()) {
        await lease?.keep(app);
        await work(next.value);
      }
    } catch (error) {
      // Any failure: it is thrown when all workers have ended.
      failure ??= { error };
    }
  };
  await Promise.all(Array.from({ length: app.env.vpnpanelConcurrency }, worker));
  const failed = failure as { error: unknown } | null;
  if (failed) throw failed.error;
}

const TRIES = 3;
const FIRST_PAUSE_MS = 50;

/**
 * Repeats an idempotent call to the panel up to two times when there was no answer, so that one failed call does not send a whole
 * batch back to the queue. A panel that stays down is left to the caller's longer pauses.
 * @throws PanelError after the last try, or when the panel refused
 */
export async function retryPanelCall<T>(call: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      const isRetryable = isPanelError(error) && error.kind === 'unavailable' && error.status !== 404 && error.status !== 405;
      if (!isRetryable || attempt >= TRIES) throw error;
    }
    await wait(FIRST_PAUSE_MS * 2 ** (attempt - 1));
  }
}
