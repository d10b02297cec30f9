import { JSONParser } from '@streamparser/json';
import { lineOfValues } from '../../domain/import/import-source.ts';

/** A table of such a file: the columns that its rows have. */
export interface JsonTable {
  columns: Set<string>;
  rows: number;
}

type Found = { table: string | null; value: Record<string, unknown> };

/** Each row of `{ metadata, data: { table: [row] }, associations: { table: [row] } }`, and the metadata, of which `table` is null. */
async function* valuesOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<Found[]> {
  const parser = new JSONParser({ paths: ['$.metadata', '$.data.*.*', '$.associations.*.*'], keepStack: false });
  let found: Found[] = [];
  parser.onValue = ({ value, stack }) => {
    found.push({ table: stack.length > 1 ? String(stack[2]?.key) : null, value: value as Found['value'] });
  };
  for await (const chunk of bytes) {
    parser.write(chunk);
    yield found;
    found = [];
  }
  if (!parser.isEnded) throw new Error('the file ends in the middle');
}

/** What can be known of the file by reading all of it once. */
export async function readJsonTables(bytes: AsyncIterable<Buffer>): Promise<{ madeAt: unknown; tables: Map<string, JsonTable> }> {
  const tables = new Map<string, JsonTable>();
  let [last, madeAt]: [string | null, unknown] = [null, null];
  for await (const found of valuesOf(bytes))
    for (const { table, value } of found) {
      if (table === null) madeAt = value.timestamp;
      else {
        if (table !== last && tables.has(table)) throw new Error(`the table ${table} is in it twice`);
        const known = tables.get(table) ?? { columns: new Set(), rows: 0 };
        for (const name of Object.keys(value)) known.columns.add(name);
        known.rows += 1;
        tables.set(table, known);
        last = table;
      }
    }
  for (const [table, { columns }] of tables)
    for (const name of [table, ...columns])
      if (!/^\w{1,63}$/.test(name)) throw new Error('a name of it is none of a table or column');
  return { madeAt, tables };
}

/** The file as a dump of COPY blocks: its rows are read by what reads such dumps. */
export async function* dumpOfJson(bytes: AsyncIterable<Buffer>, tables: ReadonlyMap<string, JsonTable>): AsyncGenerator<Buffer> {
  let open: string | null = null;
  for await (const found of valuesOf(bytes)) {
    const lines: string[] = [];
    for (const { table, value } of found) {
      if (table === null) continue;
      const columns = [...tables.get(table)!.columns];
      if (table !== open) lines.push(open === null ? '' : '\\.\n', `COPY public.${table} (${columns.join(', ')}) FROM stdin;\n`);
      open = table;
      lines.push(lineOfValues(columns.map((name) => textOf(value[name]))));
    }
    if (lines.length > 0) yield Buffer.from(lines.join(''));
  }
  if (open !== null) yield Buffer.from('\\.\n');
}

/** PostgreSQL's text of a value; a column of json is a text already. */
function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'boolean') return value ? 't' : 'f';
  return (typeof value === 'object' ? JSON.stringify(value) : String(value)).replaceAll('\0', '');
}
