import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { applyTopics } from './apply-topics.ts';
import { isLockOfOthers } from './db-errors.ts';

/** The two things the runner needs of a database session; both run on ONE connection. */
export interface MigrationTarget {
  /** Runs a script of several statements. */
  run(sql: string): Promise<void>;
  query(sql: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
}

/** Key of the advisory lock, any fixed number: instances that start at the same time migrate one after the other. */
const ADVISORY_LOCK = 727_110_001;

/** A database compared with the migrations of the release; names of migrations. */
export interface MigrationState {
  /** Applied, and in no list of this release. */
  unknown: string[];
  /** Applied with another text. */
  changed: string[];
  /** Not applied yet. Contains the baseline of a database with replaced migrations, where the upgrade takes its place. */
  pending: string[];
  /** Applied of those that the baseline replaces. */
  replaced: string[];
}

/** @param applied checksum by name, as in `schema_migrations` */
export function compareMigrations(applied: ReadonlyMap<string, string>, files: SchemaFiles): MigrationState {
  const known = new Map([
    ...files.replaced.checksums,
    ...files.migrations.map(({ name, checksum }) => [name, checksum] as const),
  ]);
  const names = [...applied.keys()];
  return {
    unknown: names.filter((name) => !known.has(name)),
    changed: names.filter((name) => known.has(name) && known.get(name) !== applied.get(name)),
    pending: files.migrations.map((migration) => migration.name).filter((name) => !applied.has(name)),
    replaced: names.filter((name) => files.replaced.checksums.has(name)),
  };
}

/** Longest wait for the lock of a table, since every statement on it waits behind this one. */
const LOCK_WAIT_MS = 2_000;
/** Between two tries, in which the statements that waited go on. */
const PAUSE_MS = 3_000;
const MOST_TRIES = 100;

export interface ApplyOptions {
  /** Called when others had a lock for too long, and the upgrade was rolled back. Without it such an upgrade fails. */
  onRepeat?: (error: unknown) => void | Promise<void>;
  lockWaitMs?: number;
  pauseMs?: number;
}

/**
 * Brings a database to the release: the migrations that are missing, then the topics of functions and triggers that changed. All of it
 * is one transaction under an advisory lock, so that a failure leaves the database unchanged and nothing is written without triggers.
 * @returns names of what was applied; topics as `sql/<topic>`
 * @throws Error when an applied migration was changed or is unknown to this release, or when only a part of the replaced ones is applied
 */
export async function applySchema(target: MigrationTarget, files: SchemaFiles, options: ApplyOptions = {}): Promise<string[]> {
  const { onRepeat, lockWaitMs = LOCK_WAIT_MS, pauseMs = PAUSE_MS } = options;
  for (let tries = 1; ; tries += 1) {
    await target.run('BEGIN');
    try {
      await target.query('SELECT pg_advisory_xact_lock($1)', [ADVISORY_LOCK]);
      await target.query("SELECT set_config('lock_timeout', $1, true)", [`${lockWaitMs}ms`]);
      const migrated = await applyMigrations(target, files);
      // A migration may have dropped functions or triggers, with others that depend on them.
      const topics = await applyTopics(target, files.topics, { all: migrated.length > 0 });
      await target.run('COMMIT');
      return [...migrated, ...topics.map((name) => `sql/${name}`)];
    } catch (error) {
      await target.run('ROLLBACK');
      if (!onRepeat || tries === MOST_TRIES || !isLockOfOthers((error as Error).cause ?? error)) throw error;
      await onRepeat(error);
      await delay(pauseMs);
    }
  }
}

async function applyMigrations(target: MigrationTarget, files: SchemaFiles): Promise<string[]> {
  await target.run(`CREATE TABLE IF NOT EXISTS schema_migrations (
    name varchar(200) PRIMARY KEY, checksum varchar(64) NOT NULL, applied_at timestamptz(3) NOT NULL DEFAULT now())`);
  const rows = await target.query('SELECT name, checksum FROM schema_migrations');
  const state = compareMigrations(new Map(rows.map((row) => [String(row.name), String(row.checksum)])), files);
  requireUpgradable(state, files);
  const [baseline] = files.migrations;
  if (state.replaced.length > 0 && baseline) {
    await applyOne(target, { ...baseline, sql: files.replaced.upgradeSql });
    await target.query('DELETE FROM schema_migrations WHERE name = ANY($1::text[])', [state.replaced]);
  }
  const pending = new Set(state.pending);
  for (const migration of files.migrations) {
    if (!pending.has(migration.name) || (migration === baseline && state.replaced.length > 0)) continue;
    await applyOne(target, migration);
  }
  return state.pending;
}

function requireUpgradable({ unknown, changed, replaced }: MigrationState, files: SchemaFiles): void {
  if (unknown.length > 0)
    throw new Error(`The database has the migration ${unknown[0]}, which this release does not know: it is newer`);
  if (changed.length > 0) throw new Error(`Migration ${changed[0]} was changed after it had been applied`);
  const all = files.replaced.checksums.size;
  if (replaced.length > 0 && replaced.length < all) {
    throw new Error(
      `The database has ${replaced.length} of the ${all} migrations that ${files.migrations[0]?.name} replaces. ` +
        'Start the previous release on it once, which applies the others, then start this release',
    );
  }
}

async function applyOne(target: MigrationTarget, migration: SqlFile): Promise<void> {
  try {
    await target.run(migration.sql);
    await target.query('INSERT INTO schema_migrations (name, checksum) VALUES ($1, $2)', [migration.name, migration.checksum]);
  } catch (error) {
    throw new Error(`Migration ${migration.name} failed`, { cause: error });
  }
}

/** One SQL file of the release with the SHA-256 of its text. */
export interface SqlFile {
  name: string;
  sql: string;
  checksum: string;
}

/** The migrations of earlier releases that the first migration replaces. */
interface ReplacedMigrations {
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
