import type { App } from '../../src/core/app.ts';

/**
 * Runs `fn` while the database refuses rows of a table, as a process that ends before it writes them: what the same transaction has written
 * before must not stay.
 * @param table with its schema
 * @param when a condition on the row NEW; default: every row
 * @param what new rows, or changes of rows
 */
export async function whileRefused<T>(
  app: App,
  table: string,
  fn: () => Promise<T>,
  when = 'true',
  what: 'INSERT' | 'UPDATE' = 'INSERT',
): Promise<T> {
  await app.db.sql(
    `CREATE FUNCTION refuse_rows() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN RAISE EXCEPTION 'refused row of %', TG_TABLE_NAME; END $f$`,
  );
  await app.db.sql(
    `CREATE TRIGGER aa_refused BEFORE ${what} ON ${table} FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION refuse_rows()`,
  );
  try {
    return await fn();
  } finally {
    await app.db.sql(`DROP TRIGGER aa_refused ON ${table}`);
    await app.db.sql('DROP FUNCTION refuse_rows()');
  }
}
