import { LONG_ANSWER_MS, serverClient } from '../../core/db/answer-limit.ts';
import type { Database } from '../../core/db/database.ts';
import { isForeignKeyViolation } from '../../core/db/db-errors.ts';
import { CommandError } from '../command.ts';
import { copyTable } from './copy-table.ts';
import { findJobTable, listTables, PRINT_ALIKE, type Query, readContents, SERVICE_JOBS, type Table } from './table-facts.ts';
import { closeTables, copyQueues, copySequences, lockTables, openTables, requireEmpty } from './target-tables.ts';

/** The lock of migrations, so that no service can start on the target meanwhile. */
const MIGRATION_LOCK = 727_110_001;
const LOCK_WAIT = '10s';

export interface MovedTable {
  name: string;
  rows: number;
}

export interface MoveOptions {
  source: Database;
  targetUrl: string;
  /** Rows that the migrations inserted into the target, by table. */
  seeded: ReadonlyMap<string, number>;
  progress: (text: string) => void;
}

/**
 * Copies everything from the embedded database to a migrated server, in one transaction of the target: after a failure it is as
 * empty as before. Compares counts and contents of every table and checks the ledger before it commits.
 * @throws CommandError
 */
export async function moveData({ source: database, targetUrl, seeded, progress }: MoveOptions): Promise<MovedTable[]> {
  const source: Query = (text, values) => database.db.sql(text, values);
  for (const statement of PRINT_ALIKE) await source(statement);
  await requireCleanLedger(source, 'embedded database');

  const client = serverClient({ url: targetUrl, name: 'db move', connectMs: 5_000, answerMs: LONG_ANSWER_MS });
  const target: Query = async <Row extends object>(text: string, values?: unknown[]) =>
    (await client.query(text, values)).rows as Row[];
  await client.connect();
  try {
    await target('BEGIN');
    for (const statement of PRINT_ALIKE) await target(statement.replace('SET ', 'SET LOCAL '));
    await target('SET LOCAL statement_timeout = 0');
    await target('SET LOCAL idle_in_transaction_session_timeout = 0');
    await target(`SET LOCAL lock_timeout = '${LOCK_WAIT}'`);
    await target('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    const moved = await copyEverything(source, target, seeded, progress);
    await target('COMMIT');
    return moved;
  } catch (error) {
    // A lost connection has rolled back already.
    await target('ROLLBACK').catch(() => undefined);
    throw explained(error);
  } finally {
    await client.end();
  }
}

function explained(error: unknown): unknown {
  if (!isForeignKeyViolation(error)) return error;
  const detail = (error as { detail?: unknown }).detail;
  return new CommandError(
    `The embedded data has a row that refers to a missing one, so it was changed by hand: ${String(detail ?? '')} The target was left empty.`,
    { cause: error },
  );
}

async function copyEverything(
  source: Query,
  target: Query,
  seeded: MoveOptions['seeded'],
  progress: MoveOptions['progress'],
): Promise<MovedTable[]> {
  const tables = await listTables(source);
  const jobs = await findJobTable(source);
  requireSameTables(tables, await listTables(target));
  await lockTables(target, tables);
  await requireEmpty(target, tables, jobs, seeded);
  const opened = await openTables(target, tables);
  const moved: MovedTable[] = [];
  for (const table of tables) {
    await copyTable(source, target, table);
    moved.push({ name: table.name, rows: await compare(source, target, table) });
    if (moved.at(-1)!.rows > 0) progress(`  ${table.name}: ${moved.at(-1)!.rows}`);
  }
  if (jobs) {
    await copyQueues(source, target);
    await copyTable(source, target, jobs, SERVICE_JOBS);
    moved.push({ name: 'jobs', rows: await compare(source, target, jobs, SERVICE_JOBS) });
    progress(`  jobs: ${moved.at(-1)!.rows}`);
  }
  await copySequences(source, target);
  await closeTables(target, opened);
  progress('Counts and contents of all tables agree. Checking the ledger …');
  await requireCleanLedger(target, 'copy');
  return moved;
}

/** Both sides have run the same migrations, so a difference means that one of them was changed by hand. */
function requireSameTables(ours: readonly Table[], theirs: readonly Table[]): void {
  const describe = (tables: readonly Table[]) =>
    new Map(
      tables.map((table) => [
        table.name,
        table.columns
          .map((column) => `${column.name} ${column.type}`)
          .sort()
          .join(', '),
      ]),
    );
  const [from, to] = [describe(ours), describe(theirs)];
  const different = [...from].filter(([name, columns]) => to.get(name) !== columns).map(([name]) => name);
  if (different.length === 0) return;
  throw new CommandError(
    `The tables of the target differ from those of this release: ${different.join(', ')}. Nothing was changed. Give a new, empty database.`,
  );
}

async function compare(source: Query, target: Query, table: Table, condition?: string): Promise<number> {
  const [ours, theirs] = [await readContents(source, table, condition), await readContents(target, table, condition)];
  if (ours.rows === theirs.rows && ours.digest === theirs.digest) return ours.rows;
  const what = ours.rows === theirs.rows ? 'some values differ' : `${theirs.rows} of ${ours.rows} rows arrived`;
  throw new CommandError(`The copy of ${table.name} does not equal its source (${what}). The target was left empty.`);
}

async function requireCleanLedger(query: Query, where: string): Promise<void> {
  const problems = await query<{ problem: string; row_id: string }>('SELECT problem, row_id FROM ledger_check() LIMIT 20');
  if (problems.length === 0) return;
  const kinds = [...new Set(problems.map((problem) => problem.problem))].join(', ');
  throw new CommandError(
    `The ledger of the ${where} is not clean (${kinds}). Nothing was moved. Look at: npm run cli -- ledger check`,
  );
}
