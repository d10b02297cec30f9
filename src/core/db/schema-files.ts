import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** One SQL file of the release with the SHA-256 of its text. */
export interface SqlFile {
  name: string;
  sql: string;
  checksum: string;
}

/** The migrations of earlier releases that the first migration replaces. */
export interface ReplacedMigrations {
  /** Checksum by name. */
  checksums: ReadonlyMap<string, string>;
  /** Brings a database with all of them to the state after the first migration. */
  upgradeSql: string;
}

/** The SQL of a release. */
export interface SchemaFiles {
  /** Forward-only migrations `NNNN_name/migration.sql` in their order; an applied one never changes. The first is the baseline. */
  migrations: SqlFile[];
  replaced: ReplacedMigrations;
  /** Functions and triggers by topic (`prisma/sql`), whole and current; applied again when their text changes. */
  topics: SqlFile[];
}

/** Reads the SQL of the release. @param migrationsFolder `prisma/migrations`; the topics are in the folder `sql` beside it */
export async function readSchemaFiles(migrationsFolder: string): Promise<SchemaFiles> {
  const folders = (await readdir(migrationsFolder, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  const names = folders.map((entry) => entry.name).sort();
  const baseline = join(migrationsFolder, names[0] ?? '');
  const topicsFolder = join(migrationsFolder, '..', 'sql');
  const topics = (await readdir(topicsFolder)).filter((name) => name.endsWith('.sql')).sort();
  return {
    migrations: await Promise.all(names.map((name) => readSqlFile(name, join(migrationsFolder, name, 'migration.sql')))),
    replaced: {
      checksums: new Map(Object.entries(JSON.parse(await readFile(join(baseline, 'replaces.json'), 'utf8')))),
      upgradeSql: await readFile(join(baseline, 'upgrade.sql'), 'utf8'),
    },
    topics: await Promise.all(topics.map((name) => readSqlFile(name.slice(0, -'.sql'.length), join(topicsFolder, name)))),
  };
}

async function readSqlFile(name: string, path: string): Promise<SqlFile> {
  const sql = await readFile(path, 'utf8');
  return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
}
