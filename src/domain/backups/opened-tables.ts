import type { SqlRunner } from '../../core/db/db.ts';
import { isForeignKeyViolation } from '../../core/db/db-errors.ts';
import { quote } from './row-format.ts';
import type { ForeignKey } from './schema-repo.ts';
import { ArchiveRefused, type Table } from './types.ts';

/** How long a restore waits for transactions that are under way. */
const LOCK_WAIT = '30s';
/** The lock of migrations (core/db/migrate.ts): an instance that starts waits until the restore has ended. */
const MIGRATION_LOCK = 727_110_001;

/**
 * Locks every table, and lets rows be inserted as they are: triggers that check or count them did so in the source, and rows refer to later
 * rows. The owner of the tables may do this, no superuser is needed. Other sessions see nothing of it before the commit.
 */
export async function openTables(sql: SqlRunner, tables: readonly Table[], foreignKeys: readonly ForeignKey[]): Promise<void> {
  await sql(`SET LOCAL lock_timeout = '${LOCK_WAIT}'`);
  await sql(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})::text AS locked`);
  await sql(`LOCK TABLE ${tables.map(({ name }) => `public.${quote(name)}`).join(', ')} IN ACCESS EXCLUSIVE MODE`);
  for (const key of foreignKeys) await sql(`ALTER TABLE ${key.table} DROP CONSTRAINT ${quote(key.name)}`);
  for (const { name } of tables) await sql(`ALTER TABLE public.${quote(name)} DISABLE TRIGGER USER`);
}

/** Puts triggers and foreign keys back; every row is checked by them. @throws ArchiveRefused that names the key */
export async function closeTables(sql: SqlRunner, tables: readonly Table[], foreignKeys: readonly ForeignKey[]): Promise<void> {
  for (const { name } of tables) await sql(`ALTER TABLE public.${quote(name)} ENABLE TRIGGER USER`);
  for (const { table, name, definition } of foreignKeys) {
    try {
      await sql(`ALTER TABLE ${table} ADD CONSTRAINT ${quote(name)} ${definition}`);
    } catch (error) {
      if (!isForeignKeyViolation(error)) throw error;
      throw new ArchiveRefused(`A row of ${table} refers to a missing one (${name})`, { cause: error });
    }
  }
}
