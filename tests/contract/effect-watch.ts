/** Watches what a request sets in motion: handlers entered, calls to outside systems, rows changed. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { App } from '../../src/core/app.ts';
import type { RestRoute } from '../../src/rest/route-table.ts';

type Step = (options: unknown) => unknown;

export interface EffectWatch {
  /** Procedure paths whose handler was entered, in order. */
  readonly handled: string[];
  /** Outbound HTTP requests, whoever makes them. */
  readonly outbound: string[];
  clear(): void;
  stop(): void;
}

/**
 * Puts a counter in front of the last step of every procedure's chain, which is its handler, and listens to Node's own report of
 * outgoing requests. Both doors run these very chains, so nothing enters a handler unseen.
 */
export function watchEffects(routes: readonly RestRoute[]): EffectWatch {
  const handled: string[] = [];
  const outbound: string[] = [];
  const restore = routes.map(({ procedure, procedurePath }) => {
    const steps = (procedure._def as unknown as { middlewares: Step[] }).middlewares;
    const last = steps.length - 1;
    const handler = steps[last]!;
    steps[last] = (options) => {
      handled.push(procedurePath);
      return handler(options);
    };
    return () => {
      steps[last] = handler;
    };
  });
  const onFetch = (message: unknown) => {
    const { request } = message as { request: { method: string; origin: string; path: string } };
    outbound.push(`${request.method} ${request.origin}${request.path}`);
  };
  const onHttp = (message: unknown) => {
    const { request } = message as { request: { method: string; host: string; path: string } };
    outbound.push(`${request.method} ${request.host}${request.path}`);
  };
  subscribe('undici:request:create', onFetch);
  subscribe('http.client.request.start', onHttp);
  return {
    handled,
    outbound,
    clear() {
      handled.length = 0;
      outbound.length = 0;
    },
    stop() {
      for (const undo of restore) undo();
      unsubscribe('undici:request:create', onFetch);
      unsubscribe('http.client.request.start', onHttp);
    },
  };
}

/** Tables that a refused request may write: what was refused is on record, and knocks are counted. */
const RECORDS = new Set(['admin_audit_log', 'rate_limit_windows', 'schema_migrations', 'schema_sql']);

/** A digest of every row of every table (jobs too), to compare before and after. */
export async function databaseDigests(app: App): Promise<Record<string, string>> {
  const tables = await app.db.sql<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
     WHERE schemaname = 'public' OR (schemaname = 'jobs' AND tablename = 'job') ORDER BY 1`,
  );
  const digests: Record<string, string> = {};
  for (const { name } of tables) {
    if (RECORDS.has(name.replace('public.', ''))) continue;
    const [row] = await app.db.sql<{ digest: string | null; rows: number }>(
      `SELECT md5(string_agg(md5(x::text), '' ORDER BY md5(x::text))) AS digest, count(*)::int AS rows FROM ${name} x`,
    );
    digests[name] = `${row!.rows} rows ${row!.digest ?? ''}`;
  }
  return digests;
}
