import { join } from 'node:path';
import { PGlite, type PGliteOptions, types } from '@electric-sql/pglite';
import { PrismaPGlite } from 'pglite-prisma-adapter';
import type { Tracing } from '../telemetry/tracing.ts';
import type { Database, JobDatabase } from './database.ts';
import { embeddedLongWork } from './embedded-long-work.ts';
import { embeddedVacuum } from './embedded-vacuum.ts';
import { lockFolder } from './folder-lock.ts';
import { applySchema } from './migrate.ts';
import { openPrisma, type WaitLimits } from './open-prisma.ts';
import { readSchemaFiles } from './schema-files.ts';
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
      serializers: { [types.TIMESTAMPTZ]: momentText, [types.TIMESTAMP]: momentText },
    });
  } catch (error) {
    await unlock();
    throw error;
  }
  return embeddedDatabase(database, options.migrationsFolder, unlock, options);
}

/** A `Date` as PostgreSQL reads it: JavaScript writes years above 9999 with a sign, and a sum of days can exceed that year. */
function momentText(given: unknown): string {
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
