import type { App } from '../../core/app.ts';
import { isClockWrong } from '../../core/db/database-watch.ts';
import type { SqlRunner } from '../../core/db/db.ts';
import { refusal } from '../../core/errors.ts';
import './ports.ts';

export const connectionsLost = refusal('connections_lost', 503, 'The database connections of this process are lost');
export const clockWrong = refusal(
  'clock_wrong',
  503,
  'Not ready: the clock of this machine is <n> s from the clock of the database',
);
export const notReady = refusal('not_ready', 503, 'Not ready');

export interface Health {
  apiVersion: string;
  botVersion: string;
  monitoring: boolean;
  webhooks: boolean;
  sandbox: string[];
}

/** Facts of `GET /health`; no database access (spec 06 section 1). */
export function describeHealth(app: App): Health {
  return {
    apiVersion: app.settings.get('WEB_API_VERSION'),
    botVersion: app.ports.instance.version(),
    monitoring: app.settings.get('MONITORING_INTERVAL') > 0,
    webhooks: Boolean(app.settings.get('WEBHOOK_URL')),
    sandbox: app.ports.instance.sandboxKinds(),
  };
}

/** The connection pool now: a pool never grows beyond its size, so there is no overflow. */
export function describePool(app: App) {
  const { size, inUse } = app.ports.instance.poolCounters();
  return { size, checkedOut: inUse, checkedIn: size - inUse, utilizationPercent: size === 0 ? 0 : (inUse / size) * 100 };
}

const PROBE_LIMIT_MS = 5_000;
/** A load balancer must know soon (spec 10 D5). */
const READY_LIMIT_MS = 1_000;

export interface DatabaseProbe {
  status: 'healthy' | 'timeout' | 'unhealthy';
  /** Milliseconds with two decimals; null when there was no answer. */
  latencyMs: number | null;
}

/** SQL that returns a row where the session may write. */
const ACCEPTS_WRITES = "SELECT 1 AS one WHERE NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off'";

/** Runs one trivial statement, for at most 5 s. Never throws. */
export function probeDatabase(app: App): Promise<DatabaseProbe> {
  return probe(app, app.db.sql('SELECT 1 AS one'), PROBE_LIMIT_MS);
}

/** @param asked resolves with one row where the database is healthy */
async function probe(app: App, asked: Promise<object[]>, limitMs: number): Promise<DatabaseProbe> {
  const startedAt = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<'timeout'>((resolve) => {
    timer = setTimeout(() => resolve('timeout'), limitMs);
  });
  try {
    const answer = await Promise.race([asked, timeout]);
    if (answer === 'timeout') return { status: 'timeout', latencyMs: null };
    if (answer.length === 0) return { status: 'unhealthy', latencyMs: null };
    return { status: 'healthy', latencyMs: Math.round((performance.now() - startedAt) * 100) / 100 };
  } catch (error) {
    app.log.warn({ err: error }, 'the database probe failed');
    return { status: 'unhealthy', latencyMs: null };
  } finally {
    clearTimeout(timer);
  }
}

/** Probes of readiness that are not answered yet. */
const underWay = new WeakMap<SqlRunner, Promise<object[]>>();

/** Callers share one statement: while the database is silent, a probe each second would take one connection after another. */
function askForWrites({ db }: App): Promise<object[]> {
  const shared = underWay.get(db.sql);
  if (shared) return shared;
  const asked = db.sql(ACCEPTS_WRITES).finally(() => underWay.delete(db.sql));
  asked.catch(() => undefined);
  underWay.set(db.sql, asked);
  return asked;
}

/**
 * Liveness: false alarms end processes, so only what a new process mends is a reason (spec 10 F1).
 * @throws AppError 503 when the connections of this process to the database are lost for good
 */
export function requireLive(app: App): void {
  if (app.ports.instance.isStuck()) throw connectionsLost();
}

/**
 * Readiness: started, not stopping, the clock of the machine is the database's (spec 10 F5), and the database accepts writes; a standby or a node
 * that is being demoted answers reads only. Answers within a second.
 * @throws AppError 503 'Not ready', with the difference of the clocks where that is the reason
 */
export async function requireReady(app: App): Promise<void> {
  const { instance } = app.ports;
  const skewMs = instance.clockSkewMs();
  if (isClockWrong(skewMs)) {
    const seconds = Math.round(skewMs / 1000);
    throw clockWrong({ detail: `Not ready: the clock of this machine is ${seconds} s from the clock of the database` });
  }
  const isReady = instance.isReady() && (await probe(app, askForWrites(app), READY_LIMIT_MS)).status === 'healthy';
  if (!isReady) throw notReady();
}
