/** Databases of the existing product, as `tests/fixtures/import-source/make-source.mjs` makes them, in each form that an import reads. */
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gzipSync } from 'node:zlib';
import type { App } from '../../src/core/app.ts';
import { type ImportSource, valuesOfLine } from '../../src/domain/import/import-source.ts';
import { type FinishedPass, type RunOptions, runImport } from '../../src/domain/import/run-import.ts';
import { openPostgresSource } from '../../src/integrations/import-sources/postgres-source.ts';
import { tarOf } from './tar-members.ts';
import { TestClock, testApp } from './test-app.ts';
import { freshDatabase, type TestDatabase } from './test-database.ts';

const root = join(import.meta.dirname, '..', '..');

/** What the generator says of the database that it has made. */
export interface MadeSource {
  revision: string;
  source_rows: Record<string, number>;
  kept_rows: Record<string, number>;
  parked_rows: Record<string, number>;
  added_rows: Record<string, number>;
  /** Rows of which columns without a place were kept aside, by table. */
  parked_columns?: Record<string, number>;
  /** Deviations by code. */
  issues: Record<string, number>;
  home_or_parked: string[];
  sums: {
    opening_kopeks: number;
    users_with_balance: number;
    transactions_by_type: Record<string, number>;
    payments_by_method: Record<string, number>;
    payments_by_outcome: Record<string, number>;
    ledger_history_kopeks_by_type: Record<string, number>;
    referral_earned_kopeks: number;
    subscriptions_by_status: Record<string, number>;
    live_subscriptions: number;
    traffic_used_gb_times_1000: number;
  };
  credentials: {
    passwords: { user_id: number; email: string; password: string }[];
    api_tokens: { token: string; works_with: Record<string, string>; active: boolean }[];
    refresh_tokens: { user_id: number; token: string }[];
  };
  refused_without?: string[];
  /** What ADMIN_EMAILS has to name. */
  admin_emails?: string[];
  /** Users by the form of their link to the panel. */
  panel_links?: { number: number; uuid: number; none: number };
  several_subscriptions?: {
    users: number;
    subscriptions: number;
    days: number;
    kopeks: number;
    without_price: number;
    list: { user_id: number; subscription_id: number; days: number; kopeks: number | null }[];
  };
}

/** Fills an empty PostgreSQL database. */
export async function makeSource(url: string, words: readonly string[] = []): Promise<MadeSource> {
  const program = join(root, 'tests', 'fixtures', 'import-source', 'make-source.mjs');
  const child = spawn(process.execPath, [program, url, ...words], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (out += chunk));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  if (code !== 0) throw new Error(`make-source ended with ${code}: ${err}`);
  return JSON.parse(out) as MadeSource;
}

/** The text of all rows of a source, as pg_dump writes them. */
async function dumpOf(source: ImportSource): Promise<Buffer> {
  const parts: Buffer[] = [
    Buffer.from(
      '--\n-- PostgreSQL database dump\n--\n\nSET statement_timeout = 0;\n\nCREATE TABLE public.users (\n    id integer\n);\n\n',
    ),
  ];
  for await (const { table, lines } of source.contents()) {
    const columns = table.columns.map(({ name }) => (name === 'interval' ? '"interval"' : name)).join(', ');
    parts.push(Buffer.from(`COPY public.${table.name} (${columns}) FROM stdin;\n`));
    for await (const chunk of lines()) parts.push(chunk);
    parts.push(Buffer.from('\\.\n\n\n'));
  }
  parts.push(Buffer.from('ALTER TABLE ONLY public.users ADD CONSTRAINT users_pkey PRIMARY KEY (id);\n'));
  return Buffer.concat(parts);
}

/** A backup archive of the bot with all rows of a source. */
export async function writeArchive(source: ImportSource, path: string, members: [string, Buffer][] = []): Promise<void> {
  const metadata = { format_version: '2.0', timestamp: source.snapshotAt.toISOString(), database: { format: 'sql' } };
  const archive = tarOf([
    ['metadata.json', Buffer.from(JSON.stringify(metadata))],
    ['database.sql', await dumpOf(source)],
    ...members,
  ]);
  await writeFile(path, /gz$/.test(path) ? gzipSync(archive) : archive);
}

/** What such a backup leaves out; it says no revision, either. */
export const NOT_IN_JSON = [
  ...['landing_pages', 'guest_purchases', 'riopay_payments', 'severpay_payments', 'saved_payment_methods', 'email_templates'],
  'alembic_version',
];

/** A backup archive as the bot makes it without pg_dump: rows as JSON, columns of json as texts, times with a T. */
export async function writeJsonArchive(source: ImportSource, path: string): Promise<void> {
  const data: Record<string, Record<string, unknown>[]> = {};
  for await (const { table, lines } of source.contents()) {
    const rows: Record<string, unknown>[] = [];
    for await (const chunk of lines())
      for (const line of chunk.toString('utf8').split('\n').slice(0, -1))
        rows.push(
          Object.fromEntries(
            valuesOfLine(line).map((value, at) => [table.columns[at]!.name, jsonValue(value, table.columns[at]!.family)]),
          ),
        );
    if (!NOT_IN_JSON.includes(table.name)) data[table.name] = rows;
  }
  const timestamp = source.snapshotAt.toISOString();
  const archive = tarOf([
    ['metadata.json', Buffer.from(JSON.stringify({ format_version: '2.0', timestamp, database: { format: 'json' } }))],
    ['database.json', Buffer.from(JSON.stringify({ metadata: { version: 'orm-1.0', timestamp }, data, associations: {} }))],
  ]);
  await writeFile(path, /gz$/.test(path) ? gzipSync(archive) : archive);
}

function jsonValue(value: string | null, family: string | null): unknown {
  if (value === null) return null;
  if (family === 'boolean') return value === 't';
  if (family === 'integer' || family === 'number') return Number(value);
  return family === 'time' ? value.replace(' ', 'T').replace(/\+00$/, '+00:00') : value;
}

const TYPES: Readonly<Record<string, string>> = {
  integer: 'INTEGER',
  number: 'FLOAT',
  text: 'VARCHAR(255)',
  boolean: 'BOOLEAN',
  time: 'DATETIME',
  json: 'JSON',
  other: 'BLOB',
};

/** A SQLite file with all rows of a source, loosely typed as the bot's are: booleans are 0 and 1, times are texts without a zone. */
export async function writeSqlite(source: ImportSource, path: string): Promise<void> {
  const database = new DatabaseSync(path);
  for await (const { table, lines } of source.contents()) {
    const columns = table.columns.map(({ name, family }) => `"${name}" ${TYPES[family!]}`).join(', ');
    database.exec(`CREATE TABLE "${table.name}" (${columns}); BEGIN`);
    const insert = database.prepare(`INSERT INTO "${table.name}" VALUES (${table.columns.map(() => '?').join(', ')})`);
    for await (const chunk of lines()) {
      for (const line of chunk.toString('utf8').split('\n').slice(0, -1)) {
        const values = valuesOfLine(line).map((value, at) => looseValue(value, table.columns[at]!.family));
        insert.run(...values);
      }
    }
    database.exec('COMMIT');
  }
  database.close();
}

function looseValue(value: string | null, family: string | null): string | number | bigint | null {
  if (value === null) return null;
  if (family === 'boolean') return value === 't' ? 1 : 0;
  if (family === 'integer') return BigInt(value);
  return family === 'time' ? value.replace(/\+00$/, '') : value;
}

/** The time of the databases that tests make, and of the services into which they are imported. */
export const SOURCE_TIME = new Date('2026-11-28T09:00:00Z');

/** A service that nobody has used, at the time of the source, or one on a copy of the database at an address. */
export async function anEmptyService(copyOf?: string): Promise<{ app: App; database: TestDatabase; drop: () => Promise<void> }> {
  const database = await freshDatabase(copyOf === undefined ? {} : { copyOf });
  const clock = new TestClock();
  clock.set(SOURCE_TIME);
  return { app: (await testApp({ database, clock })).app, database, drop: () => database.drop() };
}

/** @param at the time of the snapshot */
export async function readSource<T>(url: string, at: Date, work: (source: ImportSource) => Promise<T>): Promise<T> {
  const source = await openPostgresSource(url, at);
  try {
    return await work(source);
  } finally {
    await source.close();
  }
}

/** Of an import without a word; databases of newer releases need the two choices. */
export const IMPORT_OPTIONS: RunOptions = {
  isDryRun: false,
  isDelta: false,
  restarts: false,
  withLogs: false,
  subscriptions: 'keep-latest',
  providerSubscriptions: 'leave',
  negative: 'list',
  acceptIncomplete: false,
  serviceVersion: '0.1.0',
  throttle: null,
  progress: () => undefined,
  position: () => undefined,
};

/** @param at the time of the snapshot */
export function importFrom(app: App, url: string, options: Partial<RunOptions> = {}, at = SOURCE_TIME): Promise<FinishedPass> {
  return readSource(url, at, (source) => runImport(app, source, { ...IMPORT_OPTIONS, ...options }));
}
