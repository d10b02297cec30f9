import { Prisma } from '../../generated/prisma/client.ts';
import { type Rows, TABLES } from '../../generated/rows.ts';
import { fieldOf } from './sql-runner.ts';

export type { Rows } from '../../generated/rows.ts';

export type Model = keyof Rows;

/** Chosen columns of one table: for a SELECT list or RETURNING, and through `RowOf` the type of the row that comes back. */
export interface Columns<M extends Model, F extends keyof Rows[M]> {
  readonly model: M;
  readonly fields: readonly F[];
  /** `of('k')` is `k.id, k.user_id`; without an alias `id, user_id`. */
  of(alias?: string): string;
}

/** The row that `Columns` read: `type TicketRow = RowOf<typeof TICKET>`. */
export type RowOf<C> = C extends Columns<infer M, infer F> ? Pick<Rows[M], F> : never;

/**
 * Chooses columns by the names of their Prisma fields, so that a renamed field is a compile error at each use.
 * @example const TICKET = columns('Ticket', ['id', 'userId']);
 *   db.sql<RowOf<typeof TICKET>>(`SELECT ${TICKET.of('k')} FROM tickets k`)
 */
export function columns<M extends Model, const F extends keyof Rows[M] & string>(model: M, fields: readonly F[]): Columns<M, F> {
  const names = fields.map((field) => columnOf(model, field));
  return {
    model,
    fields,
    of: (alias) => (alias === undefined ? names : names.map((name) => `${alias}.${name}`)).join(', '),
  };
}

/** Every column of a table. */
export function allColumns<M extends Model>(model: M): Columns<M, keyof Rows[M] & string> {
  return columns(model, Object.keys(TABLES[model].columns) as (keyof Rows[M] & string)[]);
}

/** The column of a field, for a condition or an order that is composed. */
export function columnOf<M extends Model>(model: M, field: keyof Rows[M] & string): string {
  return (TABLES[model].columns as Record<string, string>)[field]!;
}

/**
 * A row that was read nested, as JSON of the table's columns (`to_jsonb(m)`, `json_agg(p)`): fields by their Prisma names, timestamps as
 * `Date`.
 * @param json null where the outer join found nothing
 */
export function nestedRow<M extends Model>(model: M, json: object): Rows[M];
export function nestedRow<M extends Model>(model: M, json: object | null): Rows[M] | null;
export function nestedRow<M extends Model>(model: M, json: object | null): Rows[M] | null {
  if (json === null) return null;
  const times: readonly string[] = TABLES[model].times;
  const row: Record<string, unknown> = {};
  for (const [column, value] of Object.entries(json)) {
    const field = fieldOf(column);
    row[field] = typeof value === 'string' && times.includes(field) ? timestampOfJson(value) : value;
  }
  return row as Rows[M];
}

/** A row of Prisma Client in the form of `Rows`: int8 as number, numeric as text, words and JSON under their narrower types. */
export function plainRow<M extends Model, R extends object>(
  _model: M,
  row: R,
): { [F in keyof R]: F extends keyof Rows[M] ? Rows[M][F] : R[F] } {
  const plain: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(row)) {
    plain[field] = typeof value === 'bigint' ? Number(value) : Prisma.Decimal.isDecimal(value) ? value.toString() : value;
  }
  return plain as { [F in keyof R]: F extends keyof Rows[M] ? Rows[M][F] : R[F] };
}

const YEAR_DIGITS = 4;

/** The timestamp that the database wrote into JSON; it writes years above 9999 without the sign that JavaScript expects. */
export function timestampOfJson(text: string): Date {
  const digits = text.indexOf('-');
  return new Date(digits <= YEAR_DIGITS ? text : `+${text.slice(0, digits).padStart(6, '0')}${text.slice(digits)}`);
}
