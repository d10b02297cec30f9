import type { SqlRunner } from '../../core/db/db.ts';
import { sqlState } from '../../core/db/db-errors.ts';
import { linesOf } from './check-archive.ts';
import { oneAhead } from './one-ahead.ts';
import { openArchive, type ReadOptions, type TableMember } from './read-archive.ts';
import { insertStatement, type OnConflict, quote } from './row-format.ts';
import { fateOf } from './table-plan.ts';
import { ArchiveRefused, type Table } from './types.ts';
import { LOAD_JOBS, WAITING_JOBS } from './waiting-jobs.ts';

/** What one statement inserts at most: some thousand rows, or one large one. */
const BATCH_ROWS = 5_000;
const BATCH_BYTES = 4 * 1024 * 1024;

export interface LoadOptions extends ReadOptions {
  path: string;
  tables: ReadonlyMap<string, Table>;
  /** The tables are empty; otherwise rows that exist are updated, and those of append-only tables stay. */
  isEmptied: boolean;
  /** Tables of the archive that are not loaded. */
  skipped: ReadonlySet<string>;
}

export interface Loaded {
  tables: number;
  /** Rows that were inserted or updated. */
  rows: number;
}

/**
 * Inserts the rows of an archive; in the transaction of the restore, with foreign keys and triggers off.
 * @throws ArchiveRefused with table and key when the database refuses a row
 */
export async function loadRows(sql: SqlRunner, options: LoadOptions): Promise<Loaded> {
  const { members } = await openArchive(options.path, options);
  const loaded: Loaded = { tables: 0, rows: 0 };
  try {
    for await (const member of members) {
      if (member.kind !== 'table' || options.skipped.has(member.name)) continue;
      const statement = statementFor(member, options);
      for await (const batch of oneAhead(batchesOf(linesOf(member.content))))
        loaded.rows += await insert(sql, statement, batch, member.name);
      if (member.table.rows > 0) loaded.tables += 1;
    }
  } finally {
    await members.return(undefined);
  }
  return loaded;
}

function statementFor({ name, table: archived }: TableMember, { tables, isEmptied }: LoadOptions): string {
  if (name === WAITING_JOBS) return LOAD_JOBS;
  const table = tables.get(name)!;
  const given = new Set(archived.columns.map(({ name: column }) => column));
  const columns = table.columns.filter(({ name: column }) => given.has(column));
  return insertStatement(name, columns, onConflict(table, isEmptied));
}

function onConflict({ name, primaryKey: key }: Table, isEmptied: boolean): OnConflict {
  if (isEmptied) return { do: 'fail' };
  return { do: fateOf(name) === 'append-only' ? 'nothing' : 'update', key };
}

async function insert(sql: SqlRunner, statement: string, lines: readonly string[], table: string): Promise<number> {
  try {
    const [written] = await sql<{ rows: number }>(statement, [`[${lines.join(',')}]`]);
    return written!.rows;
  } catch (error) {
    // Any failure: `refusedRow` changes errors that a row caused only.
    throw refusedRow(error, table);
  }
}

/** Classes of SQLSTATE that a row causes: data exceptions and violated constraints. The rest (lost sessions, full disks) is no fault of the archive. */
export function refusedRow(error: unknown, table: string): unknown {
  const state = sqlState(error) ?? '';
  if (state.startsWith('23')) {
    const { constraint } = error as { constraint?: string };
    return new ArchiveRefused(`A row of ${table} violates ${constraint ?? 'a key'}`, { cause: error });
  }
  if (state.startsWith('22'))
    return new ArchiveRefused(`A row of ${table} has a value that its column does not take`, { cause: error });
  return error;
}

async function* batchesOf(given: AsyncIterable<string[]>): AsyncGenerator<string[]> {
  let batch: string[] = [];
  let length = 0;
  for await (const lines of given) {
    for (const line of lines) {
      batch.push(line);
      length += line.length;
      if (batch.length < BATCH_ROWS && length < BATCH_BYTES) continue;
      yield batch;
      batch = [];
      length = 0;
    }
  }
  if (batch.length > 0) yield batch;
}

/** Sets the sequence of each id past the highest one; never back, because ids of before may still be known to somebody. */
export async function advanceSequences(
  sql: SqlRunner,
  sequences: readonly { sequence: string; table: string; column: string }[],
): Promise<void> {
  for (const { sequence, table, column } of sequences) {
    await sql(
      `SELECT setval($1::regclass, greatest(m.highest, pg_sequence_last_value($1::regclass)))::text AS value
       FROM (SELECT max(${quote(column)})::bigint AS highest FROM public.${quote(table)}) m
       WHERE m.highest IS NOT NULL OR pg_sequence_last_value($1::regclass) IS NOT NULL`,
      [sequence],
    );
  }
}
