/** Databases for the duration of the run: on a PostgreSQL server, or embedded ones in a temporary folder. */
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import type { DatabaseKind } from './options.ts';

export interface ScratchDatabase {
  kind: DatabaseKind;
  /** Environment that gives the service its database, besides `DATA_DIR`. */
  environment: Record<string, string>;
  /** The same for the baseline. */
  bare: { url: string; poolSize: number } | { dataDir: string };
  /** Address of the database; null for an embedded one, which only one process can open. */
  url: string | null;
  /** One connection for the statements; no service may be running on an embedded one. */
  withSql<T>(work: (run: (text: string) => Promise<Record<string, unknown>[]>) => Promise<T>): Promise<T>;
  /** A copy of the database. Nothing may be connected to this one meanwhile. */
  copy(): Promise<ScratchDatabase>;
  drop(): Promise<void>;
}

/** Connections of service and baseline alike. */
const POOL_SIZE = 10;

/** The server where scratch databases can be created; null when none answers. */
export async function findServer(environment: NodeJS.ProcessEnv): Promise<string | null> {
  const url = environment.TEST_DATABASE_URL ?? environment.DATABASE_URL ?? 'postgresql://postgres@127.0.0.1:5432/postgres';
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 30_000 });
  try {
    await client.connect();
    const { rows } = await client.query<{ may: boolean }>(
      'SELECT rolcreatedb OR rolsuper AS may FROM pg_roles WHERE rolname = current_user',
    );
    return rows[0]?.may ? url : null;
  } catch (error) {
    // None, or none for this user. Anything else, such as too many connections, is said and not taken for that.
    if (/^(?:ECONNREFUSED|28...)$/.test((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** The server for a drill; null when none answers, which is said: the drill is left out then. */
export async function findDrillServer(print: (text: string) => void = console.log): Promise<string | null> {
  const url = await findServer(process.env);
  if (url === null) print('Left out: no PostgreSQL at TEST_DATABASE_URL or DATABASE_URL lets us make databases.');
  return url;
}

let count = 0;

/** @param settings of a database on a server, as `ALTER DATABASE … SET` accepts them */
export function createScratch(
  kind: DatabaseKind,
  serverUrl: string | null,
  settings: Record<string, string> = {},
): Promise<ScratchDatabase> {
  if (kind === 'embedded') return createEmbedded(null);
  if (serverUrl === null) throw new Error('no PostgreSQL server');
  return createOnServer(serverUrl, null, settings);
}

/**
 * A database that the run does not drop, for the next run with the same name; without a name a scratch one.
 * @param name a plain identifier of a database on the server
 */
export async function openKept(
  name: string | null,
  kind: DatabaseKind,
  serverUrl: string | null,
  settings: Record<string, string> = {},
): Promise<{ database: ScratchDatabase; isNew: boolean }> {
  if (name === null) return { database: await createScratch(kind, serverUrl, settings), isNew: true };
  if (serverUrl === null) throw new Error('no PostgreSQL server');
  const [known] = await onServer(serverUrl, `SELECT 1 FROM pg_database WHERE datname = '${name}'`);
  if (!known) await onServer(serverUrl, `CREATE DATABASE ${name}`);
  const database = await connectTo(serverUrl, name, {});
  const folder = database.environment.DATA_DIR!;
  return { database: { ...database, drop: () => rm(folder, { recursive: true, force: true }) }, isNew: !known };
}

async function createOnServer(
  serverUrl: string,
  template: string | null,
  settings: Record<string, string>,
): Promise<ScratchDatabase> {
  count += 1;
  const name = `subscription_bench_${process.pid}_${count}`;
  await onServer(serverUrl, `CREATE DATABASE ${name}${template === null ? '' : ` TEMPLATE ${template}`}`);
  // A copy does not inherit them.
  for (const [setting, value] of Object.entries(settings)) {
    await onServer(serverUrl, `ALTER DATABASE ${name} SET ${setting} = ${value}`);
  }
  return connectTo(serverUrl, name, settings);
}

async function connectTo(serverUrl: string, name: string, settings: Record<string, string>): Promise<ScratchDatabase> {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const dataDir = await mkdtemp(join(tmpdir(), 'subscription-bench-'));
  return {
    kind: 'postgres',
    environment: { DATABASE_URL: url.href, DATABASE_POOL_SIZE: String(POOL_SIZE), DATA_DIR: dataDir },
    bare: { url: url.href, poolSize: POOL_SIZE },
    url: url.href,
    withSql: async (work) => {
      const client = new pg.Client({ connectionString: url.href });
      // The statement under way is rejected, too: without a listener a run that is interrupted would end here, before it has cleaned up.
      client.on('error', () => undefined);
      await client.connect();
      try {
        return await work(async (text) => (await client.query<Record<string, unknown>>(text)).rows);
      } finally {
        await client.end();
      }
    },
    copy: () => createOnServer(serverUrl, name, settings),
    drop: async () => {
      await onServer(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function onServer(serverUrl: string, statement: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

async function createEmbedded(source: string | null): Promise<ScratchDatabase> {
  const dataDir = await mkdtemp(join(tmpdir(), 'subscription-bench-'));
  if (source !== null) await cp(join(source, 'database'), join(dataDir, 'database'), { recursive: true });
  return {
    kind: 'embedded',
    environment: { DATA_DIR: dataDir, ALLOW_EMBEDDED_IN_PRODUCTION: 'true' },
    bare: { dataDir },
    url: null,
    withSql: async (work) => {
      const database = await PGlite.create({ dataDir: join(dataDir, 'database') });
      try {
        return await work(async (text) => (await database.exec(text)).at(-1)?.rows ?? []);
      } finally {
        await database.close();
      }
    },
    copy: () => createEmbedded(dataDir),
    drop: () => rm(dataDir, { recursive: true, force: true }),
  };
}
