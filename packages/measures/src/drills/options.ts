import { parseArgs } from 'node:util';

export type DrillOptions =
  | { drill: 'failover'; stand: string; folder: string | null; seed: number; writes: number; pauseSeconds: number }
  | { drill: 'events'; count: number; seed: number }
  | { drill: 'silence'; writes: number; silentSeconds: number; seed: number }
  | { drill: 'restart'; requests: number; writes: number; seed: number }
  | { drill: 'money'; days: number; daySeconds: number; seed: number };

export const HELP = `npm run drill -- NAME [options]
  failover --stand SCRIPT   a replicated PostgreSQL loses its primary in four ways while two instances move money
    --folder F              folder of the stand (a temporary one, removed at the end)
    --writes N              acknowledged writes before and after each fault (300)
    --pause N               seconds for which the primary is stopped (15)
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
      count: text,
      requests: text,
      writes: text,
      silent: text,
      days: text,
      'day-seconds': text,
    },
  });
  if (values.help) return 'help';
  const seed = wholeNumber('seed', values.seed, Math.floor(Math.random() * 2 ** 31), 0);
  switch (positionals[0]) {
    case 'failover':
      if (values.stand === undefined) throw new Error('failover needs --stand SCRIPT');
      return {
        drill: 'failover',
        stand: values.stand,
        folder: values.folder ?? null,
        seed,
        writes: wholeNumber('writes', values.writes, 300, 10),
        pauseSeconds: wholeNumber('pause', values.pause, 15, 1),
      };
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
    default:
      throw new Error('the drill is failover, events, silence, restart or money');
  }
}

function wholeNumber(name: string, text: string | undefined, usual: number, min: number): number {
  const value = text === undefined ? usual : Number(text);
  if (!Number.isSafeInteger(value) || value < min) throw new Error(`--${name} is a whole number from ${min}`);
  return value;
}
