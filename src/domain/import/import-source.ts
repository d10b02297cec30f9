/** What a column holds; null where the source does not say, as in a backup archive. */
export type ColumnFamily = 'integer' | 'number' | 'text' | 'boolean' | 'time' | 'json' | 'other' | null;

export interface SourceTable {
  name: string;
  /** In the order of the values of a line. */
  columns: readonly { name: string; family: ColumnFamily }[];
}

/** The rows of one table: read by `lines` or by `count`, once. */
export interface TableContent {
  table: SourceTable;
  /**
   * Chunks of whole lines in the text form of COPY: a line a row, values separated by tabs, `\N` for NULL, backslash escapes. Times are in UTC
   * where the source knows a zone.
   */
  lines(): AsyncIterable<Buffer>;
  count(): Promise<number>;
}

/** A database of the existing product, read only, all tables as of one time (spec 07 section 1). */
export interface ImportSource {
  kind: 'postgresql' | 'sqlite' | 'archive';
  /** When its rows were read, or the backup was made. */
  snapshotAt: Date;
  /** It leaves out tables, knows none without rows, and does not say its revision (spec 07 section 1.2). */
  isIncomplete?: true;
  tables: ReadonlyMap<string, SourceTable>;
  /** Every table, in an order of the source; what is not read is skipped. */
  contents(): AsyncIterable<TableContent>;
  /** Rows by table, about: what a progress is measured by. */
  expectedRows(): Promise<ReadonlyMap<string, number>>;
  /** The last id that the source has given in each table, by its sequences; a table is left out where the source does not say. */
  lastIds(): Promise<ReadonlyMap<string, number>>;
  close(): Promise<void>;
}

export type RefusalCode =
  | 'source_not_found'
  | 'source_unreadable'
  | 'source_too_old'
  | 'source_revision_unknown'
  | 'source_schema_damaged'
  | 'source_sqlite_too_old'
  | 'source_in_use'
  | 'backup_incomplete'
  | 'source_has_multiple_subscriptions'
  | 'source_has_provider_subscriptions'
  | 'source_has_negative_balances'
  | 'target_too_small'
  | 'target_locks_too_few'
  | 'unmapped_value'
  | 'target_not_empty'
  | 'target_changed'
  | 'options_changed'
  | 'no_earlier_pass'
  | 'import_running';

/** The source cannot be imported as it is: one sentence says what, one what to do. Exit code 2. */
export class ImportRefused extends Error {
  readonly code: RefusalCode;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    code: RefusalCode,
    what: string,
    { details = {}, cause }: { details?: Readonly<Record<string, unknown>>; cause?: unknown } = {},
  ) {
    super(what, { cause });
    this.name = 'ImportRefused';
    this.code = code;
    this.details = details;
  }
}

const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

/** One value of a line of COPY; null for `\N`. */
function valueOfText(text: string): string | null {
  if (text === '\\N') return null;
  return text.includes('\\') ? text.replace(/\\(.)/gs, (_escape, letter: string) => ESCAPES[letter] ?? letter) : text;
}

/** The values of a line in the text form of COPY. */
export function valuesOfLine(line: string): (string | null)[] {
  return line.split('\t').map(valueOfText);
}

const SPECIAL = /[\\\b\f\n\r\t\v]/g;
const LETTERS: Readonly<Record<string, string>> = {
  ...{ '\\': '\\\\', '\b': '\\b', '\f': '\\f', '\n': '\\n', '\r': '\\r', '\t': '\\t', '\v': '\\v' },
};

/** A line in the text form of COPY, with its end. */
export function lineOfValues(values: readonly (string | null)[]): string {
  const texts = values.map((value) => (value === null ? '\\N' : value.replace(SPECIAL, (letter) => LETTERS[letter]!)));
  return `${texts.join('\t')}\n`;
}

const NEWLINE = 0x0a;

/** How many lines a chunk of whole lines has. */
export function linesIn(chunk: Buffer): number {
  let lines = 0;
  for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) lines += 1;
  return lines;
}

/** The rows of a table as objects, with the named columns only; a column that the source does not have is null. */
export async function* rowsOf<Column extends string>(
  content: TableContent,
  columns: readonly Column[],
): AsyncGenerator<Record<Column, string | null>> {
  const places = columns.map((name) => content.table.columns.findIndex((column) => column.name === name));
  for await (const chunk of content.lines()) {
    // The last line has an end too, so what follows it is no row.
    for (const line of chunk.toString('utf8').split('\n').slice(0, -1)) {
      const values = valuesOfLine(line);
      const entries = columns.map((name, at) => [name, values[places[at]!] ?? null]);
      yield Object.fromEntries(entries) as Record<Column, string | null>;
    }
  }
}

/** The latest time that is kept, in ms; a later one, and `infinity`, count as this one (spec 07 section 3). */
export const LAST_TIME = new Date('2099-12-31T23:59:59Z').getTime();

/** A time of a source in ms: with a zone, or without one in UTC. Null where it is none. */
export function timestampOf(text: string | null): number | null {
  if (text === null) return null;
  if (text === 'infinity') return LAST_TIME;
  const iso = text.trim().replace(' ', 'T');
  const hasZone = /(?:Z|[+-]\d{2}(?::?\d{2})?)$/.test(iso.slice(10));
  const zoned = hasZone ? iso.replace(/([+-]\d{2})$/, '$1:00') : `${iso.length === 10 ? `${iso}T00:00` : iso}Z`;
  const ms = new Date(zoned).getTime();
  return Number.isNaN(ms) ? null : ms;
}
