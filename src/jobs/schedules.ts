import type { App } from '../core/app.ts';
import { SECOND_MS } from '../core/clock.ts';
import { inTransaction } from '../core/db/transaction.ts';
import type { JobDefinition } from '../core/jobs/define-job.ts';
import type { JobTypes } from '../core/jobs/job-sender.ts';
import { readState, writeStateIfChanged } from '../core/service-state.ts';

/**
 * Scheduled jobs. Every instance sends them, but `startRound` lets one instance send each round, and `singletonKey` lets one job wait:
 * the cluster runs it once an interval, however many instances there are.
 */
const TICK_MS = 15 * SECOND_MS;

/** Starts to send the jobs that have a schedule. @returns a function that stops it, and resolves when the last one has been sent */
export function startSchedules(app: App, jobs: readonly JobDefinition[]): () => Promise<void> {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void>;
  const tick = async (): Promise<void> => {
    for (const { name, every } of jobs) {
      if (every === null) continue;
      if (stopped) return;
      try {
        await startRound(app, name, every(app));
      } catch (error) {
        // Any failure: of one queue; the next tick repeats it.
        app.log.warn({ err: error, queue: name }, 'a scheduled job could not be sent');
      }
    }
    if (!stopped) {
      timer = setTimeout(() => {
        running = tick();
      }, TICK_MS);
      timer.unref();
    }
  };
  running = tick();
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await running;
  };
}

/**
 * Sends a scheduled job unless an instance has sent it in this round; the update of one row decides which instance is first. Row and
 * job commit together: a round whose job could not be sent, or whose process died, is tried again.
 */
export async function startRound(app: App, queue: string, intervalMs: number): Promise<void> {
  const round = Math.floor(app.clock.now().getTime() / intervalMs);
  const key = `schedule:${queue}`;
  if ((await readState<number>(app.db, key)) === round) return;
  await inTransaction(app, async (t) => {
    if (await writeStateIfChanged(t.db, key, round))
      await t.jobs.send(queue as keyof JobTypes, {} as never, { singletonKey: queue });
  });
}
