import { createHash } from 'node:crypto';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import type { Logger } from '../log.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import type { Database } from './database.ts';
import { applySchema } from './migrate.ts';
import { openPrisma, WAIT_LIMITS, type WaitLimits } from './open-prisma.ts';
import { postgresLongWork } from './postgres-long-work.ts';
import { PostgresSideConnection } from './postgres-side-connection.ts';
import { readSchemaFiles } from './schema-files.ts';
import { serverSql, traced } from './sql-runner.ts';

export interface PostgresOptions {
  url: string;
  poolSize: number;
  statementTimeoutMs: number;
  migrationsFolder: string;
  log: Logger;
  tracing?: Tracing | undefined;
  /** `WAIT_LIMITS` unless given. */
  limits?: WaitLimits;
}

/** SQLSTATE of a server that accepts no sessions yet. */
const CANNOT_CONNECT_NOW = '57P03';
/** Bounded, so that generated SQL cannot fill the server's memory with prepared statements. */
const MAX_NAMED_STATEMENTS = 500;

/** Opens a PostgreSQL server (15 or later): one pool that Prisma, plain SQL and the job queue share, and one connection beside it. */
export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const limits = options.limits ?? WAIT_LIMITS;
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.poolSize,
    connectionTimeoutMillis: limits.connectMs,
    idleTimeoutMillis: 60_000,
    statement_timeout: options.statementTimeoutMs,
    idle_in_transaction_session_timeout: 30_000,
    application_name: 'subscription-service',
    onConnect: prepareSession,
  });
  pool.on('error', (error) => options.log.warn({ err: error }, 'an idle database connection was lost'));
  // The pool takes its listener off before a caller gets the connection, and the caller adds one in a later step. The server's message that
  // it ends the session can come in between, in one packet with the end of the statement before; an `error` event without a listener
  // would end the process. Whoever uses the connection is rejected all the same.
  pool.on('connect', (client) => void client.on('error', () => undefined));
  const { rows } = await pool.query<{ version: string }>("SELECT current_setting('server_version_num') AS version");
  const version = Number(rows[0]?.version ?? 0);
  if (version < 150_000) {
    await pool.end();
    throw new Error(`PostgreSQL 15 or later is needed; the server is ${Math.floor(version / 10_000)}`);
  }
  const nameOf = statementNamer();
  const adapter = new PrismaPg(pool, { disposeExternalPool: false, statementNameGenerator: ({ sql }) => nameOf(sql) });
  const sql = traced(serverSql(pool, nameOf), options.tracing);
  const { disconnect, ...prisma } = openPrisma(adapter, { sqlOn: sql.on, limits, tracing: options.tracing });
  const side = new PostgresSideConnection({ url: options.url, connectMs: limits.connectMs, log: options.log });
  const long = postgresLongWork({ url: options.url, connectMs: limits.connectMs, side, log: options.log });

  return {
    kind: 'postgres',
    db: { ...prisma, sql: sql.root, long },
    jobDatabase: {
      executeSql: async (text, values) => {
        // Each queue asks twice a second with one text: planned once a connection. A script has no values and cannot be prepared.
        const result = await pool.query(values?.length ? { name: nameOf(text), text, values } : text);
        // A script of several statements answers with a list; its last result is the one that counts.
        return Array.isArray(result) ? (result as pg.QueryResult[]).at(-1)! : result;
      },
    },
    side,
    migrate: async () => {
      const client = await pool.connect();
      try {
        await client.query('SET statement_timeout = 0');
        return await applySchema(
          {
            run: async (sql) => void (await client.query(sql)),
            query: async (sql, values) => (await client.query(sql, values)).rows,
          },
          await readSchemaFiles(options.migrationsFolder),
        );
      } finally {
        client.release(true);
      }
    },
    poolCounters: () => ({ size: options.poolSize, inUse: pool.totalCount - pool.idleCount, waiting: pool.waitingCount }),
    close: async () => {
      await side.close();
      await disconnect();
      await pool.end();
    },
  };
}

/**
 * A session that was opened on a node in recovery reads what is old and stays there when the primary is elsewhere, and requests would use
 * it for as long as it answers. Refused here, every attempt connects anew until the address leads to a primary (spec 08 S2).
 *
 * Statements are not compiled (`jit`): on large tables the estimated cost of a statement with many parts exceeds the limit from which the server
 * compiles it, although few rows are read; compiling takes 0.2 to 0.4 s at each execution (docs/performance.md, Statistics).
 */
async function prepareSession(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ isStandby: boolean }>(
    `SELECT pg_is_in_recovery() AS "isStandby", set_config('jit', 'off', false)`,
  );
  if (rows[0]?.isStandby) throw Object.assign(new Error('the database node is in recovery'), { code: CANNOT_CONNECT_NOW });
}

/**
 * Names of prepared statements, one for each text: the server parses and plans each text once a connection. Above the limit the name is
 * empty, which is an unnamed statement. Behind a pooler that shares sessions between clients, names must not be used.
 */
function statementNamer(): (text: string) => string {
  const names = new Map<string, string>();
  return (text) => {
    const known = names.get(text);
    if (known !== undefined) return known;
    if (names.size >= MAX_NAMED_STATEMENTS) return '';
    const name = `s_${createHash('sha1').update(text).digest('hex').slice(0, 24)}`;
    names.set(text, name);
    return name;
  };
}
