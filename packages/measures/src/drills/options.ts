import { parseArgs } from 'node:util';
import { KILL_OPERATIONS, type KillOperation } from './kill-points/operation-names.ts';
import { PROJECT_STAND } from './stand.ts';

export const FAILOVER_FAULTS = ['kill-primary', 'kill-node', 'switchover', 'pause-primary', 'kill-hammer'] as const;
/** On a cluster whose replication is asynchronous, where acknowledged writes are lost. */
export const LOSING_FAULT = 'lose-primary';
export type FailoverFault = (typeof FAILOVER_FAULTS)[number] | typeof LOSING_FAULT;

/** What a drill on a replicated PostgreSQL needs. */
interface StandOptions {
  /** The script that runs it. */
  stand: string;
  /** Null = a temporary one. */
  folder: string | null;
  seed: number;
  /** Acknowledged before and after each fault. */
  writes: number;
  pauseSeconds: number;
}

export type DrillOptions = SingleDrill | { drill: 'all'; drills: readonly SingleDrill[]; seed: number };

export type SingleDrill =
  | (StandOptions & { drill: 'failover'; faults: readonly FailoverFault[]; isPooled: boolean; payments: number })
  | (StandOptions & { drill: 'scale'; requests: number })
  | { drill: 'events'; count: number; seed: number }
  | { drill: 'silence'; writes: number; silentSeconds: number; seed: number }
  | { drill: 'restart'; requests: number; writes: number; seed: number }
  | { drill: 'money'; days: number; daySeconds: number; seed: number }
  /** `share` of what the machine can do, 0 to 1. */
  | { drill: 'soak'; minutes: number; share: number; seed: number }
  /** `points`: of each operation, by the seed; null = all. */
  | { drill: 'kill-points'; operations: readonly KillOperation[]; points: number | null; lanes: number; seed: number };

/** Each fault once: the failover and the rolling restart are parts of `scale`. */
const ALL_DRILLS = ['scale', 'silence', 'events', 'money', 'kill-points', 'soak'] as const;

export const HELP = `npm run drill -- NAME [options]
  all                       ${ALL_DRILLS.join(', ')}, one after another, and one table of what was measured and wanted (npm run drills)
                            with the options of each
  failover                  a replicated PostgreSQL loses its primary in several ways while two instances move money
    --faults A,B            ${FAILOVER_FAULTS.join(', ')} (all), or ${LOSING_FAULT} by itself:
                            replication is asynchronous, and what was acknowledged in the last seconds is lost
    --pooled                the instances reach it through the pooler
    --stand SCRIPT          runs it (scripts/scale/stand.sh)
    --folder F              folder of the stand (a temporary one, removed at the end)
    --writes N              acknowledged writes before and after each fault (300)
    --payments N            whose callbacks are sent (1000)
    --pause N               seconds for which the primary is stopped, or its replicas receive nothing (15)
  scale                     failover, the same through the pooler, restart: all on one replicated PostgreSQL; one table of measurements
    --stand, --folder, --writes, --pause, --requests   as above and below
  events                    readers and writers of events are killed at random
    --count N               events (100000)
  silence                   answers of the database are lost, an instance is killed, the clock of one is a day ahead
    --writes N              acknowledged writes before and after each fault (300)
    --silent N              seconds for which answers are lost (30)
  restart                   both instances behind HAProxy are restarted one after the other
    --requests N            requests, at least (2000)
    --writes N              acknowledged writes before and after each restart (300)
  money                     all providers, refunds, gifts, payouts, receipts and renewals while instances are killed
    --days N                days of service time (8)
    --day-seconds N         seconds of load on each day (20)
  kill-points               the process ends at each statement, request and renamed file of an operation, which is then repeated
    --operations A,B        ${KILL_OPERATIONS.join(', ')} (all)
    --points N              so many of each, by the seed (all)
    --lanes N               processes beside each other, each with a database (2)
  soak                      mixed load for half an hour: memory, open transactions, queues and p99 stay as they are
    --minutes N             of load (30)
    --share N               percent of what the machine can do (60)
  --seed N                  of the random choices (printed; a new one unless given)`;

/** @throws Error with a sentence for the terminal */
export function readOptions(args: readonly string[]): DrillOptions | 'help' {
  const text = { type: 'string' } as const;
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      help: { type: 'boolean' },
      stand: text,
      folder: text,
      seed: text,
      pause: text,
      faults: text,
      pooled: { type: 'boolean' },
      payments: text,
      count: text,
      requests: text,
      writes: text,
      silent: text,
      days: text,
      'day-seconds': text,
      operations: text,
      points: text,
      lanes: text,
      minutes: text,
      share: text,
    },
  });
  if (values.help) return 'help';
  const seed = wholeNumber('seed', values.seed, Math.floor(Math.random() * 2 ** 31), 0);
  const standOptions = (): StandOptions => ({
    stand: values.stand ?? PROJECT_STAND,
    folder: values.folder ?? null,
    seed,
    writes: wholeNumber('writes', values.writes, 300, 10),
    pauseSeconds: wholeNumber('pause', values.pause, 15, 1),
  });
  switch (positionals[0]) {
    case 'all': {
      const options = [...args.filter((word) => word !== 'all'), `--seed=${seed}`];
      return { drill: 'all', seed, drills: ALL_DRILLS.map((name) => readOptions([name, ...options]) as SingleDrill) };
    }
    case 'failover':
      return {
        drill: 'failover',
        ...standOptions(),
        faults: values.faults === LOSING_FAULT ? [LOSING_FAULT] : someOf<FailoverFault>('faults', FAILOVER_FAULTS, values.faults),
        isPooled: values.pooled ?? false,
        payments: wholeNumber('payments', values.payments, 1_000, 1),
      };
    case 'scale':
      return { drill: 'scale', ...standOptions(), requests: wholeNumber('requests', values.requests, 2_000, 10) };
    case 'events':
      return { drill: 'events', seed, count: wholeNumber('count', values.count, 100_000, 100) };
    case 'silence':
      return {
        drill: 'silence',
        seed,
        writes: wholeNumber('writes', values.writes, 300, 10),
        silentSeconds: wholeNumber('silent', values.silent, 30, 1),
      };
    case 'restart':
      return {
        drill: 'restart',
        seed,
        requests: wholeNumber('requests', values.requests, 2_000, 10),
        writes: wholeNumber('writes', values.writes, 300, 10),
      };
    case 'money':
      return {
        drill: 'money',
        seed,
        days: wholeNumber('days', values.days, 8, 1),
        daySeconds: wholeNumber('day-seconds', values['day-seconds'], 20, 1),
      };
    case 'kill-points':
      return {
        drill: 'kill-points',
        seed,
        operations: someOf('operations', KILL_OPERATIONS, values.operations),
        points: values.points === undefined ? null : wholeNumber('points', values.points, 1, 1),
        lanes: wholeNumber('lanes', values.lanes, 2, 1),
      };
    case 'soak': {
      const share = wholeNumber('share', values.share, 60, 1) / 100;
      return { drill: 'soak', seed, minutes: wholeNumber('minutes', values.minutes, 30, 1), share };
    }
    default:
      throw new Error('the drill is all, failover, scale, events, silence, restart, money, kill-points or soak');
  }
}

/** @returns all of them when none are named */
function someOf<Name extends string>(option: string, all: readonly Name[], text: string | undefined): readonly Name[] {
  if (text === undefined) return all;
  return text.split(',').map((name) => {
    const found = all.find((known) => known === name);
    if (found === undefined) throw new Error(`--${option} are of ${all.join(', ')}`);
    return found;
  });
}

function wholeNumber(name: string, text: string | undefined, usual: number, min: number): number {
  const value = text === undefined ? usual : Number(text);
  if (!Number.isSafeInteger(value) || value < min) throw new Error(`--${name} is a whole number from ${min}`);
  return value;
}
