/**
 * One statement of node-postgres whose rows come as objects under the names of the fields. The driver's own query copies its options
 * descriptor by descriptor and builds parsers and an empty row for each answer; here they are made once for a text.
 */
import pg from 'pg';
import { type RowShape, rowShape } from './row-objects.ts';

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

export interface RowStatement {
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
  /** The driver gives it to `done` in place of an answer. */
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
