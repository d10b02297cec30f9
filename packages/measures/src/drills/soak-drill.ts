/** Mixed load at a share of what the machine can do, for half an hour: nothing grows, waits or becomes slower (docs/drills.md). */
import { setTimeout as wait } from 'node:timers/promises';
import { Cleanup } from '../bench/cleanup.ts';
import { startGenerator } from '../bench/lab.ts';
import type { LoadResult } from '../bench/load-generator.ts';
import { type Load, openMixedLoad } from '../bench/memory.ts';
import { findDrillServer, type ScratchDatabase } from '../bench/scratch-database.ts';
import { mergeBuckets, percentileMs } from '../bench/statistics.ts';
import { undoAtEnd } from './cleanup.ts';
import type { SingleDrill } from './options.ts';
import { countsText, type DrillReport, textTable } from './report.ts';

type SoakOptions = Omit<Extract<SingleDrill, { drill: 'soak' }>, 'drill'>;

const MINUTE = 60;
const CAPACITY_SECONDS = 30;
/** Memory of the first minutes is that of code and plans that are used for the first time. */
const WARM_MINUTES = 2;
const LOOK_MS = 1_000;
const MAX_GROWTH = 0.1;
const MAX_TRANSACTION_SECONDS = 30;
const MAX_LATER_P99 = 1.2;
/** A job may have to wait for the next round of its queue; what waits for longer, with more after it, is a queue that grows. */
const MAX_WAITING_SECONDS = 30;

interface Minute {
  requests: number;
  p99Ms: number;
  residentMiB: number;
  /** Of the oldest transaction that was open at some second of it. */
  oldestTransactionSeconds: number;
  /** Of the oldest job that was due at its end. */
  oldestWaitingSeconds: number;
}

/** @returns false when there is no server and the drill was left out */
export async function runSoakDrill(
  { minutes, share }: SoakOptions,
  report: DrillReport,
  progress: (text: string) => void,
): Promise<boolean> {
  const serverUrl = await findDrillServer();
  if (serverUrl === null) return false;
  const cleanup = new Cleanup();
  const close = undoAtEnd(() => cleanup.run());
  try {
    const { service, database, plans: planned } = await openMixedLoad(serverUrl, 'dist', cleanup, progress);
    const plans = await planned();
    const generators = plans.map(() => cleanup.add(startGenerator(), (worker) => worker.stop()));
    const send = (loads: readonly Load[], seconds: number): Promise<LoadResult[]> =>
      Promise.all(loads.map((load, index) => generators[index]!.ask({ ...load, url: service.url, seconds })));
    progress(`what the machine can do: ${CAPACITY_SECONDS} s`);
    const most = await send(plans, CAPACITY_SECONDS);
    const steady = plans.map((plan, index) => ({
      ...plan,
      rate: plan.rate ?? Math.max(1, Math.round((most[index]!.requests / CAPACITY_SECONDS) * share)),
    }));
    const failures: LoadResult[] = [];
    const measured: Minute[] = [];
    for (let minute = 1; minute <= minutes; minute += 1) {
      const [results, oldestTransactionSeconds] = await whileWatched(database, send(steady, MINUTE));
      failures.push(...results.filter((result) => result.failures > 0));
      measured.push({
        requests: results.reduce((sum, { requests }) => sum + requests, 0),
        // A sign-in takes a third of a second of processor time by intent, and is a request in thousands.
        p99Ms: percentileMs(mergeBuckets(results.slice(0, -1).map(({ latencies }) => latencies)), 0.99),
        residentMiB: service.memoryMiB() ?? Number.NaN,
        oldestTransactionSeconds,
        oldestWaitingSeconds: await oldestWaiting(database),
      });
      progress(rowOf(measured.at(-1)!, minute).join('  '));
    }
    console.log(
      textTable(
        HEAD,
        measured.map((each, index) => rowOf(each, index + 1)),
      ),
    );
    prove(report, measured, failures);
    return true;
  } finally {
    await close();
  }
}

const HEAD = ['minute', 'requests', 'p99, ms', 'memory, MiB', 'oldest transaction, s', 'oldest that waits, s'];
const rowOf = (minute: Minute, number: number): string[] => [
  String(number),
  String(minute.requests),
  minute.p99Ms.toFixed(1),
  minute.residentMiB.toFixed(0),
  minute.oldestTransactionSeconds.toFixed(1),
  minute.oldestWaitingSeconds.toFixed(1),
];

/** What a run of so many minutes has to show; the first minutes warm up. */
export function prove(
  report: DrillReport,
  minutes: readonly Minute[],
  failures: readonly Pick<LoadResult, 'failures' | 'statuses'>[],
): void {
  const [first, last] = [minutes[Math.min(WARM_MINUTES, minutes.length - 1)]!, minutes.at(-1)!];
  const requests = minutes.reduce((sum, minute) => sum + minute.requests, 0);
  const statuses = failures.map(
    (failed) => `${failed.failures} failures, ${countsText(new Map(Object.entries(failed.statuses)))}`,
  );
  report.add('every request was answered with 2xx', `${requests} requests`, statuses);
  const limited = (name: string, value: number, limit: number, unit: string, text = value.toFixed(1)) =>
    report.addMeasured({ drill: 'soak', name, measured: `${text}${unit}`, wanted: `<= ${limit}${unit}`, isMet: value <= limit });
  const growth = (100 * (last.residentMiB - first.residentMiB)) / first.residentMiB;
  const from = `${first.residentMiB.toFixed(0)} to ${last.residentMiB.toFixed(0)} MiB, ${growth.toFixed(1)}`;
  limited('memory grows by', growth, 100 * MAX_GROWTH, ' %', from);
  limited(
    'oldest open transaction',
    Math.max(...minutes.map((minute) => minute.oldestTransactionSeconds)),
    MAX_TRANSACTION_SECONDS,
    ' s',
  );
  limited(
    'oldest job that was due',
    Math.max(...minutes.map((minute) => minute.oldestWaitingSeconds)),
    MAX_WAITING_SECONDS,
    ' s',
  );
  limited(
    'p99 of the last minute by that of the first',
    last.p99Ms / first.p99Ms,
    MAX_LATER_P99,
    '',
    (last.p99Ms / first.p99Ms).toFixed(2),
  );
}

/** Looks every second for as long as the load runs. @returns its results, and the age of the oldest transaction that was seen open */
async function whileWatched(database: ScratchDatabase, load: Promise<LoadResult[]>): Promise<[LoadResult[], number]> {
  let isOver = false;
  let oldest = 0;
  const watching = database.withSql(async (run) => {
    while (!isOver) {
      const [row] = await run(
        `SELECT coalesce(extract(epoch FROM max(clock_timestamp() - xact_start)), 0)::float8 AS seconds FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`,
      );
      oldest = Math.max(oldest, Number(row!.seconds));
      await wait(LOOK_MS);
    }
  });
  const results = await load.finally(() => {
    isOver = true;
  });
  await watching;
  return [results, oldest];
}

/** Seconds for which the oldest job has been due. */
async function oldestWaiting(database: ScratchDatabase): Promise<number> {
  const [row] = await database.withSql((run) =>
    run(
      `SELECT coalesce(extract(epoch FROM clock_timestamp() - min(start_after)), 0)::float8 AS seconds FROM jobs.job
       WHERE state IN ('created', 'retry') AND start_after <= now()`,
    ),
  );
  return Number(row!.seconds);
}
