import { join } from 'node:path';
import { PGlite, type PGliteOptions, type Transaction, types } from '@electric-sql/pglite';
import { PrismaPGlite } from 'pglite-prisma-adapter';
import type { Tracing } from '../telemetry/tracing.ts';
import type { CopyIn, Database, JobDatabase, LongSession, LongWork } from './database.ts';
import type { SqlRunner } from './db.ts';
import { lockFolder } from './folder-lock.ts';
import { applySchema, readSchemaFiles } from './migrate.ts';
import { openPrisma, type WaitLimits } from './open-prisma.ts';
import { runInsideTransaction } from './root-guard.ts';
import { EMBEDDED_PARSERS, embeddedSql, traced } from './sql-runner.ts';

export interface EmbeddedOptions {
  /** Folder of the data; null = in memory (tests). */
  dataDir: string | null;
  migrationsFolder: string;
  /** A dumped data folder to start from (tests). */
  loadDataDir?: PGliteOptions['loadDataDir'];
  tracing?: Tracing | undefined;
  /** `WAIT_LIMITS` unless given. */
  limits?: WaitLimits;
}

/** Opens the embedded database. One connection serves everything, so every open transaction makes all others wait. */
export async function openEmbedded(options: EmbeddedOptions): Promise<Database> {
  const unlock = options.dataDir === null ? async () => undefined : await lockFolder(options.dataDir);
  let database: PGlite;
  try {
    database = await PGlite.create({
      dataDir: options.dataDir === null ? undefined : join(options.dataDir, 'database'),
      loadDataDir: options.loadDataDir,
      parsers: EMBEDDED_PARSERS,
      serializers: { [types.TIMESTAMPTZ]: timestampText, [types.TIMESTAMP]: timestampText },
    });
  } catch (error) {
    await unlock();
    throw error;
  }
  return embeddedDatabase(database, options.migrationsFolder, unlock, options);
}

/** A `Date` as PostgreSQL reads it: JavaScript writes years above 9999 with a sign, and a sum of days can exceed that year. */
function timestampText(given: unknown): string {
  const value = typeof given === 'number' ? new Date(given) : given;
  return value instanceof Date ? value.toISOString().replace(/^\+0?/, '') : String(value);
}

/** @param database opened with `EMBEDDED_PARSERS` */
export function embeddedDatabase(
  database: PGlite,
  migrationsFolder: string,
  unlock: () => Promise<void>,
  { limits, tracing }: Pick<EmbeddedOptions, 'limits' | 'tracing'> = {},
): Database {
  const sql = traced(embeddedSql(database), tracing);
  const { disconnect, ...prisma } = openPrisma(new PrismaPGlite(database), {
    sqlOn: sql.on,
    checksBeforeCommit: true,
    ...(limits ? { limits } : {}),
    tracing,
  });
  return {
    kind: 'embedded',
    db: { ...prisma, sql: sql.root, long: embeddedLongWork(database, sql.on), vacuum: embeddedVacuum(database) },
    jobDatabase: embeddedJobDatabase(database),
    side: { sql: sql.root, listen: async () => undefined, notify: async () => undefined },
    migrate: async () =>
      applySchema(
        {
          run: async (sql) => void (await database.exec(sql)),
          query: async (sql, values) => (await database.query<Record<string, unknown>>(sql, values)).rows,
        },
        await readSchemaFiles(migrationsFolder),
      ),
    poolCounters: () => ({ size: 1, inUse: 0, waiting: 0 }),
    silence: null,
    close: async () => {
      await disconnect();
      if (!database.closed) await database.close();
      await unlock();
    },
  };
}

/**
 * pg-boss sends maintenance as one `BEGIN; …; COMMIT;` script. Sent as it is, Prisma's queries could run in between and fail
 * with the script's error state; as a PGlite transaction the script has the connection for itself.
 */
function embeddedJobDatabase(database: PGlite): JobDatabase {
  return {
    executeSql: async (text, values) => {
      if (values?.length) return database.query<Record<string, unknown>>(text, values);
      const script = /^\s*BEGIN\s*;([\s\S]*)COMMIT\s*;?\s*$/i.exec(text);
      const results = script ? await database.transaction((tx) => tx.exec(script[1]!)) : await database.exec(text);
      return { rows: (results.at(-1)?.rows ?? []) as Record<string, unknown>[] };
    },
  };
}

/** Chunk by chunk: the embedded database reads each from a file of its own memory. */
function copyInto(tx: Transaction): CopyIn {
  return async (statement, lines) => {
    const text = statement.replace(/\bSTDIN\b/, "'/dev/blob'");
    for await (const chunk of lines) await tx.query(text, [], { blob: new Blob([new Uint8Array(chunk)]) });
  };
}

/** One process has the embedded database open, so memory is enough to exclude others. */
function embeddedLongWork(database: PGlite, sqlOn: (connection: Transaction) => SqlRunner): LongWork {
  let isTaken = false;
  let isClosed = false;
  const transaction = <T>(begin: string | null, work: (sql: SqlRunner, copyIn: CopyIn) => Promise<T>): Promise<T> =>
    database.transaction(async (tx) => {
      const sql = sqlOn(tx);
      if (begin !== null) await sql(begin);
      const result = await runInsideTransaction(() => work(sql, copyInto(tx)));
      // The driver loses an error that COMMIT itself raises.
      if (begin === null) await sql('SET CONSTRAINTS ALL IMMEDIATE');
      return result;
    });
  const session: LongSession = {
    snapshot: (work) => transaction('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY', work),
    write: (work) => transaction(null, work),
    closeService: async () => {
      isClosed = true;
    },
  };
  return {
    isEmbedded: true,
    alone: async (work) => {
      if (isTaken) return null;
      isTaken = true;
      try {
        return { result: await work(session) };
      } finally {
        isTaken = false;
        isClosed = false;
      }
    },
    isServiceClosed: async () => isClosed,
  };
}

/**
 * What autovacuum does on a server: the embedded database starts no such process, so without this its files would grow with each update, and
 * its plans would follow the sizes that the tables had at first. Vacuums and analyses the tables above the limits of autovacuum, one after
 * the other; other statements run in between. @returns their names
 */
export type TableVacuum = (signal: AbortSignal) => Promise<string[]>;

const setting = (name: string): string => `current_setting('autovacuum_${name}')::float8`;
const exceeds = (counter: string, kind: string): string =>
  `s.${counter} > ${setting(`${kind}_threshold`)} + ${setting(`${kind}_scale_factor`)} * s.n_live_tup`;

/** System tables have few updates; like all others they are frozen before their oldest transaction id is reused. */
const DUE = `SELECT quote_ident(s.schemaname) || '.' || quote_ident(s.relname) AS name, d.needs_vacuum
  FROM pg_stat_all_tables s JOIN pg_class c ON c.oid = s.relid
  CROSS JOIN LATERAL (SELECT ${exceeds('n_dead_tup', 'vacuum')} OR ${exceeds('n_ins_since_vacuum', 'vacuum_insert')}
    OR age(c.relfrozenxid) > ${setting('freeze_max_age')} AS needs_vacuum) d
  WHERE s.schemaname <> 'pg_toast' AND (d.needs_vacuum OR ${exceeds('n_mod_since_analyze', 'analyze')})
    AND (s.schemaname NOT IN ('pg_catalog', 'information_schema') OR age(c.relfrozenxid) > ${setting('freeze_max_age')})
  ORDER BY s.schemaname, s.relname`;

export function embeddedVacuum(database: PGlite): TableVacuum {
  return async (signal) => {
    // The counters of the last second have not been added up yet.
    await database.query('SELECT pg_stat_force_next_flush()');
    const { rows } = await database.query<{ name: string; needs_vacuum: boolean }>(DUE);
    const done: string[] = [];
    for (const { name, needs_vacuum: needsVacuum } of rows) {
      if (signal.aborted) break;
      // A statement of its own, outside a transaction, which waits for one that is open.
      await database.exec(`${needsVacuum ? 'VACUUM (ANALYZE)' : 'ANALYZE'} ${name}`);
      done.push(name);
    }
    return done;
  };
}
