/**
 * Money on a long history (08 S7 to S9): writes to many accounts, the same while a partition is made, the ledger check of what is new, what the
 * database's upkeep leaves behind, the memory of the service. The lists are measured on the same data.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openPostgres } from '../../../../src/core/db/open-postgres.ts';
import { createLogger } from '../../../../src/core/log.ts';
import { maintainPartitions } from '../../../../src/domain/ops/partitions.ts';
import type { Lab } from './lab.ts';
import type { LoadResult } from './load-generator.ts';
import { pathNamed } from './paths.ts';
import { percentileMs } from './statistics.ts';
import { asMs, asPercent, describeAim, table, type Verdict, verdictOf, withUnit } from './verdict.ts';

export interface HistoryResult {
  users: number;
  transactions: number;
  entries: number;
  verdicts: Verdict[];
  failures: number;
}

const root = join(import.meta.dirname, '..', '..', '..', '..');
const run = promisify(execFile);
const CONNECTIONS = 16;
const WARM_UP_SECONDS = 5;
/** Accounts that are written to, spread over all. */
const ACCOUNTS = 50_000;
/** A partition so large that the next one is made behind an empty one. */
const NEVER_FULL = 500_000_000;
const ANY = { atLeast: 0 };

export async function measureHistory(
  lab: Lab,
  size: { users: number; transactions: number },
  seconds: number,
  progress: (text: string) => void,
): Promise<HistoryResult> {
  const verdicts: Verdict[] = [];
  let failures = 0;
  const add = (subject: string, value: number, aim: Verdict['aim'], show: (value: number) => string) => {
    verdicts.push(verdictOf(subject, value, aim, show));
    progress(`${subject}: ${show(value)}`);
  };
  const numberOf = (statement: string) =>
    lab.database.withSql(async (ask) => Number(Object.values((await ask(statement))[0] ?? { none: 0 })[0]));
  const ids = await lab.database.withSql((ask) =>
    ask(
      `SELECT id FROM users WHERE status = 'active' AND id % greatest(1, ${Math.floor(size.users / ACCOUNTS)}) = 0 LIMIT ${ACCOUNTS}`,
    ),
  );
  const requests = pathNamed('balance-write').service({ ...lab, userIds: ids.map(({ id }) => Number(id)) });
  const send = (during: number) => lab.load({ url: lab.service.url, connections: CONNECTIONS, seconds: during, requests });
  const write = async (): Promise<LoadResult> => {
    const result = await send(seconds);
    failures += result.failures;
    return result;
  };
  const describe = (title: string, { requests, seconds: took, latencies }: LoadResult, p99Aim: Verdict['aim']) => {
    add(`${title}: a second`, requests / took, ANY, withUnit(0, '/s'));
    add(`${title}: p95`, percentileMs(latencies, 0.95), { atMost: 50 }, asMs);
    add(`${title}: p99`, percentileMs(latencies, 0.99), p99Aim, asMs);
    add(`${title}: longest`, percentileMs(latencies, 1), ANY, asMs);
  };
  const check = async (title: string, aim: Verdict['aim']) => {
    const from = performance.now();
    await run(process.execPath, [join(root, 'dist/cli.js'), 'ledger', 'check', '--json'], {
      env: { PATH: process.env.PATH, ...lab.database.environment },
      cwd: lab.database.environment.DATA_DIR!,
    });
    add(title, (performance.now() - from) / 1_000, aim, withUnit(1, ' s'));
  };

  const entries = await numberOf('SELECT count(*) FROM ledger_entries');
  add(
    'size of the database',
    (await numberOf('SELECT pg_database_size(current_database())')) / 1024 ** 3,
    ANY,
    withUnit(1, ' GiB'),
  );
  await check('ledger check, everything new', ANY);
  await send(WARM_UP_SECONDS);
  const before = lab.service.memoryMiB();
  describe('balance writes', await write(), ANY);
  await check('ledger check of what was written', { atMost: 15 });
  const makePartition = async (title: string, ids: number | undefined) => {
    const database = await openPostgres({
      url: lab.database.url!,
      poolSize: 2,
      statementTimeoutMs: 60_000,
      migrationsFolder: join(root, 'prisma', 'migrations'),
      log: createLogger({ level: 'silent', format: 'json' }),
    });
    try {
      const writing = write();
      const from = performance.now();
      const done = await maintainPartitions(database, ids);
      const took = (performance.now() - from) / 1_000;
      const written = await writing;
      progress(`${title}: ${done?.made.join(', ') || 'none was needed'}`);
      if (done === null || done.made.length === 0) return;
      add(`${title}: takes`, took, ANY, withUnit(1, ' s'));
      // A statement waits for one try at most, and for the change itself.
      describe(title, written, { atMost: 150 });
    } finally {
      await database.close();
    }
  };
  await makePartition('writes while a partition is made behind one that has rows', undefined);
  await makePartition('writes while partitions are made behind empty ones', NEVER_FULL);
  describe('balance writes afterwards', await write(), ANY);
  const after = lab.service.memoryMiB();
  if (before !== null && after !== null)
    add('memory of the service by the writes', after / before - 1, { atMost: 0.1 }, asPercent);
  add(
    'dead rows of users after the writes',
    await numberOf("SELECT n_dead_tup::float8 / greatest(1, n_live_tup) FROM pg_stat_user_tables WHERE relname = 'users'"),
    { atMost: 0.25 },
    asPercent,
  );
  return { ...size, entries, verdicts, failures };
}

export function historyTable({ users, transactions, entries, verdicts }: HistoryResult): string {
  const title = `${users} users, ${transactions} transactions, ${entries} entries`;
  const aimOf = ({ aim }: Verdict) => (aim === ANY ? '' : describeAim(aim));
  return table(
    [title, 'Measured', 'Aim'],
    verdicts.map((one) => [one.subject, one.text, aimOf(one)]),
  );
}

export const historyVerdicts = ({ verdicts }: HistoryResult): Verdict[] => verdicts.filter(({ aim }) => aim !== ANY);
