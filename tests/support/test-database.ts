import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import type { Database } from '../../src/core/db/database.ts';
import type { SqlRunner } from '../../src/core/db/db.ts';
import { readSchemaFiles } from '../../src/core/db/migrate.ts';
import { embeddedDatabase, openEmbedded } from '../../src/core/db/open-embedded.ts';
import { openPostgres } from '../../src/core/db/open-postgres.ts';
import type { WaitLimits } from '../../src/core/db/open-prisma.ts';
import { EMBEDDED_PARSERS } from '../../src/core/db/sql-runner.ts';
import { createLogger } from '../../src/core/log.ts';
import { abandonable } from './abandoned-tests.ts';

const root = join(import.meta.dirname, '..', '..');
export const migrationsFolder = join(root, 'prisma', 'migrations');
const cacheFolder = join(root, 'node_modules', '.cache', 'test-database');
const log = createLogger({ level: 'silent', format: 'json' });

/** Address of a PostgreSQL server where test databases may be created; unset = the embedded database. */
export const serverUrl = process.env.TEST_DATABASE_URL || null;

/** Address of a pooler of transactions in front of that server, through which the service under test reaches it (`scripts/test-pooler.mjs`). */
export const poolerUrl = process.env.TEST_POOLER_URL || null;

/** Connections of a pool; fewer in the project `service`, whose tests make few requests at once (vitest.config.ts). */
const POOL_SIZE = Number(process.env.TEST_POOL_SIZE ?? 20);

/** In the race tests hundreds of callers share a pool, and on a busy machine they wait long. */
const TEST_LIMITS: WaitLimits = { connectMs: 60_000, beginMs: 60_000, transactionMs: 90_000 };

/** Set for the workers by the process that prepares the template, so that they need not load the jobs of all modules for the key. */
const TEMPLATE_KEY = 'TEST_TEMPLATE_KEY';

async function templateKey(): Promise<string> {
  const known = process.env[TEMPLATE_KEY];
  if (known) return known;
  const { migrations, topics } = await readSchemaFiles(migrationsFolder);
  const { allJobs } = await import('../../src/jobs/all-jobs.ts');
  const queues = allJobs().map(({ name, queue }) => [name, queue]);
  return createHash('sha256')
    .update(`v4 ${[...migrations, ...topics].map((file) => file.checksum).join(' ')} ${JSON.stringify(queues)}`)
    .digest('hex')
    .slice(0, 16);
}

function urlOf(database: string, server = serverUrl!): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}

/** Builds the template once a run: all migrations and the job tables. */
export async function prepareTemplate(): Promise<void> {
  const key = await templateKey();
  if (serverUrl) await prepareServerTemplate(key);
  else await prepareEmbeddedTemplate(key);
  process.env[TEMPLATE_KEY] = key;
}

async function prepareEmbeddedTemplate(key: string): Promise<void> {
  const path = join(cacheFolder, `${key}.tar`);
  if (
    await readFile(path).then(
      () => true,
      () => false,
    )
  )
    return;
  // Not by `openEmbedded`, because a dump needs the PGlite object.
  const raw = await PGlite.create({ parsers: EMBEDDED_PARSERS });
  const wrapped = embeddedDatabase(raw, migrationsFolder, async () => undefined);
  await installAll(wrapped);
  const dump = await raw.dumpDataDir('none');
  await mkdir(cacheFolder, { recursive: true });
  await writeFile(`${path}.${process.pid}`, Buffer.from(await dump.arrayBuffer()));
  await rename(`${path}.${process.pid}`, path);
  await wrapped.close();
}

async function installAll(database: Database): Promise<void> {
  await database.migrate();
  const { installJobs } = await import('../../src/composition/install-jobs.ts');
  await installJobs(database, log);
}

/** SQLSTATE of a name that exists. */
const DUPLICATE_DATABASE = '42P04';

async function prepareServerTemplate(key: string): Promise<void> {
  const name = `subscription_test_template_${key}`;
  const admin = new pg.Client({ connectionString: serverUrl! });
  await admin.connect();
  try {
    const { rowCount } = await admin.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (rowCount) return;
    const making = `${name}_${process.pid}`;
    await admin.query(`CREATE DATABASE ${making}`);
    const database = await openPostgres({ url: urlOf(making), poolSize: 4, statementTimeoutMs: 60_000, migrationsFolder, log });
    await installAll(database);
    await database.jobDatabase.executeSql(REFUSE_NOTICES);
    await database.close();
    try {
      await admin.query(`ALTER DATABASE ${making} RENAME TO ${name}`);
    } catch (error) {
      await admin.query(`DROP DATABASE ${making}`);
      // Another run has made it meanwhile.
      if ((error as { code?: string }).code !== DUPLICATE_DATABASE) throw error;
    }
  } finally {
    await admin.end();
  }
}

/** Set for the workers by the process that starts them. */
const RUN = 'TEST_RUN';

/** A name that contains the id of the run, which at its end drops the databases that its workers leave. */
function newName(): string {
  return `subscription_test_${process.env[RUN] ?? process.pid}_${process.pid}_${process.hrtime.bigint()}`;
}

/** Begins a run. @returns a function that drops the databases that it leaves on the server or, embedded, in folders */
export function beginRun(): () => Promise<void> {
  process.env[RUN] ??= String(process.pid);
  const prefix = `subscription_test_${process.env[RUN]}_`;
  return async () => {
    if (!serverUrl) {
      const left = (await readdir(tmpdir())).filter((name) => name.startsWith(prefix));
      for (const name of left) await rm(join(tmpdir(), name), { recursive: true, force: true });
      return;
    }
    const admin = new pg.Client({ connectionString: serverUrl });
    await admin.connect();
    try {
      const { rows } = await admin.query<{ name: string }>(
        'SELECT datname AS name FROM pg_database WHERE starts_with(datname, $1)',
        [prefix],
      );
      for (const { name } of rows) await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    } finally {
      await admin.end();
    }
  };
}

export interface TestDatabase extends Database {
  /** Connection address on a server, for second instances and child processes; null when embedded. */
  readonly url: string | null;
  drop(): Promise<void>;
}

/** Name of the database in an address. */
const nameIn = (url: string) => new URL(url).pathname.slice(1);

/** A fresh database made from the template, or a copy of one on the server that nobody is connected to. */
export async function freshDatabase(options: { poolSize?: number; copyOf?: string } = {}): Promise<TestDatabase> {
  const key = await templateKey();
  if (!serverUrl) {
    const file = await readFile(join(cacheFolder, `${key}.tar`));
    // In a folder: files of a database in memory, and their log, make a worker larger with each test.
    const dataDir = join(tmpdir(), newName());
    const database = await openEmbedded({ dataDir, migrationsFolder, loadDataDir: new Blob([file]), limits: TEST_LIMITS });
    const drop = async () => {
      await database.close();
      await rm(dataDir, { recursive: true, force: true });
    };
    return { ...database, db: abandonable(database.db), url: null, drop };
  }
  const name = newName();
  const template = options.copyOf ? nameIn(options.copyOf) : `subscription_test_template_${key}`;
  await onServer(`CREATE DATABASE ${name} TEMPLATE ${template}`, ...settingsOf(name));
  const settings = {
    directUrl: poolerUrl && urlOf(name),
    poolSize: options.poolSize ?? POOL_SIZE,
    statementTimeoutMs: TEST_LIMITS.transactionMs,
    limits: TEST_LIMITS,
    migrationsFolder,
    log,
  };
  if (poolerUrl) {
    // An earlier start has stored the limits of the sessions that the pooler opens.
    const earlier = await openPostgres({ ...settings, url: urlOf(name) });
    await earlier.migrate();
    await earlier.close();
  }
  const database = await openPostgres({ ...settings, url: urlOf(name, poolerUrl ?? serverUrl) });
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= database.close());
  return {
    ...database,
    db: abandonable(database.db),
    url: urlOf(name),
    close,
    drop: async () => {
      await close();
      await onServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    },
  };
}

/** A copy of a database on the server that nobody is connected to. */
export const copiedDatabase = (url: string) => emptyDatabaseOnServer(`TEMPLATE ${nameIn(url)}`);

/** An empty database on the server, for tests that start the service itself: it migrates. @param options of `CREATE DATABASE` */
export async function emptyDatabaseOnServer(options = ''): Promise<{ url: string; drop(): Promise<void> }> {
  const name = newName();
  await onServer(`CREATE DATABASE ${name} ${options}`);
  return { url: urlOf(name), drop: () => onServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

/**
 * Puts a function that fails in the place of `pg_notify`: no SQL of the service may send a notice in a transaction (08 L1), so any test
 * whose transaction does fails. The connection beside the pool names the real function with its schema.
 *
 * No commit waits for the disk: what a test kills are processes of the service, never this server.
 */
function settingsOf(database: string): string[] {
  return [
    `ALTER DATABASE ${database} SET search_path = public, refusals, pg_catalog`,
    `ALTER DATABASE ${database} SET synchronous_commit = off`,
  ];
}

const REFUSE_NOTICES = `CREATE SCHEMA refusals; CREATE FUNCTION refusals.pg_notify(text, text) RETURNS void LANGUAGE plpgsql AS
  $$ BEGIN RAISE EXCEPTION 'a transaction of the service sends a notice, which makes all commits wait for each other'; END $$`;

async function onServer(...statements: string[]): Promise<void> {
  await onDatabase(serverUrl!, async (admin) => {
    // Two workers that copy one template concurrently get "source database is being accessed"; the lock prevents that.
    await admin.query('SELECT pg_advisory_lock(727110002)');
    for (const sql of statements) await admin.query(sql);
  });
}

/** Lets `work` use a session of its own on a database of the server. */
export async function onDatabase<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Tables with reference rows, which stay. The default promo group is created again, see below. */
const KEPT_TABLES = ['schema_migrations', 'schema_sql', 'promo_groups'];
/** Above this a table is truncated: the pages of deleted rows remain, and every later scan reads them. */
const MAX_LEFT_BYTES = 1024 * 1024;

/**
 * Finds the tables that a file of tests has used, in one statement: truncating all tables of the schema creates a new file for each
 * of them and each of their indexes, but a file of tests writes about ten.
 */
const USED_TABLES = `
  SELECT 'SELECT ' || quote_literal(n.nspname || '"."' || c.relname) || ' AS name WHERE EXISTS (SELECT 1 FROM '
      || quote_ident(n.nspname) || '.' || quote_ident(c.relname) || ')' AS query, pg_relation_size(c.oid) AS bytes
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname IN ('public', 'partitions')
  WHERE c.relkind = 'r' AND c.relname <> ALL ($1::text[])
    AND pg_relation_size(c.oid) > 0`;
const USED_SEQUENCES = `
  SELECT schemaname || '.' || sequencename AS name FROM pg_sequences
  WHERE schemaname = 'public' AND last_value IS NOT NULL AND sequencename <> ALL ($1::text[])`;

/** A hook that ran into its time-out may have left one, whose locks everything that follows would wait for. */
const END_OPEN_TRANSACTIONS = `
  SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND state LIKE 'idle in transaction%'`;

/** Empties the database between files of one worker. */
export async function emptyDatabase(database: Database): Promise<void> {
  const { sql } = database.db;
  await sql(END_OPEN_TRANSACTIONS);
  const paged = await sql<{ query: string; bytes: number }>(USED_TABLES, [KEPT_TABLES]);
  const statements = paged.some(({ bytes }) => bytes > MAX_LEFT_BYTES) ? await truncation(sql) : await deletions(sql, paged);
  statements.push(
    'DELETE FROM jobs.job',
    // As the baseline migration leaves them: a test of another file may have made another group the default one, or changed it.
    'DELETE FROM promo_groups',
    "INSERT INTO promo_groups (name, is_default) VALUES ('Default', true)",
    // Their author is a user, so they were deleted too, and every installation has them.
    'SELECT seed_promo_offer_templates()',
    'SELECT seed_contest_templates()',
  );
  await database.jobDatabase.executeSql(`BEGIN; ${statements.join('; ')}; COMMIT;`);
}

async function truncation(sql: SqlRunner): Promise<string[]> {
  const tables = await sql<{ name: string }>(
    "SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> ALL ($1::text[]) ORDER BY 1",
    [KEPT_TABLES],
  );
  return [`TRUNCATE ${tables.map(({ name }) => name).join(', ')} RESTART IDENTITY CASCADE`];
}

/** Without triggers: all tables that reference each other are emptied, and the counters too. */
async function deletions(sql: SqlRunner, paged: readonly { query: string }[]): Promise<string[]> {
  const used = paged.length === 0 ? [] : await sql<{ name: string }>(paged.map(({ query }) => query).join(' UNION ALL '));
  const sequences = await sql<{ name: string }>(USED_SEQUENCES, [KEPT_TABLES.map((table) => `${table}_id_seq`)]);
  return [
    'SET LOCAL session_replication_role = replica',
    ...used.map(({ name }) => `DELETE FROM "${name}"`),
    ...sequences.map(({ name }) => `SELECT setval('${name}', 1, false)`),
    'SET LOCAL session_replication_role = origin',
  ];
}
