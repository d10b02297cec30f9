import fc from 'fast-check';
import type { Db, SqlRunner } from '../../src/core/db/db.ts';
import { listTables } from '../../src/domain/backups/repo.ts';
import { insertStatement, publicRelation } from '../../src/domain/backups/row-format.ts';
import { readLines } from '../../src/domain/backups/snapshot.ts';
import type { ColumnShape } from '../../src/domain/backups/types.ts';

/** Copies of tables, without keys and constraints, with extreme and random values of every type of column that the schema has. */
const PREFIX = 'probe_';
/** Types that no column has so far. */
const OTHER_TYPES = [
  'timestamp(6) without time zone',
  'integer[]',
  'text[]',
  'interval',
  'numeric',
  'real',
  'inet',
  'time(6) without time zone',
];
const ROWS = 8;

type Values = fc.Arbitrary<string>;
const oneOf = (...values: string[]): Values => fc.constantFrom(...values);
const TIMESTAMPS = oneOf(
  ...['2026-02-28 23:59:59.999999+00', '1900-01-01 00:00:00.000001+00', '2026-10-25 01:30:00.5+00', 'infinity', '-infinity'],
  ...['0044-03-15 12:00:00+00 BC', '0001-01-01 00:00:00+00', '9999-12-31 23:59:59.999999+00', '294275-12-31 23:59:59.999999+00'],
);
const DOCUMENTS = fc.oneof(
  oneOf(
    ...['null', '"null"', '0', '""', '[]', '{}', '{"$json":null}', '["$json"]', '"$json"', '{"$json":{"$json":1},"b":2}', 'true'],
    ...[
      '12345678901234567890.10',
      '1e300',
      '-0.000',
      '{"a":[1,2.50,null,{"b":"\\\\u0000 \\\\ud800"}]}',
      '"line\\nbreak \\u2028 \\ud83d\\ude00"',
    ],
  ),
  fc.json().filter((text) => !/\\u(?:0000|d[89a-f])/i.test(text) && text.isWellFormed()),
);
const TEXTS = fc.oneof(
  oneOf(
    '',
    ' ',
    'null',
    'NULL',
    '\\u0000',
    '\\ud800',
    '\\',
    '"',
    "'",
    '{"a":1}',
    '\t\r\n',
    '\u0001\u007f',
    '\u2028',
    '😀ё',
    '$json',
    '\\N',
  ),
  fc.string({ unit: 'binary', maxLength: 30 }).map((text) => text.replaceAll('\0', '')),
);
const VALUES: Readonly<Record<string, Values>> = {
  boolean: oneOf('t', 'f'),
  smallint: oneOf('-32768', '32767'),
  integer: oneOf('-2147483648', '2147483647', '0'),
  bigint: oneOf('-9223372036854775808', '9223372036854775807', '9007199254740993'),
  'double precision': oneOf('NaN', 'Infinity', '-Infinity', '-0', '5e-324', '1.7976931348623157e308', '0.30000000000000004'),
  real: oneOf('NaN', '-Infinity', '3.4028235e38', '0.1', '1e-45'),
  numeric: oneOf('NaN', 'Infinity', `1${'0'.repeat(300)}.${'0'.repeat(20)}1`, '0.00', '-1.10'),
  'numeric(5,2)': oneOf('NaN', '999.99', '-0.01', '0.00'),
  'numeric(24,10)': oneOf('NaN', '99999999999999.9999999999', '0.0000000001'),
  uuid: fc.uuid(),
  date: oneOf('2026-02-28', 'infinity', '-infinity', '0044-03-15 BC', '5874897-12-31'),
  interval: oneOf('1 mon -1 days +02:03:04.000005', '-178000000 years', '0'),
  inet: oneOf('10.1.2.3/8', '::ffff:1.2.3.4', 'fe80::1/64'),
  'time(6) without time zone': oneOf('24:00:00', '00:00:00.000001'),
  'integer[]': oneOf('{}', '{NULL,1,-2}', '{{1,2},{3,4}}'),
  'text[]': oneOf('{}', '{NULL,"NULL","a,b","{}","\\"",""}', '{{"a","b"},{"c",NULL}}', '{"\\\\u0000","line\nbreak"}'),
  jsonb: DOCUMENTS,
  json: fc.oneof(DOCUMENTS, oneOf('{"a" : 1,\n\t"a":\r"\\u0000 \\ud800"}', ' 1 ', '"\\u0041"', '[1.0,1.00,1e2]')),
  bytea: fc.oneof(
    oneOf('\\x', '\\x000a5c22ff'),
    fc.uint8Array({ maxLength: 90 }).map((bytes) => `\\x${Buffer.from(bytes).toString('hex')}`),
  ),
};

function valuesOf({ name, type, nullable }: ColumnShape): fc.Arbitrary<string | null> {
  const [, length] = /^character(?: varying)?\((\d+)\)$/.exec(type) ?? [];
  const isText = length !== undefined || type === 'text';
  const isTimestamp = /^timestamp(?:\(\d\))? with(?:out)? time zone$/.test(type);
  const values = isText
    ? TEXTS.map((text) => [...text].slice(0, Number(length ?? 1_000)).join(''))
    : isTimestamp
      ? TIMESTAMPS
      : VALUES[type];
  if (!values)
    throw new Error(`no values for the type ${type} of ${name}: add them, and see whether row-format.ts writes it exactly`);
  return nullable ? fc.option(values, { freq: 4 }) : values;
}

interface Probe {
  table: string;
  columns: ColumnShape[];
  primaryKey: string[];
  rows: (string | null)[][];
}

async function probesOf(sql: SqlRunner, seed: number): Promise<Probe[]> {
  const others = OTHER_TYPES.map((type, at) => ({ name: `c${at}`, type, nullable: true }));
  const id = { name: 'id', type: 'integer', nullable: false };
  const tables = [...(await listTables(sql)), { name: 'other_types', columns: [id, ...others], primaryKey: ['id'] }];
  return tables.map(({ name, columns, primaryKey }) => ({
    table: PREFIX + name,
    columns,
    primaryKey,
    rows: fc.sample(fc.tuple(...columns.map(valuesOf)), { seed, numRuns: ROWS }),
  }));
}

async function create(sql: SqlRunner, { table, columns }: Probe): Promise<void> {
  const list = columns.map(({ name, type }) => `"${name}" ${type}`).join(', ');
  await sql(`CREATE TABLE ${publicRelation(table)} (${list})`);
}

async function fill(sql: SqlRunner, { table, columns, rows }: Probe): Promise<void> {
  const casts = columns.map(({ type }, at) => `$${at + 1}::text::${type}`).join(', ');
  for (const row of rows) await sql(`INSERT INTO ${publicRelation(table)} VALUES (${casts})`, row);
}

/** The rows as the database prints them, which is exact with these settings. */
async function printed(sql: SqlRunner, { table }: Probe): Promise<string[]> {
  const rows = await sql<{ text: string }>(`SELECT p::text AS text FROM ${publicRelation(table)} p`);
  return rows.map(({ text }) => text).sort();
}

async function lines(sql: SqlRunner, { table, columns, primaryKey }: Probe): Promise<string[]> {
  const found: string[] = [];
  for await (const page of readLines(sql, { relation: publicRelation(table), columns, primaryKey, condition: 'true' }))
    found.push(...page);
  return found.sort();
}

const SETTINGS = ["SET LOCAL timezone TO 'UTC'", 'SET LOCAL extra_float_digits TO 1', "SET LOCAL datestyle TO 'ISO, YMD'"];

/** In a transaction that is rolled back. */
async function inProbes<T>(db: Db, probes: readonly Probe[], work: (sql: SqlRunner) => Promise<T>): Promise<T> {
  let result: { value: T } | undefined;
  const undo = new Error('to undo it');
  const run = db.long!.alone((session) =>
    session.write(async (sql) => {
      for (const setting of SETTINGS) await sql(setting);
      for (const probe of probes) await create(sql, probe);
      result = { value: await work(sql) };
      throw undo;
    }),
  );
  await run.catch((error: unknown) => {
    if (error !== undo) throw error;
  });
  return result!.value;
}

/**
 * Writes rows of every table of `source` as lines and inserts the lines into `target`.
 * @returns what the databases print of each table, and their lines
 */
export async function moveProbes(
  source: Db,
  target: Db,
  seed: number,
): Promise<{ from: Record<string, unknown>; to: Record<string, unknown> }> {
  const found = await source.long!.alone((session) => session.snapshot((sql) => probesOf(sql, seed)));
  const probes = found!.result;
  const read = async (sql: SqlRunner) => {
    const contents: Record<string, { rows: string[]; lines: string[] }> = {};
    for (const probe of probes) contents[probe.table] = { rows: await printed(sql, probe), lines: await lines(sql, probe) };
    return contents;
  };
  const from = await inProbes(source, probes, async (sql) => {
    for (const probe of probes) await fill(sql, probe);
    return read(sql);
  });
  const to = await inProbes(target, probes, async (sql) => {
    for (const { table, columns } of probes) {
      // As an archive has them: each line is read alone.
      for (const line of from[table]!.lines) JSON.parse(line);
      await sql(insertStatement(table, columns, { do: 'fail' }), [`[${from[table]!.lines.join(',')}]`]);
    }
    return read(sql);
  });
  return { from, to };
}
