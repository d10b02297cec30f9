import { setTimeout as delay } from 'node:timers/promises';
import type { App } from '../../core/app.ts';
import type { LongSession } from '../../core/db/database.ts';
import type { Db, SqlRunner } from '../../core/db/db.ts';
import { isLockOfOthers } from '../../core/db/db-errors.ts';

// Tables that grow for as long as the service runs are partitioned by ranges of their ids (spec 08 S9; docs/decisions/partitions.md).

/** Ids of a partition: what a million users write in three months. */
const PARTITION_IDS = 20_000_000;
/** Every statement on the table waits behind one that waits for its lock, so none waits longer. */
const LOCK_WAIT_MS = 100;
const PAUSE_MS = 1_000;
const MOST_TRIES = 60;

export interface Partition {
  table: string;
  /** In the schema `partitions`. */
  name: string;
  /** Its first id; null: it has every id below `end`. */
  start: number | null;
  /** The first id of the next partition; null: it is the last one, and has every id from `start` on. */
  end: number | null;
  /** As the last analysis of the table estimated. */
  rows: number;
  /** With its indexes. */
  bytes: number;
}

/** The partitions of all tables that have some, by table and first id. */
export function listPartitions(db: Pick<Db, 'sql'>): Promise<Partition[]> {
  return db.sql<Partition>(
    `SELECT t.relname AS "table", c.relname AS name, (regexp_match(b.bounds, 'FROM \\(''?(\\d+)'))[1]::float8 AS start,
       (regexp_match(b.bounds, 'TO \\(''?(\\d+)'))[1]::float8 AS "end", greatest(c.reltuples, 0)::float8 AS rows,
       pg_total_relation_size(c.oid)::float8 AS bytes
     FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid AND c.relnamespace = 'partitions'::regnamespace AND c.relkind = 'r'
     JOIN pg_class t ON t.oid = i.inhparent CROSS JOIN LATERAL (SELECT pg_get_expr(c.relpartbound, c.oid) AS bounds) b
     ORDER BY 1, 3 NULLS FIRST`,
  );
}

/**
 * Makes the next partition of each table that has come to the second half of the last but one, removes partitions that expired rows have left
 * empty, and reads the statistics of the whole tables, which nothing else does: a server analyses their partitions only.
 * @param ids of a partition
 * @returns names of what was made and removed; null when a backup, restore or import is under way
 */
export async function maintainPartitions(
  app: Pick<App, 'db'>,
  ids = PARTITION_IDS,
): Promise<{ made: string[]; removed: string[] } | null> {
  const done = await app.db.long!.alone(async (session) => {
    const [made, removed]: [string[], string[]] = [[], []];
    for (const [table, partitions] of Map.groupBy(await listPartitions(app.db), (one) => one.table)) {
      const next = await addPartition(app, session, { table, last: partitions.at(-1)!, ids });
      if (next !== null) made.push(next);
      // The last two may be written to.
      for (const { name } of partitions.slice(0, -2)) if (await removeEmpty(app, session, table, name)) removed.push(name);
      await session.write((sql) => sql(`ANALYZE public.${table}`));
    }
    return { made, removed };
  });
  return done?.result ?? null;
}

interface Addition {
  table: string;
  last: Partition;
  ids: number;
}

/** Ends the last partition, as a rule an empty one, and lets a new one follow it. @returns the name of the new one */
async function addPartition(app: Pick<App, 'db'>, session: LongSession, { table, last, ids }: Addition): Promise<string | null> {
  const [found] = await app.db.sql<{ given: number; most: number; stays: boolean }>(
    `SELECT coalesce(pg_sequence_last_value(seqrelid), 0)::float8 AS given, seqmax::float8 AS most,
       EXISTS (SELECT 1 FROM pg_constraint WHERE contype = 'f' AND confrelid = to_regclass($1))
         AND EXISTS (SELECT 1 FROM partitions.${last.name}) AS stays
     FROM pg_sequence WHERE seqrelid = pg_get_serial_sequence($1, 'id')::regclass`,
    [`public.${table}`],
  );
  const start = last.start ?? 0;
  // The same for every try, so that one that was interrupted is taken up again.
  const end = Math.ceil((Math.max(start, found!.given) + ids) / ids) * ids;
  // A partition whose rows others refer to cannot be detached; after a restore it may be the last one.
  if (found!.given < start - ids / 2 || end > found!.most || found!.stays) return null;
  const name = `${table}_${end}`;
  const bounds = `${last.name}_bounds`;
  const foreignKeys = await app.db.sql<{ name: string; definition: string; referenced: string }>(
    `SELECT quote_ident(conname) AS name, pg_get_constraintdef(oid) AS definition, confrelid::regclass::text AS referenced FROM pg_constraint
     WHERE conrelid = $1::regclass AND contype = 'f' ORDER BY 1`,
    [`public.${table}`],
  );
  const locked = [...new Set(foreignKeys.map(({ referenced }) => referenced)), `public.${table}`].join(', ');
  await inShortTries(session, locked, async (sql) => {
    // What a try before has left that ended between the two.
    await sql(`DROP TABLE IF EXISTS partitions.${name}`);
    await sql(`ALTER TABLE partitions.${last.name} DROP CONSTRAINT IF EXISTS ${bounds}`);
    await sql(
      `CREATE TABLE partitions.${name} (LIKE public.${table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES INCLUDING STORAGE)`,
    );
    for (const key of foreignKeys) await sql(`ALTER TABLE partitions.${name} ADD CONSTRAINT ${key.name} ${key.definition}`);
    await sql(`ALTER TABLE partitions.${last.name} ADD CONSTRAINT ${bounds} CHECK (id >= ${start} AND id < ${end}) NOT VALID`);
  });
  // Reads its rows, where there are some, while others write; the bounds are then known, and attaching it again reads nothing.
  await session.write((sql) => sql(`ALTER TABLE partitions.${last.name} VALIDATE CONSTRAINT ${bounds}`));
  await inShortTries(session, locked, async (sql) => {
    await sql(`ALTER TABLE public.${table} DETACH PARTITION partitions.${last.name}`);
    await sql(
      `ALTER TABLE public.${table} ATTACH PARTITION partitions.${last.name} FOR VALUES FROM (${last.start ?? 'MINVALUE'}) TO (${end})`,
    );
    await sql(`ALTER TABLE public.${table} ATTACH PARTITION partitions.${name} FOR VALUES FROM (${end}) TO (MAXVALUE)`);
    await sql(`ALTER TABLE partitions.${last.name} DROP CONSTRAINT ${bounds}`);
  });
  return name;
}

const MAX_EMPTY_BYTES = 1024 * 1024;

async function removeEmpty(app: Pick<App, 'db'>, session: LongSession, table: string, name: string): Promise<boolean> {
  // A vacuum has given back the pages of deleted rows: reading many of them would take long.
  const isEmpty = async (sql: SqlRunner) => {
    const [found] = await sql<{ empty: boolean }>(
      `SELECT CASE WHEN pg_relation_size('partitions.${name}') <= ${MAX_EMPTY_BYTES} THEN NOT EXISTS (SELECT 1 FROM partitions.${name}) ELSE false END AS empty`,
    );
    return found!.empty;
  };
  if (!(await isEmpty(app.db.sql))) return false;
  return inShortTries(session, `public.${table}`, async (sql) => {
    if (!(await isEmpty(sql))) return false;
    await sql(`ALTER TABLE public.${table} DETACH PARTITION partitions.${name}`);
    await sql(`DROP TABLE partitions.${name}`);
    return true;
  });
}

/** Runs a transaction that locks the tables, in the order in which others write them, again until nobody is in its way. */
async function inShortTries<T>(session: LongSession, locked: string, work: (sql: SqlRunner) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await session.write(async (sql) => {
        await sql(`SET LOCAL lock_timeout = ${LOCK_WAIT_MS}`);
        await sql(`LOCK TABLE ${locked} IN ACCESS EXCLUSIVE MODE`);
        return work(sql);
      });
    } catch (error) {
      // Any failure: only those of locks are repeated.
      if (tries === MOST_TRIES || !isLockOfOthers(error)) throw error;
      await delay(PAUSE_MS);
    }
  }
}

const EXPORTED_ROWS = 5_000;

/**
 * The rows of a partition as NDJSON, oldest first: one object a line, by the names of the columns.
 * @param name of `listPartitions`
 */
export async function* partitionRows({ db }: Pick<App, 'db'>, name: string): AsyncGenerator<string> {
  const relation = `partitions.${name}`;
  for (let after = '0'; ; ) {
    const rows = await db.sql<{ id: string; row: string }>(
      `SELECT id::text, row_to_json(r)::text AS row FROM (SELECT * FROM ${relation} WHERE id > $1::bigint ORDER BY id LIMIT ${EXPORTED_ROWS}) r ORDER BY id`,
      [after],
    );
    if (rows.length > 0) yield `${rows.map(({ row }) => row).join('\n')}\n`;
    if (rows.length < EXPORTED_ROWS) return;
    after = rows.at(-1)!.id;
  }
}
