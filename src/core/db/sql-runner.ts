import type { PGliteInterface, Transaction } from '@electric-sql/pglite';
import type { ClientBase, Pool } from 'pg';
import pg from 'pg';
import type { SqlRunner } from './db.ts';
import { refuseInsideTransaction } from './root-guard.ts';
import { toObjects } from './row-objects.ts';

const INT8 = 20;
const NUMERIC = 1700;
const textOf = (value: string) => value;

/** int8 as number (our ids and kopeks stay below 2^53), numeric as text, everything else as node-postgres does. */
const serverTypes = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (oid === INT8) return Number;
    if (oid === NUMERIC) return textOf;
    return pg.types.getTypeParser(oid, format as 'text');
  }) as typeof pg.types.getTypeParser,
};

export interface SqlOnBoth<Connection> {
  root: SqlRunner;
  /** Inside a transaction. */
  on: (connection: Connection) => SqlRunner;
}

/** Plain SQL on a server, on the pool and on a transaction's connection, as prepared statements with these names. */
export function serverSql(pool: Pool, nameOf: (text: string) => string): SqlOnBoth<ClientBase> {
  const runnerOn =
    (target: Pool | ClientBase): SqlRunner =>
    async <Row extends object>(text: string, values: readonly unknown[] = []) => {
      const statement = { name: nameOf(text), text, values: values as unknown[], types: serverTypes, rowMode: 'array' } as const;
      const { fields, rows } = await target.query(statement);
      return toObjects<Row>(fields, rows);
    };
  return { root: guardedRoot(runnerOn(pool)), on: runnerOn };
}

/** Plain SQL on one connection, planned anew for each statement with the values that it has. */
export function unnamedSql(client: ClientBase): SqlRunner {
  return async <Row extends object>(text: string, values: readonly unknown[] = []) => {
    const { fields, rows } = await client.query({
      text,
      values: values as unknown[],
      types: serverTypes,
      rowMode: 'array',
    } as const);
    return toObjects<Row>(fields, rows);
  };
}

/**
 * What `serverTypes` is on a server. The embedded database is opened with them: given with a query, they would be merged with its own
 * five hundred for each statement, which is a tenth of its processor time.
 */
export const EMBEDDED_PARSERS = { [INT8]: Number, [NUMERIC]: textOf };

/** Plain SQL on the embedded database, which was opened with `EMBEDDED_PARSERS`. */
export function embeddedSql(database: PGliteInterface): SqlOnBoth<Transaction> {
  const runnerOn =
    (target: PGliteInterface | Transaction): SqlRunner =>
    async <Row extends object>(text: string, values: readonly unknown[] = []) => {
      const options = { rowMode: 'array' } as const;
      const { fields, rows } = await target.query<unknown[]>(text, values as unknown[], options);
      return toObjects<Row>(fields, rows);
    };
  return { root: guardedRoot(runnerOn(database)), on: runnerOn };
}

function guardedRoot(sql: SqlRunner): SqlRunner {
  return async (text, values) => {
    refuseInsideTransaction('sql');
    return sql(text, values);
  };
}
