import type { App } from '../../core/app.ts';
import { refuse } from '../../core/errors.ts';
import './ports.ts';

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

export interface PoolState {
  size: number;
  checkedOut: number;
  checkedIn: number;
  /** Share of the pool in use, 0..100. */
  utilizationPercent: number;
}

/** The connection pool now: a pool never grows beyond its size, so there is no overflow. */
export function describePool(app: App): PoolState {
  const { size, inUse } = app.ports.instance.poolCounters();
  return { size, checkedOut: inUse, checkedIn: size - inUse, utilizationPercent: size === 0 ? 0 : (inUse / size) * 100 };
}

const PROBE_LIMIT_MS = 5_000;

export interface DatabaseProbe {
  status: 'healthy' | 'timeout' | 'unhealthy';
  /** Milliseconds with two decimals; null when there was no answer. */
  latencyMs: number | null;
}

/** SQL that gives a row where the session may write. */
const ACCEPTS_WRITES = "SELECT 1 AS one WHERE NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off'";

/** Runs one trivial statement, for at most 5 s. Never throws. */
export function probeDatabase(app: App): Promise<DatabaseProbe> {
  return probe(app, 'SELECT 1 AS one');
}

/** @param query gives one row where the database is healthy */
async function probe(app: App, query: string): Promise<DatabaseProbe> {
  const startedAt = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<'timeout'>((resolve) => {
    timer = setTimeout(() => resolve('timeout'), PROBE_LIMIT_MS);
  });
  try {
    const answer = await Promise.race([app.db.sql(query), timeout]);
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

/**
 * Readiness: started, not stopping, and the database accepts writes; a standby or a node that is being demoted answers reads only.
 * @throws AppError 503 'Not ready'
 */
export async function requireReady(app: App): Promise<void> {
  const isReady = app.ports.instance.isReady() && (await probe(app, ACCEPTS_WRITES)).status === 'healthy';
  if (!isReady) throw refuse('not_ready', 503, 'Not ready');
}
