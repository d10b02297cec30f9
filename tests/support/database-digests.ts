import type { App } from '../../src/core/app.ts';

/** Tables that a refused request may write: what was refused is on record, and attempts are counted. */
const RECORDS = ['admin_audit_log', 'rate_limit_windows', 'schema_migrations', 'schema_sql'];

/** A digest of every row of every table (jobs too) by table, to compare before and after. Read in one statement. */
export async function databaseDigests(app: App): Promise<Record<string, string>> {
  const [{ query }] = (await app.db.sql<{ query: string }>(
    `SELECT string_agg(format('SELECT %L AS name, count(*) || '' rows '' || coalesce(md5(string_agg(md5(x::text), '''' ORDER BY md5(x::text))),
       '''') AS digest FROM %I.%I x', schemaname || '.' || tablename, schemaname, tablename), ' UNION ALL ') AS query
     FROM pg_tables WHERE (schemaname = 'public' AND tablename <> ALL ($1::text[])) OR (schemaname = 'jobs' AND tablename = 'job')`,
    [RECORDS],
  )) as [{ query: string }];
  const rows = await app.db.sql<{ name: string; digest: string }>(query);
  return Object.fromEntries(rows.map(({ name, digest }) => [name, digest]));
}

/** The tables that differ between two digests, without their schema, in alphabetical order. */
export function changedTables(before: Readonly<Record<string, string>>, after: Readonly<Record<string, string>>): string[] {
  const names = Object.keys(after).filter((name) => after[name] !== before[name]);
  return names.map((name) => name.replace(/^\w+\./, '')).sort();
}
