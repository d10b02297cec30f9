import type { App } from '../../core/app.ts';
import type { SqlRunner } from '../../core/db/db.ts';
import { type Deviation, deviationOf } from './deviations.ts';
import type { ImportResult } from './run-import.ts';
import { hasHome } from './source-revision.ts';

/** Rows of a code that a report names; `import_issues` has all of them. */
const NAMED = 1_000;

export interface ImportReport {
  runId: number;
  pass: number;
  sourceKind: string;
  sourceRevision: string;
  snapshotAt: Date;
  startedAt: Date;
  finishedAt: Date;
  result: ImportResult;
  deviations: ReportedDeviation[];
  lost: LostSubscription[];
}

export interface ReportedDeviation extends Deviation {
  code: string;
  count: number;
  /** Rows by table of the source, with the kopeks that they are about. */
  tables: Record<string, { count: number; kopeks: number | null }>;
  /** Table and id in the source, with what the report adds; the first thousand. */
  rows: { table: string; id: string; detail: unknown }[];
}

/**
 * The report of a pass (spec 07 section 10): what became of each table, and every deviation with the rows that have it. Ids only: no e-mail,
 * no secret.
 * @param pass null = the last one
 * @returns null when there is no such pass
 */
export async function readReport({ db }: Pick<App, 'db'>, pass: number | null): Promise<ImportReport | null> {
  const [run] = await db.sql<Omit<ImportReport, 'deviations' | 'lost' | 'result'> & { report: ImportResult }>(
    `SELECT id AS run_id, pass, source_kind, source_revision, snapshot_at, started_at, finished_at, report FROM import_runs
     WHERE $1::int IS NULL OR pass = $1::int ORDER BY pass DESC LIMIT 1`,
    [pass],
  );
  if (!run) return null;
  const { report: result, ...head } = run;
  const deviations = await readDeviations(db.sql, 'import_issues', run.runId);
  return { ...head, result, deviations, lost: await readLost(db.sql, 'import_issues', run.runId) };
}

/**
 * Deviations of a pass, by code.
 * @param issues the table that has them, as SQL names it: the prepared rows have no run yet
 */
export async function readDeviations(sql: SqlRunner, issues: string, runId = 0): Promise<ReportedDeviation[]> {
  const found = await sql<Omit<ReportedDeviation, keyof Deviation>>(
    `WITH i AS MATERIALIZED (SELECT *, row_number() OVER (PARTITION BY code ORDER BY id) AS place FROM ${issues} WHERE run_id = $1::int),
       t AS (SELECT code, source_table, count(*) AS count, sum(coalesce(detail ->> 'kopeks', detail ->> 'debt_kopeks')::numeric) AS kopeks FROM i GROUP BY 1, 2)
     SELECT code, count(*) AS count, (SELECT jsonb_object_agg(source_table, jsonb_build_object('count', t.count, 'kopeks', t.kopeks)) FROM t WHERE t.code = i.code) AS tables,
       jsonb_agg(jsonb_build_object('table', source_table, 'id', subject, 'detail', detail) ORDER BY id) FILTER (WHERE place <= ${NAMED}) AS rows
     FROM i GROUP BY code ORDER BY code`,
    [runId],
  );
  return found.map((row) => ({ ...row, ...deviationOf(row.code) }));
}

/** A live subscription that was kept aside because its owner has a later one (spec 07 section 1.4). */
export interface LostSubscription {
  userId: number;
  subscriptionId: number;
  tariffId: number | null;
  tariff: string | null;
  endDate: string;
  days: number;
  /** What the time costs in its tariff; null where nothing says a price. */
  kopeks: number | null;
  /** Bought and not run out. */
  trafficGb: number;
  /** Number or UUID at the panel. */
  panelUser: string | null;
  autopay: boolean;
}

/** All of them, of such a table as for deviations: they are what the operator pays days or balance by. */
export async function readLost(sql: SqlRunner, issues: string, runId = 0): Promise<LostSubscription[]> {
  return sql<LostSubscription>(
    `SELECT (detail ->> 'user_id')::bigint AS user_id, subject::bigint AS subscription_id, (detail ->> 'tariff_id')::bigint AS tariff_id,
       detail ->> 'tariff' AS tariff, detail ->> 'end_date' AS end_date, (detail ->> 'days')::bigint AS days, (detail ->> 'kopeks')::bigint AS kopeks,
       (detail ->> 'traffic_gb')::bigint AS traffic_gb, detail ->> 'panel_user' AS panel_user, (detail ->> 'autopay')::boolean AS autopay
     FROM ${issues} WHERE code = 'subscription_parked' AND run_id = $1::int ORDER BY 1, 2`,
    [runId],
  );
}

/** What the last pass has kept aside of a table for one reason: rows (`isWhole`), or values of rows that are here. */
export interface ParkedKind {
  table: string;
  reason: string;
  isWhole: boolean;
  count: number;
  /** Whether this release has a place for the table. */
  hasPlace: boolean;
}

export async function listParked({ db }: Pick<App, 'db'>): Promise<ParkedKind[]> {
  const kinds = await db.sql<Omit<ParkedKind, 'hasPlace'>>(
    `SELECT source_table AS "table", reason, is_whole, count(*) AS count FROM import_parked WHERE run_id = (SELECT max(id) FROM import_runs)
     GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
  );
  return kinds.map((kind) => ({ ...kind, hasPlace: hasHome(kind.table) }));
}
