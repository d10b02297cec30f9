import { parseArgs } from 'node:util';

export type DatabaseKind = 'postgres' | 'embedded';

export interface BenchOptions {
  quick: boolean;
  /** Names of scenarios or paths; empty = all. */
  only: readonly string[];
  databases: readonly DatabaseKind[];
  /** Interleaved pairs of service and baseline. */
  rounds: number;
  secondsPerRound: number;
  warmUpSeconds: number;
  /** Users of the big lists; ten times as many transactions. 0 = leave the big lists out. */
  scale: number;
  sockets: number;
  /** Database on the server that admin-statistics or history fills once and leaves for the next run; null = one of its own, which is dropped. */
  keep: string | null;
  /** Minutes of the mixed load of memory. */
  minutes: number;
  /** Folder of the build that memory measures, to compare two of them. */
  build: string;
  /** Parts of titles of admin-statistics that are measured; empty = all. */
  match: readonly string[];
  /** Whether a path below its floor makes the exit code 1. */
  check: boolean;
  /** Whether a missed aim makes the exit code 1, as errors and leaks always do. */
  strict: boolean;
  /** Whether the runtime writes a CPU profile of the service beside the results; the results are then slower. */
  profile: boolean;
}

export const HELP = `npm run bench -- [options]
  --quick             short rounds and small data, for CI
  --only A,B          only these: start, paths, hot-account, sign-in-burst, big-lists, stall, sockets, money-growth, two-instances,
                      event-latency, telemetry, interface-words, logging, admin-statistics, history and memory (only when named), or names of paths
  --database KIND     postgres or embedded; both unless given
  --rounds N          pairs of rounds (5; quick 3)
  --seconds N         length of a round (5; quick 1.5)
  --scale N           users of the big lists (100000; quick 10000; 0 = without); ten times as many transactions
  --sockets N         sockets of the fan-out (5000; quick 500)
  --keep NAME         a database for admin-statistics or history that is filled when it does not exist, and not dropped
  --match A,B         of admin-statistics only the requests whose title has one of these
  --minutes N         mixed load of memory (10; quick 2)
  --build FOLDER      what memory measures (dist), to compare two builds
  --strict            a missed aim fails the run
  --check             the paths on PostgreSQL, three rounds of 20 s; one below what was reached before fails the run
  --profile           a CPU profile of the service beside the results (slower)`;

const KINDS: readonly DatabaseKind[] = ['postgres', 'embedded'];

/** @throws Error with a sentence for the terminal */
export function readOptions(args: readonly string[]): BenchOptions | 'help' {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: flag,
      strict: flag,
      check: flag,
      profile: flag,
      help: flag,
      only: { type: 'string', multiple: true },
      database: text,
      rounds: text,
      seconds: text,
      scale: text,
      sockets: text,
      keep: text,
      match: text,
      minutes: text,
      build: text,
    },
  });
  if (values.help) return 'help';
  const quick = values.quick ?? false;
  const check = values.check ?? false;
  const [usualRounds, usualSeconds] = check ? [3, 20] : quick ? [3, 1.5] : [5, 5];
  const database = values.database as DatabaseKind | undefined;
  if (database !== undefined && !KINDS.includes(database)) throw new Error('--database is postgres or embedded');
  if (values.keep !== undefined && !/^[a-z][a-z0-9_]{0,62}$/.test(values.keep)) throw new Error('--keep is a name of a database');
  const only = (values.only ?? []).flatMap((names) => names.split(',')).filter((name) => name !== '');
  return {
    quick,
    check,
    only: check && only.length === 0 ? ['paths'] : only,
    databases: database ? [database] : check ? ['postgres'] : KINDS,
    rounds: numberOf('rounds', values.rounds, usualRounds, 1),
    secondsPerRound: numberOf('seconds', values.seconds, usualSeconds, 0.5),
    warmUpSeconds: quick ? 1 : 4,
    scale: numberOf('scale', values.scale, quick ? 10_000 : 100_000, 0),
    sockets: numberOf('sockets', values.sockets, quick ? 500 : 5_000, 1),
    minutes: numberOf('minutes', values.minutes, quick ? 2 : 10, 1),
    build: values.build ?? 'dist',
    keep: values.keep ?? null,
    match: (values.match ?? '').split(',').filter((part) => part !== ''),
    strict: values.strict ?? false,
    profile: values.profile ?? false,
  };
}

function numberOf(name: string, text: string | undefined, usual: number, min: number): number {
  const value = text === undefined ? usual : Number(text);
  if (!Number.isFinite(value) || value < min) throw new Error(`--${name} is a number from ${min}`);
  return value;
}
