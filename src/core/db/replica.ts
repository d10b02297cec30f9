/**
 * Reads from standbys (spec 08 S10). A standby gets a statement only after it has replayed everything that the primary had committed when
 * the statement was sent: so a client reads what it, or anybody, has written before, through whichever instance, and no instance has to
 * know who has written what. A standby that is away or behind, or a node that is none of this database, is no error: the primary is read.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import type { Logger } from '../log.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import { destroyWhenSilent, KEEP_ALIVE, type StatementEnds } from './answer-limit.ts';
import type { Db, SqlRunner } from './db.ts';
import { sqlState } from './db-errors.ts';
import { openPrisma, type WaitLimits } from './open-prisma.ts';
import { runOutsideTransaction } from './root-guard.ts';
import { serverSql, traced } from './sql-runner.ts';

export interface ReplicaReads {
  /** For reads. Its statements fail where no standby can answer them in time; then the same is to be read from the primary. */
  readonly db: Db;
  /** False after a failure, until a standby answers again. */
  isUsable(): boolean;
  /** Says that a read failed on a standby and goes to the primary. */
  failed(error: unknown): void;
  counters(): ReplicaCounters;
  close(): Promise<void>;
}

/** Of this process, since its start. */
export interface ReplicaCounters {
  isUsable: boolean;
  /** Statements that a standby was fresh enough for. */
  answered: number;
  /** Reads that failed there and went to the primary. */
  failed: number;
}

export interface ReplicaOptions {
  url: string;
  poolSize: number;
  statementTimeoutMs: number;
  /** Milliseconds that an answer may take before the connection is given up. */
  answerMs: number;
  limits: WaitLimits;
  nameOf: (text: string) => string;
  onFailedStatement: NonNullable<StatementEnds['failure']>;
  primary: Db;
  log: Logger;
  tracing?: Tracing | undefined;
}

/** How long a statement waits for a standby to replay what is committed; usual are 5 to 14 ms under load (spec 08 S10). */
const FRESH_WAIT_MS = 150;
/** A standby that does not say in this time how far it is does not delay a request any longer. */
const CHECK_MS = 1_000;
const AWAY_MS = 5_000;
/**
 * After a failover, a standby may have what the former primary had sent to it alone, and so be ahead of the new one in the log, until it was
 * rewound.
 */
const NEW_TIMELINE_MS = 60_000;
const CONFLICT_WITH_RECOVERY = '40001';

/** Opens the pool; its connections are opened when they are needed, and the first answer of a standby makes it usable. */
export function openReplica(options: ReplicaOptions): ReplicaReads {
  const { log, primary, limits, nameOf, tracing } = options;
  let isUsable = false;
  let isClosed = false;
  let failed = 0;
  let awayUntil = 0;
  let timer: NodeJS.Timeout | undefined;

  const primaryLog = committedMarks(primary.sql, () => stayAway(NEW_TIMELINE_MS));
  const pool = new FreshPool(
    {
      connectionString: options.url,
      max: options.poolSize,
      connectionTimeoutMillis: Math.min(CHECK_MS, limits.connectMs),
      idleTimeoutMillis: 60_000,
      statement_timeout: options.statementTimeoutMs,
      query_timeout: options.answerMs,
      ...KEEP_ALIVE,
      application_name: 'subscription-service-replica',
      onConnect: async (client) => {
        destroyWhenSilent(client, { failure: options.onFailedStatement });
        await prepareReplicaSession(client, primary.sql);
      },
    },
    primaryLog,
  );
  pool.on('error', (error) => log.warn({ err: error }, 'an idle connection to a standby was lost'));
  // See openPostgres: an error between two users of a connection would end the process.
  pool.on('connect', (client) => void client.on('error', () => undefined));
  const adapter = new PrismaPg(pool, { disposeExternalPool: false, statementNameGenerator: ({ sql }) => nameOf(sql) });
  const sql = traced(serverSql(pool, nameOf), tracing);
  const { disconnect, ...prisma } = openPrisma(adapter, { sqlOn: sql.on, limits, tracing });

  /** The longest reason counts: the look that finds a new timeline has failed, too. */
  const stayAway = (ms: number): void => {
    isUsable = false;
    clearTimeout(timer);
    if (isClosed) return;
    awayUntil = Math.max(awayUntil, performance.now() + ms);
    timer = setTimeout(() => void runOutsideTransaction(look), awayUntil - performance.now());
    timer.unref();
  };
  const look = async (): Promise<void> => {
    try {
      await pool.query('SELECT 1 AS one');
      if (!isClosed && !isUsable) log.info('lists and statistics are read from a standby');
      isUsable = !isClosed;
    } catch {
      // Whatever it is: the primary goes on.
      stayAway(AWAY_MS);
    }
  };
  void runOutsideTransaction(look);

  return {
    db: { ...primary, ...prisma, sql: sql.root, primary },
    isUsable: () => isUsable,
    failed: (error) => {
      failed += 1;
      // Such a statement was in the way of what the standby had to replay; the next one may not be.
      if (sqlState(error) === CONFLICT_WITH_RECOVERY || !isUsable) return;
      log.warn({ err: error }, 'a read from a standby failed; the primary is read until a standby answers again');
      stayAway(AWAY_MS);
    },
    counters: () => ({ isUsable, answered: pool.answered, failed }),
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      await disconnect();
      await pool.end();
    },
  };
}

/** How far the primary's log is. */
export interface CommittedMark {
  lsn: string;
  /** Another one after each failover. */
  timeline: string;
}

/**
 * Asks the primary how far its log is. Callers that come while a question is under way share the next one: its answer is of a time after
 * their call, and however many there are, one question at a time is under way.
 * @param onNewTimeline called when another node has become the primary
 */
export function committedMarks(primary: SqlRunner, onNewTimeline: () => void): () => Promise<CommittedMark> {
  let asking: Promise<unknown> = Promise.resolve();
  let next: Promise<CommittedMark> | null = null;
  let timeline: string | null = null;
  const ask = async (): Promise<CommittedMark> => {
    const [mark] = await primary<CommittedMark>(
      `SELECT lsn::text, left(pg_walfile_name(lsn), 8) AS timeline FROM (SELECT pg_current_wal_flush_lsn() AS lsn) AS log`,
    );
    const before = timeline;
    timeline = mark!.timeline;
    if (before === null || before === timeline) return mark!;
    onNewTimeline();
    throw new Error('another node has become the primary');
  };
  return () => {
    next ??= asking.then(() => {
      next = null;
      const answer = runOutsideTransaction(ask);
      asking = answer.catch(() => undefined);
      return answer;
    });
    return next;
  };
}

type Connected = (error: Error | undefined, client: pg.PoolClient | undefined, release: (error?: Error) => void) => void;

/** Hands a connection out only when its node is a standby that has replayed what the primary had committed when it was asked for. */
class FreshPool extends pg.Pool {
  readonly #committed: () => Promise<CommittedMark>;
  answered = 0;

  constructor(config: pg.PoolConfig, committed: () => Promise<CommittedMark>) {
    super(config);
    this.#committed = committed;
  }

  // Prisma and plain SQL come through here alike: `query` of the pool connects, too.
  override connect(): Promise<pg.PoolClient>;
  override connect(done: Connected): void;
  override connect(done?: Connected): Promise<pg.PoolClient> | undefined {
    const connecting = this.#fresh();
    if (done === undefined) return connecting;
    connecting.then(
      (client) => done(undefined, client, client.release),
      (error: Error) => done(error, undefined, () => undefined),
    );
    return undefined;
  }

  async #fresh(): Promise<pg.PoolClient> {
    const { lsn } = await this.#committed();
    const client = await super.connect();
    try {
      if (await hasReplayed(client, lsn)) {
        this.answered += 1;
        return client;
      }
    } catch (error) {
      client.release(error as Error);
      throw error;
    }
    client.release();
    throw new Error(`the standby has not replayed within ${FRESH_WAIT_MS} ms what the primary has committed`);
  }
}

/** @throws when the node is no standby, or does not answer */
async function hasReplayed(client: pg.ClientBase, lsn: string): Promise<boolean> {
  const until = performance.now() + FRESH_WAIT_MS;
  for (let pauseMs = 1; ; pauseMs *= 2) {
    // The types of the driver leave the limit of one statement out.
    const statement: pg.QueryConfig & { query_timeout: number } = {
      name: 'has_replayed',
      text: 'SELECT pg_is_in_recovery() AS "isStandby", coalesce(pg_last_wal_replay_lsn() >= $1::pg_lsn, false) AS "isFresh"',
      values: [lsn],
      query_timeout: CHECK_MS,
    };
    const { rows } = await client.query<{ isStandby: boolean; isFresh: boolean }>(statement);
    const { isStandby, isFresh } = rows[0]!;
    if (!isStandby) throw new Error('the node is not in recovery, so it is no standby');
    if (isFresh) return true;
    if (performance.now() + pauseMs > until) return false;
    await wait(pauseMs);
  }
}

/** Positions in the logs of two clusters say nothing about each other. Statements are not compiled, as in the sessions of the primary. */
async function prepareReplicaSession(client: pg.ClientBase, primary: SqlRunner): Promise<void> {
  const text = `SELECT concat(to_jsonb(node) ->> 'system_identifier', '/', current_database()) AS place FROM pg_control_system() AS node`;
  const { rows } = await client.query<{ place: string }>(`SELECT place, set_config('jit', 'off', false) FROM (${text}) AS known`);
  const [expected] = await runOutsideTransaction(() => primary<{ place: string }>(text));
  if (rows[0]!.place !== expected!.place) throw new Error('DATABASE_REPLICA_URL leads to another database than DATABASE_URL');
}
