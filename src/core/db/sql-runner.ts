import type { PGliteInterface, Transaction } from '@electric-sql/pglite';
import pg, { type ClientBase, type Pool } from 'pg';
import { camelCase } from '../camel-case.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import type { SqlRunner } from './db.ts';
import { refuseInsideTransaction } from './root-guard.ts';
import { timestampOf } from './timestamps.ts';
import { tracedSql } from './traced-statements.ts';

const INT8 = 20;
const NUMERIC = 1700;
const TIMESTAMPTZ = 1184;
const textOf = (value: string) => value;

/** int8 as number (our ids and kopeks stay below 2^53), numeric as text, everything else as node-postgres does. */
function parserOf(type: number): (text: string) => unknown {
  if (type === INT8) return Number;
  if (type === NUMERIC) return textOf;
  if (type === TIMESTAMPTZ) return timestampOf;
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

/** The part of a pool and of a connection that accepts a `RowQuery`; the types of the driver leave it out. */
interface RowTarget {
  query(query: RowQuery<object>, done: (error: Error | null | undefined) => void): void;
}

/** @param nameOf returns the name of the prepared statement of a text, empty = unnamed */
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

/** Plain SQL on one connection, planned for each statement with the values that it has. */
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

// One statement of node-postgres whose rows come as objects under the names of the fields. The driver's own query copies its options
// descriptor by descriptor and builds parsers and an empty row for each answer; here they are made once for a text.

/** A column as the server describes it. */
interface Column {
  readonly name: string;
  readonly dataTypeID: number;
  readonly format: 'text' | 'binary';
}

type Parse = (text: string) => unknown;

interface Shape extends RowShape {
  readonly columns: readonly Column[];
  readonly parsers: readonly Parse[];
}

/** By text; bounded, because lists with optional conditions have many texts. */
const shapes = new Map<string, Shape>();
const MAX_SHAPES = 1_000;

function shapeOf(text: string, columns: readonly Column[], parserOf: (type: number) => Parse): Shape {
  const known = shapes.get(text);
  // A migration may change the type of a column under the same text.
  if (known !== undefined && isSame(known.columns, columns)) return known;
  const shape = { columns, parsers: columns.map(({ dataTypeID }) => parserOf(dataTypeID)), ...rowShape(columns) };
  if (known !== undefined || shapes.size < MAX_SHAPES) shapes.set(text, shape);
  return shape;
}

function isSame(one: readonly Column[], other: readonly Column[]): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at++) {
    if (one[at]!.dataTypeID !== other[at]!.dataTypeID || one[at]!.name !== other[at]!.name) return false;
  }
  return true;
}

interface RowStatement {
  /** Name of the prepared statement; empty = unnamed. */
  name: string;
  text: string;
  values: readonly unknown[];
  /** Reads the server's text of a type. */
  parserOf: (type: number) => Parse;
}

/** For `query(statement, done)` of a pool or a connection. The driver calls its methods, which its types leave out. */
export class RowQuery<Row extends object> extends pg.Query {
  /** Complete when `done` is called. */
  readonly found: Row[] = [];
  readonly #statement: RowStatement;
  #shape: Shape | null = null;
  /** The driver passes it to `done` in place of an answer. */
  _canceledDueToError: unknown;

  constructor(statement: RowStatement) {
    super(statement.text, statement.values as unknown[]);
    Object.assign(this, { name: statement.name });
    this.#statement = statement;
  }

  /** With values or without: always the extended protocol, so that a name counts. */
  requiresPreparation(): boolean {
    return true;
  }

  handleRowDescription({ fields }: { fields: readonly Column[] }): void {
    this.#shape = shapeOf(this.#statement.text, fields, this.#statement.parserOf);
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    if (this._canceledDueToError) return;
    const { keys, blank, parsers } = this.#shape!;
    const row: Record<string, unknown> = { ...blank };
    try {
      for (let at = 0; at < fields.length; at++) {
        const text = fields[at]!;
        if (text !== null) row[keys[at]!] = parsers[at]!(text);
      }
    } catch (error) {
      this._canceledDueToError = error;
      return;
    }
    this.found.push(row as Row);
  }
}

const MAX_NAMES = 10_000;

/** Bounded, because statements with dynamic aliases can produce any number of column names. */
const names = new Map<string, string>();

/** The Prisma field of a column: `user_id` is `userId`. A name that is not snake_case stays as it is. */
export function fieldOf(column: string): string {
  const known = names.get(column);
  if (known !== undefined) return known;
  const field = camelCase(column);
  if (names.size < MAX_NAMES) names.set(column, field);
  return field;
}

/** What all rows of one result have in common. */
interface RowShape {
  readonly keys: readonly string[];
  /** Every field with null; copies of it are objects of one shape. */
  readonly blank: Readonly<Record<string, unknown>>;
}

function rowShape(columns: readonly { readonly name: string }[]): RowShape {
  const keys = columns.map((column) => fieldOf(column.name));
  const blank: Record<string, unknown> = {};
  for (const key of keys) blank[key] = null;
  return { keys, blank };
}

/** Rows of a driver's array mode as objects under the fields' names. */
function toObjects<Row extends object>(fields: readonly { name: string }[], rows: readonly unknown[][]): Row[] {
  const { keys, blank } = rowShape(fields);
  return rows.map((values) => {
    const row = { ...blank };
    for (let at = 0; at < keys.length; at++) row[keys[at]!] = values[at];
    return row as Row;
  });
}
