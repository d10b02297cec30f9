import { installJobs } from '../../composition/install-jobs.ts';
import { migrationsFolder } from '../../composition/package-root.ts';
import { openDatabase } from '../../composition/service.ts';
import type { Database } from '../../core/db/database.ts';
import { openEmbedded } from '../../core/db/open-embedded.ts';
import type { Env } from '../../core/env.ts';
import type { Logger } from '../../core/log.ts';
import { type Command, CommandError, UsageError } from '../command.ts';
import { describeDatabaseFailure } from '../describe-failure.ts';
import { hasEmbeddedData, hideUrlPassword, openBase } from '../open-service.ts';
import { moveData } from './move-data.ts';
import { countRows, listTables } from './table-facts.ts';

export const moveCommand: Command = {
  name: 'db move',
  parameters: 'postgresql://user:password@host:5432/name',
  summary: 'Move the embedded data to an empty database on a PostgreSQL server.',
  details: [
    'Stop the service first. The target must be empty, or migrated and never used; PostgreSQL 15 or later.',
    'Everything is copied in one transaction: tables, sequences, waiting jobs. Before it commits, counts and contents of',
    'every table are compared and the ledger is checked. The embedded data stays where it is, unchanged.',
  ].join('\n'),
  words: [1, 1],
  run: async (call) => {
    const url = targetUrl(call.words[0]!);
    const { env, log } = await openBase(call);
    if (!(await hasEmbeddedData(env.dataDir))) {
      throw new CommandError(`There is no embedded database in ${env.dataDir}. Is DATA_DIR right?`);
    }
    const source = await openDatabase({ ...env, databaseUrl: null }, log);
    try {
      await bringUpToDate(source, log);
      const seeded = await prepareTarget({ ...env, databaseUrl: url, databaseDirectUrl: null, databaseReplicaUrl: null }, log);
      call.progress(`Moving ${env.dataDir} to ${hideUrlPassword(url)} …`);
      const moved = await moveData({ source, targetUrl: url, seeded, progress: call.progress });
      const rows = moved.reduce((sum, table) => sum + table.rows, 0);
      const line = `DATABASE_URL=${hideUrlPassword(url)}`;
      const text = [
        `Moved ${rows} rows of ${moved.filter((table) => table.rows > 0).length} tables. Counts and contents agree, the ledger is clean.`,
        '',
        'Set this for the service, in .env or its environment, and start it:',
        '',
        `  ${line}`,
        '',
        ...(line.includes('***') ? ['*** replaces the password that you gave.'] : []),
        `The embedded database in ${env.dataDir} is unchanged; keep it until you are sure, then delete its folder "database".`,
      ].join('\n');
      return {
        text,
        data: { rows, tables: Object.fromEntries(moved.map((table) => [table.name, table.rows])), target: hideUrlPassword(url) },
      };
    } finally {
      await source.close();
    }
  },
};

function targetUrl(text: string): string {
  const url = text.replace(/^(postgres(?:ql)?)\+\w+:/i, '$1:');
  if (URL.canParse(url) && ['postgres:', 'postgresql:'].includes(new URL(url).protocol)) return url;
  throw new UsageError('The target must be a postgresql:// address.');
}

/**
 * Migrates the target and installs its job tables; what is already there stays.
 * @returns rows that migrations insert: of a new target all its rows, else what they insert into a temporary database
 */
async function prepareTarget(env: Env, log: Logger): Promise<Map<string, number>> {
  try {
    const database = await openDatabase(env, log);
    try {
      const [before] = await database.db.sql<{ found: string | null }>(
        "SELECT to_regclass('public.schema_migrations')::text AS found",
      );
      await bringUpToDate(database, log);
      if (before?.found) return await seededRows();
      return await countRows(database.db.sql, await listTables(database.db.sql));
    } finally {
      await database.close();
    }
  } catch (error) {
    // Any failure: the command ends with a sentence about it, and nothing was moved.
    const sentence = describeDatabaseFailure(error);
    throw new CommandError(`The target cannot be used. ${sentence ?? (error instanceof Error ? error.message : String(error))}`, {
      cause: error,
    });
  }
}

async function seededRows(): Promise<Map<string, number>> {
  const fresh = await openEmbedded({ dataDir: null, migrationsFolder });
  try {
    await fresh.migrate();
    return await countRows(fresh.db.sql, await listTables(fresh.db.sql));
  } finally {
    await fresh.close();
  }
}

async function bringUpToDate(database: Database, log: Logger): Promise<void> {
  await database.migrate();
  await installJobs(database, log);
}
