import { setTimeout as wait } from 'node:timers/promises';
import type { App } from '../../../core/app.ts';
import { addMs } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { claimRun, isRunning, type RunTable, releaseRun, renewRun } from './repo.ts';

/** Another worker took the run over, or it is over: everything after that is no business of this worker. */
export class RunLost extends Error {
  constructor() {
    super('The run was taken over by another worker');
    this.name = 'RunLost';
  }
}

/** The right to work on a run, for as long as it is renewed. */
export class RunHold {
  readonly table: RunTable;
  readonly id: number;
  #lease: Date;

  constructor(table: RunTable, id: number, lease: Date) {
    this.table = table;
    this.id = id;
    this.#lease = lease;
  }

  get lease(): Date {
    return this.#lease;
  }

  /** To be called before each call to the panel. @throws RunLost */
  async renew(app: App): Promise<void> {
    const lease = await renewRun(app.db, this.table, this.id, this.#lease);
    if (lease === null) throw new RunLost();
    this.#lease = lease;
  }

  /**
   * One transaction of the run. It holds the run's row from its beginning, so a worker that was thought dead and wakes up again
   * writes nothing. @throws RunLost
   */
  async write<T>(app: App, work: (t: App) => Promise<T>): Promise<T> {
    const before = this.#lease;
    const { result, lease } = await inTransaction(app, async (t) => {
      const renewed = await renewRun(t.db, this.table, this.id, before);
      if (renewed === null) throw new RunLost();
      return { result: await work(t), lease: renewed };
    });
    this.#lease = lease;
    return result;
  }
}

/** `more`: call again. `done`: the run's row says how it ended. `{pauseMs}`: the panel needs a rest first. */
export type StepResult = 'more' | 'done' | { pauseMs: number };

export interface LongRun {
  readonly table: RunTable;
  readonly id: number;
  /** One batch: calls to the panel, then one transaction through `hold.write`. */
  step(app: App, hold: RunHold): Promise<StepResult>;
  /** Ends the run as failed after errors that nobody expected. */
  giveUp(app: App, hold: RunHold): Promise<void>;
}

export interface DriveLimits {
  /** Reading of the monotonic clock after which no further batch begins. */
  untilMs: number;
  signal?: AbortSignal;
}

/** Unexpected errors in a row after which a run is given up. */
const MAX_UNEXPECTED = 3;
const UNEXPECTED_PAUSE_MS = 500;

/**
 * Works on a run batch by batch until it is done or the time is up; then the queue goes on with it, on whatever instance. What was
 * done stands in the database after each batch, so a killed worker costs one batch at most.
 * @param hold given where the run was started by the caller; else the run is claimed
 * @returns `done`, `left` (the queue goes on), `busy` (another worker has it)
 */
export async function driveRun(app: App, run: LongRun, limits: DriveLimits, hold?: RunHold): Promise<'done' | 'left' | 'busy'> {
  const held = hold ?? (await claim(app, run));
  if (held === null) return (await isRunning(app.db, run.table, run.id)) ? 'busy' : 'done';
  try {
    return await work(app, run, held, limits);
  } catch (error) {
    if (!(error instanceof RunLost)) throw error;
    app.log.warn({ table: run.table, runId: run.id }, 'long run: another worker has taken over');
    return 'busy';
  }
}

async function claim(app: App, run: LongRun): Promise<RunHold | null> {
  const lease = await claimRun(app.db, run.table, run.id);
  return lease === null ? null : new RunHold(run.table, run.id, lease);
}

async function work(app: App, run: LongRun, hold: RunHold, limits: DriveLimits): Promise<'done' | 'left' | 'busy'> {
  let unexpected = 0;
  for (;;) {
    let result: StepResult;
    try {
      result = await run.step(app, hold);
      unexpected = 0;
    } catch (error) {
      if (error instanceof RunLost) throw error;
      unexpected += 1;
      app.log.error({ err: error, table: run.table, runId: run.id }, 'long run: a batch failed');
      if (unexpected >= MAX_UNEXPECTED) {
        await run.giveUp(app, hold);
        return 'done';
      }
      result = { pauseMs: UNEXPECTED_PAUSE_MS };
    }
    if (result === 'done') return 'done';
    const pauseMs = result === 'more' ? 0 : result.pauseMs;
    if (limits.signal?.aborted || performance.now() + pauseMs >= limits.untilMs) {
      await leave(app, hold, pauseMs);
      return 'left';
    }
    if (pauseMs > 0) await wait(pauseMs);
  }
}

/** Gives the run back and calls the queue, in one transaction. */
async function leave(app: App, hold: RunHold, pauseMs: number): Promise<void> {
  await inTransaction(app, async (t) => {
    if (await releaseRun(t.db, hold.table, hold.id, hold.lease)) await sendOn(t, hold, pauseMs);
  });
}

/** Asks the queue to go on with a run; asked twice it comes once. */
export async function sendOn(app: App, run: Pick<LongRun, 'table' | 'id'>, pauseMs = 0): Promise<void> {
  await app.jobs.send(
    'provisioning.continue',
    { table: run.table, runId: run.id },
    {
      singletonKey: `${run.table}:${run.id}`,
      ...(pauseMs > 0 ? { startAfter: addMs(app.clock.now(), pauseMs) } : {}),
    },
  );
}
