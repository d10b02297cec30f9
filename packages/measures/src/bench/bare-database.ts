/** A database without the service's layers, for the baseline. */
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import pg from 'pg';

export type BareQuery = <Row extends object>(text: string, values: readonly unknown[]) => Promise<Row[]>;

const INT8 = 20;

export async function openBare(database: { url: string; poolSize: number } | { dataDir: string }): Promise<BareQuery> {
  if ('dataDir' in database) {
    const embedded = await PGlite.create({ dataDir: join(database.dataDir, 'database') });
    const options = { parsers: { [INT8]: Number } };
    return async <Row extends object>(text: string, values: readonly unknown[]) =>
      (await embedded.query<Row>(text, values as unknown[], options)).rows;
  }
  pg.types.setTypeParser(INT8, Number);
  const pool = new pg.Pool({ connectionString: database.url, max: database.poolSize });
  const names = new Map<string, string>();
  return async <Row extends object>(text: string, values: readonly unknown[]) => {
    const name = names.get(text) ?? `bare_${names.size}`;
    names.set(text, name);
    return (await pool.query<Row>({ name, text, values: values as unknown[] })).rows;
  };
}
