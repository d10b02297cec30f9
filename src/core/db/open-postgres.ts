import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import type { Logger } from '../log.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import { ANSWER_GRACE_MS, destroyWhenSilent, KEEP_ALIVE, LONG_ANSWER_MS, serverClient } from './answer-limit.ts';
import {
  CLOSED_SERVICE_LOCK,
  type CopyIn,
  type Database,
  LONG_WORK_LOCK,
  type LongSession,
  type LongWork,
  type SideConnection,
} from './database.ts';
import type { Db, SqlRunner } from './db.ts';
import { PLAN_OUTDATED, sqlState } from './db-errors.ts';
import { applySchema, readSchemaFiles } from './migrate.ts';
import { openPrisma, WAIT_LIMITS, type WaitLimits } from './open-prisma.ts';
import { openReplica } from './replica.ts';
import { runInsideTransaction, runOutsideTransaction } from './root-guard.ts';
import { serverSql, traced, unnamedSql } from './sql-runner.ts';

export interface PostgresOptions {
  url: string;
  /**
   * Set when `url` leads to a pooler that gives out a session for one transaction (spec 08 S3): the server itself, for what needs a session
   * of its own.
   */
  directUrl?: string | null;
  /** Of standbys, from which lists and statistics are read; not through a pooler of transactions. */
  replicaUrl?: string | null;
  poolSize: number;
  statementTimeoutMs: number;
  migrationsFolder: string;
  log: Logger;
  tracing?: Tracing | undefined;
  /** `WAIT_LIMITS` unless given. */
  limits?: WaitLimits;
  /** Milliseconds after which a connection whose answer does not come is given up; `statementTimeoutMs` and a grace unless given. */
  answerMs?: number;
}

/** SQLSTATE of a server that accepts no sessions yet. */
const CANNOT_CONNECT_NOW = '57P03';
/** Statements beside the pool are short: a node that does not answer within this time, as one that hangs in a failover, is given up. */
const SIDE_ANSWER_MS = 5_000;
const IDLE_IN_TRANSACTION_MS = 30_000;
const CLIENT_CHECK_MS = 10_000;
/** Key of an advisory lock: instances that start at the same time store the defaults of the role one after the other. */
const DEFAULTS_LOCK = 727_110_006;
/** Bounded, so that generated SQL cannot fill the server's memory with prepared statements. */
const MAX_NAMED_STATEMENTS = 500;

/** Opens a PostgreSQL server (15 or later): one pool that Prisma, plain SQL and the job queue share, and one connection beside it. */
export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const limits = options.limits ?? WAIT_LIMITS;
  const { url, statementTimeoutMs, log } = options;
  const isPooled = (options.directUrl ?? null) !== null;
  const directUrl = options.directUrl ?? url;
  const answerMs = options.answerMs ?? (statementTimeoutMs === 0 ? LONG_ANSWER_MS : statementTimeoutMs + ANSWER_GRACE_MS);
  let answeredAt = performance.now();
  const names = statementNames();
  const renewOutdated = (error: unknown, name: string) => {
    if (sqlState(error) === PLAN_OUTDATED) names.renew(name);
  };
  const pool = new pg.Pool({
    connectionString: url,
    max: options.poolSize,
    connectionTimeoutMillis: limits.connectMs,
    idleTimeoutMillis: 60_000,
    // A pooler refuses parameters of a session; see `storeDefaults`.
    ...(isPooled ? {} : { statement_timeout: statementTimeoutMs, idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS }),
    query_timeout: answerMs,
    ...KEEP_ALIVE,
    application_name: 'subscription-service',
    onConnect: (client) => {
      destroyWhenSilent(client, {
        answer: () => {
          answeredAt = performance.now();
        },
        failure: renewOutdated,
      });
      return prepareSession(client, limits.connectMs, isPooled);
    },
  });
  pool.on('error', (error) => log.warn({ err: error }, 'an idle database connection was lost'));
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
  const nameOf = isPooled ? () => '' : names.nameOf;
  const adapter = new PrismaPg(pool, { disposeExternalPool: false, statementNameGenerator: ({ sql }) => nameOf(sql) });
  const sql = traced(serverSql(pool, nameOf), options.tracing);
  const { disconnect, ...prisma } = openPrisma(adapter, { sqlOn: sql.on, limits, tracing: options.tracing });
  const side = new PostgresSideConnection({
    url: directUrl,
    connectMs: limits.connectMs,
    answerMs: Math.min(SIDE_ANSWER_MS, answerMs),
    log,
  });
  const long = postgresLongWork({ url: directUrl, connectMs: limits.connectMs, side, log });
  const outside = (address: string, name: string, limitMs: number) =>
    serverClient({ url: address, name, connectMs: limits.connectMs, answerMs: limitMs });

  const db: Db = { ...prisma, sql: sql.root, long };
  const replica = options.replicaUrl
    ? openReplica({
        url: options.replicaUrl,
        poolSize: options.poolSize,
        statementTimeoutMs,
        answerMs,
        limits,
        nameOf: names.nameOf,
        onFailedStatement: renewOutdated,
        primary: db,
        log,
        tracing: options.tracing,
      })
    : null;

  return {
    kind: 'postgres',
    db: replica === null ? db : { ...db, replica },
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
      const client = outside(directUrl, 'subscription-service-migrations', LONG_ANSWER_MS);
      client.on('error', (error) => log.warn({ err: error }, 'the connection of the migrations was lost'));
      await client.connect();
      try {
        await client.query('SET statement_timeout = 0');
        if (isPooled) await storeDefaults(client, statementTimeoutMs);
        return await applySchema(
          {
            run: async (sql) => void (await client.query(sql)),
            query: async (sql, values) => (await client.query(sql, values)).rows,
          },
          await readSchemaFiles(options.migrationsFolder),
          { onRepeat: (error) => log.warn({ err: error }, 'the upgrade waits for a lock that others have, and begins again') },
        );
      } finally {
        await client.end().catch(() => undefined);
      }
    },
    silence: {
      answeredMsAgo: () => performance.now() - answeredAt,
      tryOutside: async () => {
        const client = outside(url, 'subscription-service-probe', limits.connectMs);
        client.on('error', () => undefined);
        try {
          await client.connect();
          await client.query('SELECT 1 AS one');
        } finally {
          void client.end().catch(() => undefined);
        }
      },
    },
    poolCounters: () => ({ size: options.poolSize, inUse: pool.totalCount - pool.idleCount, waiting: pool.waitingCount }),
    close: async () => {
      await side.close();
      await replica?.close();
      await disconnect();
      await pool.end();
    },
  };
}

/**
 * A session that was opened on a node in recovery reads what is old and stays there when the primary is elsewhere, and requests would use
 * it for as long as it answers. Refused here, every attempt connects again until the address leads to a primary (spec 08 S2).
 *
 * Statements are not compiled (`jit`): on large tables the estimated cost of a statement with many parts exceeds the limit from which the
 * server compiles it, although few rows are read; compiling takes 0.2 to 0.4 s at each execution (docs/performance.md, Statistics).
 */
async function prepareSession(client: pg.ClientBase, connectMs: number, isPooled: boolean): Promise<void> {
  const text = `SELECT pg_is_in_recovery() AS "isStandby"${isPooled ? '' : ", set_config('jit', 'off', false)"}`;
  // The types of the driver leave the limit of one statement out.
  const statement: pg.QueryConfig & { query_timeout: number } = { text, query_timeout: connectMs };
  const { rows } = await client.query<{ isStandby: boolean }>(statement);
  if (rows[0]?.isStandby) throw Object.assign(new Error('the database node is in recovery'), { code: CANNOT_CONNECT_NOW });
}

/**
 * Behind a pooler a client cannot set up its session, and what it sets stays for others: the settings of the pool's sessions are the defaults
 * of the role in this database instead. The sessions that the pooler opens from now on have them.
 */
async function storeDefaults(client: pg.ClientBase, statementTimeoutMs: number): Promise<void> {
  const { rows } = await client.query<{ name: string }>('SELECT current_database() AS name');
  const place = `ALTER ROLE CURRENT_USER IN DATABASE ${pg.escapeIdentifier(rows[0]!.name)} SET`;
  const defaults = {
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    jit: 'off',
  };
  const changes = Object.entries(defaults).map(([name, value]) => `${place} ${name} = ${value}`);
  // One transaction, since it is one text.
  await client.query([`SELECT pg_advisory_xact_lock(${DEFAULTS_LOCK})`, ...changes].join('; '));
}

/**
 * Names of prepared statements, one for each text: the server parses and plans each text once a connection. Above the limit the name is
 * empty, which is an unnamed statement. Behind a pooler that shares sessions between clients, names are not used.
 */
function statementNames() {
  const names = new Map<string, string>();
  let generation = 0;
  let suffix = '';
  return {
    nameOf: (text: string): string => {
      const known = names.get(text);
      if (known !== undefined) return known;
      if (names.size >= MAX_NAMED_STATEMENTS) return '';
      const name = `s_${createHash('sha1').update(text).digest('hex').slice(0, 24)}${suffix}`;
      names.set(text, name);
      return name;
    },
    /** Every text gets another name, so that no connection uses a plan of before; once, although several connections find it out. */
    renew: (outdated: string): void => {
      if (![...names.values()].includes(outdated)) return;
      generation += 1;
      suffix = `_${generation}`;
      names.clear();
    },
  };
}

interface PostgresLongWorkOptions {
  url: string;
  connectMs: number;
  side: SideConnection;
  log: Logger;
}

/** Each work has a connection of its own, whose advisory locks exclude others: the server releases them when the connection ends. */
function postgresLongWork({ url, connectMs, side, log }: PostgresLongWorkOptions): LongWork {
  return {
    isEmbedded: false,
    alone: async (work) => {
      const client = serverClient({ url, name: 'subscription-service-long', connectMs, answerMs: LONG_ANSWER_MS });
      client.on('error', (error) => log.warn({ err: error }, 'the connection of a backup or restore was lost'));
      await client.connect();
      try {
        const sql = unnamedSql(client);
        await sql('SET statement_timeout = 0');
        await sql('SET idle_in_transaction_session_timeout = 0');
        // A process that died gives its locks back also while a statement of minutes runs.
        // Any failure: the server of a system that cannot look for its client refuses it, and a lost connection fails at the next statement.
        await sql(`SET client_connection_check_interval = ${CLIENT_CHECK_MS}`).catch(() => undefined);
        const [lock] = await sql<{ taken: boolean }>(`SELECT pg_try_advisory_lock(${LONG_WORK_LOCK}) AS taken`);
        if (!lock!.taken) return null;
        return { result: await work(sessionOn(client, sql)) };
      } finally {
        await client.end().catch(() => undefined);
      }
    },
    isServiceClosed: async () => {
      const [row] = await side.sql<{ closed: boolean }>(
        `SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND classid = 0 AND objid = ${CLOSED_SERVICE_LOCK} AND granted
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS closed`,
      );
      return row!.closed;
    },
  };
}

function sessionOn(client: pg.ClientBase, sql: SqlRunner): LongSession {
  const copyIn: CopyIn = async (statement, lines) => {
    const { from } = (await import('pg-copy-streams')).default;
    await pipeline(lines, client.query(from(statement)));
  };
  const transaction = async <T>(begin: string, work: (sql: SqlRunner, copyIn: CopyIn) => Promise<T>): Promise<T> => {
    await sql(begin);
    try {
      const result = await runInsideTransaction(() => work(sql, copyIn));
      await sql('COMMIT');
      return result;
    } catch (error) {
      // Any failure: a lost connection has rolled back already.
      await sql('ROLLBACK').catch(() => undefined);
      throw error;
    }
  };
  return {
    snapshot: (work) => transaction('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', work),
    write: (work) => transaction('BEGIN', work),
    closeService: async () => {
      await sql(`SELECT pg_advisory_lock(${CLOSED_SERVICE_LOCK})::text AS held`);
    },
  };
}

interface SideConnectionOptions {
  url: string;
  connectMs: number;
  /** A statement that is not answered within this time ends the connection. */
  answerMs: number;
  log: Logger;
}

/** One PostgreSQL connection that is opened when it is needed and again after it was lost. */
class PostgresSideConnection implements SideConnection {
  readonly #options: SideConnectionOptions;
  readonly #listeners = new Map<string, (payload: string) => void>();
  #client: pg.Client | null = null;
  #isClosed = false;
  /** Statements run one after another. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: SideConnectionOptions) {
    this.#options = options;
  }

  readonly sql: SideConnection['sql'] = (text, values) => this.#inTurn((client) => unnamedSql(client)(text, values));

  async listen(channel: string, onNotice: (payload: string) => void): Promise<void> {
    this.#listeners.set(channel, onNotice);
    await this.#inTurn((client) => client.query(`LISTEN ${pg.escapeIdentifier(channel)}`));
  }

  async notify(channel: string, payload: string): Promise<void> {
    await this.sql('SELECT pg_catalog.pg_notify($1, $2)::text AS sent', [channel, payload]);
  }

  /** A statement that is under way is given up. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#client?.end();
    // One that was connecting has a client only now.
    await this.#last;
    await this.#client?.end();
  }

  #inTurn<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    const running = this.#last.then(async () => {
      const client = await this.#connected();
      try {
        return await work(client);
      } catch (error) {
        // Whatever it was: a node that was demoted or hangs gives way to the next one.
        this.#drop(client);
        throw error;
      }
    });
    this.#last = running.catch(() => undefined);
    return running;
  }

  /** Called in turn only, so that one connection is opened at a time. */
  #connected(): Promise<pg.Client> {
    if (this.#isClosed) return Promise.reject(new Error('the database is closed'));
    return this.#client ? Promise.resolve(this.#client) : runOutsideTransaction(() => this.#open());
  }

  async #open(): Promise<pg.Client> {
    const { url, connectMs, answerMs } = this.#options;
    const client = serverClient({ url, name: 'subscription-service-beside', connectMs, answerMs });
    client.on('notification', ({ channel, payload }) => this.#listeners.get(channel)?.(payload ?? ''));
    client.on('error', (error) => {
      this.#options.log.warn({ err: error }, 'the database connection beside the pool was lost');
      this.#drop(client);
    });
    client.on('end', () => this.#drop(client));
    await client.connect();
    try {
      // A notice is a transaction of its own with nothing to lose; it does not wait for the disk.
      await client.query('SET synchronous_commit = off');
      // The server looks for its client at the next answer only: a statement that waits for a lock of a long work, as an import or a restore
      // has, would keep its session after this side has given it up, one more each few seconds until there are no connections left.
      await client.query(`SET statement_timeout = ${answerMs}`);
      for (const channel of this.#listeners.keys()) await client.query(`LISTEN ${pg.escapeIdentifier(channel)}`);
    } catch (error) {
      this.#drop(client);
      throw error;
    }
    this.#client = client;
    return client;
  }

  #drop(client: pg.Client): void {
    if (this.#client === client) this.#client = null;
    void client.end().catch(() => undefined);
  }
}
