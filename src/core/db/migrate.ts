import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** One forward-only migration: a folder `NNNN_name` with `migration.sql`. */
export interface Migration {
  name: string;
  sql: string;
  /** SHA-256 of the file, so that an edited old migration is noticed. */
  checksum: string;
}

/** The two things the runner needs of a database session; both run on ONE connection. */
export interface MigrationTarget {
  /** Runs a script of several statements. */
  run(sql: string): Promise<void>;
  query(sql: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
}

/** Any fixed number: instances that start at once take turns. */
const ADVISORY_LOCK = 727_110_001;

/** Reads all migrations of a folder in their order. */
export async function readMigrations(folder: string): Promise<Migration[]> {
  const names = (await readdir(folder, { withFileTypes: true }))
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);
  return Promise.all(
    names.sort().map(async (name) => {
      const sql = await readFile(join(folder, name, 'migration.sql'), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

/**
 * Applies what is missing, each migration in its own transaction, under an advisory lock.
 * @returns names of the migrations applied now
 * @throws Error when an applied migration was edited or is unknown to this release
 */
export async function applyMigrations(target: MigrationTarget, migrations: readonly Migration[]): Promise<string[]> {
  await target.query('SELECT pg_advisory_lock($1)', [ADVISORY_LOCK]);
  try {
    await target.run(`CREATE TABLE IF NOT EXISTS schema_migrations (
      name varchar(200) PRIMARY KEY, checksum varchar(64) NOT NULL, applied_at timestamptz(3) NOT NULL DEFAULT now())`);
    const applied = new Map(
      (await target.query('SELECT name, checksum FROM schema_migrations')).map((row) => [String(row.name), String(row.checksum)]),
    );
    const known = new Set(migrations.map((migration) => migration.name));
    for (const name of applied.keys()) {
      if (!known.has(name))
        throw new Error(`The database holds migration ${name}, which this release does not know: it is newer`);
    }
    const done: string[] = [];
    for (const migration of migrations) {
      const checksum = applied.get(migration.name);
      if (checksum === migration.checksum) continue;
      if (checksum !== undefined) throw new Error(`Migration ${migration.name} was changed after it had been applied`);
      await applyOne(target, migration);
      done.push(migration.name);
    }
    return done;
  } finally {
    await target.query('SELECT pg_advisory_unlock($1)', [ADVISORY_LOCK]);
  }
}

async function applyOne(target: MigrationTarget, migration: Migration): Promise<void> {
  await target.run('BEGIN');
  try {
    await target.run(migration.sql);
    await target.query('INSERT INTO schema_migrations (name, checksum) VALUES ($1, $2)', [migration.name, migration.checksum]);
    await target.run('COMMIT');
  } catch (error) {
    await target.run('ROLLBACK');
    throw new Error(`Migration ${migration.name} failed`, { cause: error });
  }
}
