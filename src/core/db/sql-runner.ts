import type { PGliteInterface, Transaction } from '@electric-sql/pglite';
import type { ClientBase, Pool } from 'pg';
import pg from 'pg';
import type { Tracing } from '../telemetry/tracing.ts';
import type { SqlRunner } from './db.ts';
import { momentOf } from './moments.ts';
import { refuseInsideTransaction } from './root-guard.ts';
import { toObjects } from './row-objects.ts';
import { RowQuery } from './row-query.ts';
import { tracedSql } from './traced-statements.ts';

const INT8 = 20;
const NUMERIC = 1700;
const TIMESTAMPTZ = 1184;
const textOf = (value: string) => value;

/** int8 as number (our ids and kopeks stay below 2^53), numeric as text, everything else as node-postgres does. */
function parserOf(type: number): (text: string) => unknown {
  if (type === INT8) return Number;
  if (type === NUMERIC) return textOf;
  if (type === TIMESTAMPTZ) return momentOf;
  return pg.types.getTypeParser(type, 'text');
}

/** The same SQL with its statements as spans; as it is while nothing is traced. */
export function traced<Connection>(sql: SqlOnBoth<Connection>, tracing: Tracing | undefined): SqlOnBoth<Connection> {
  if (!tracing?.isOn) return sql;
  return { root: tracedSql(sql.root, tracing), on: (connection) => tracedSql(sql.on(connection), tracing) };
}

export interface SqlOnBoth<Connection> {
  root: SqlRunner;
  /** Inside a transaction. */
  on: (connection: Connection) => SqlRunner;
}

/** The part of a pool and of a connection that takes a `RowQuery`; the types of the driver leave it out. */
interface RowTarget {
  query(query: RowQuery<object>, done: (error: Error | null | undefined) => void): void;
}

/** @param nameOf gives the name of the prepared statement of a text, empty = unnamed */
function runnerOn(target: RowTarget, nameOf: (text: string) => string): SqlRunner {
  return async <Row extends object>(text: string, values: readonly unknown[] = []) => {
    const query = new RowQuery<Row>({ name: nameOf(text), text, values, parserOf });
    try {
      await new Promise<void>((resolve, reject) => target.query(query, (error) => (error ? reject(error) : resolve())));
    } catch (error) {
      // The driver's stack ends at the socket; this one names who asked.
      if (error instanceof Error) Error.captureStackTrace(error);
      throw error;
    }
    return query.found;
  };
}

/** Plain SQL on a server, on the pool and on a transaction's connection, as prepared statements with these names. */
export function serverSql(pool: Pool, nameOf: (text: string) => string): SqlOnBoth<ClientBase> {
  const on = (target: unknown) => runnerOn(target as RowTarget, nameOf);
  return { root: guardedRoot(on(pool)), on };
}

/** Plain SQL on one connection, planned anew for each statement with the values that it has. */
export function unnamedSql(client: ClientBase): SqlRunner {
  return runnerOn(client as unknown as RowTarget, () => '');
}

/**
 * What `parserOf` is on a server. The embedded database is opened with them: given with a query, they would be merged with its own
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
