import type { App } from '../../core/app.ts';
import type { SqlRunner } from '../../core/db/db.ts';
import { ImportRefused, type ImportSource } from './import-source.ts';
import { loadSource } from './load-source.ts';
import { recogniseSource } from './source-revision.ts';
import { ACCESS_COMPARISONS, CONTACT_COMPARISONS, CONTACT_SUMS, MENU_AND_FILE_COMPARISONS } from './verify-contact.ts';
import { ENGAGEMENT_COMPARISONS, GROWTH_COMPARISONS, GROWTH_SUMS, SALE_COMPARISONS } from './verify-growth.ts';
import { MONEY_COMPARISONS, MONEY_SUMS, PEOPLE_COMPARISONS, PEOPLE_SUMS } from './verify-people-and-money.ts';
import { SUBSCRIPTION_COMPARISONS, SUBSCRIPTION_SUMS } from './verify-subscriptions.ts';

/**
 * Rows of one table of the source against those of ours, by SQL that shares nothing with the import's own. Both queries return `id` and the
 * same values, in the source's meaning; `source` reads the loaded tables.
 */
export interface Comparison {
  /** Table of the source; its deviations explain rows that differ. */
  table: string;
  /** Columns behind `id` and their types are the same in both. */
  source: string;
  target: string;
  /** How the deviations name a row, over `id`; its text unless given. */
  subject?: string;
}

/** A table of counts and kopeks: both queries return `key`, `rows` and `kopeks`. */
export interface SumComparison {
  name: string;
  source: string;
  target: string;
}

interface Difference {
  table: string;
  id: string;
  /** Null: it has no such row. */
  source: Readonly<Record<string, unknown>> | null;
  target: Readonly<Record<string, unknown>> | null;
}

interface SumRow {
  key: string;
  sourceRows: number;
  targetRows: number;
  sourceKopeks: number;
  targetKopeks: number;
}

export interface VerifyResult {
  snapshotAt: Date;
  /** Rows that differ and have no deviation that says so; the first thousand. Empty = the import is right. */
  differences: Difference[];
  differing: number;
  /** Rows that differ as a deviation says. */
  explained: number;
  sums: { name: string; rows: SumRow[] }[];
  checks: { name: string; isOk: boolean; finding: string | null }[];
}

const LISTED = 1_000;
/** Codes of rows that are listed, or of which columns were kept aside: what is compared stays as it is, so they explain no difference. */
const UNCHANGED_BY = [
  ...['user_phantom', 'identity_missing', 'balance_history_difference', 'transaction_twin', 'transaction_duplicate_suffix'],
  ...['earning_source_missing', 'earning_reason_unknown', 'subscription_expired_early', 'autopay_period_ignored'],
  ...['ticket_media_extra', 'setting_to_review', 'column_unknown'],
]
  .map((code) => `'${code}'`)
  .join(', ');
const COMPARISONS: readonly Comparison[] = [
  ...[
    PEOPLE_COMPARISONS,
    MONEY_COMPARISONS,
    SUBSCRIPTION_COMPARISONS,
    GROWTH_COMPARISONS,
    ENGAGEMENT_COMPARISONS,
    SALE_COMPARISONS,
  ],
  ...[CONTACT_COMPARISONS, MENU_AND_FILE_COMPARISONS, ACCESS_COMPARISONS],
].flat();
const SUMS: readonly SumComparison[] = [PEOPLE_SUMS, MONEY_SUMS, SUBSCRIPTION_SUMS, GROWTH_SUMS, CONTACT_SUMS].flat();

/**
 * Compares a source with what was imported of it: every row, and sums (spec 07 sections 2 and 10). The source is loaded again, in a
 * transaction that is rolled back: nothing is written.
 * @throws ImportRefused
 */
export async function verifyImport(app: Pick<App, 'db'>, source: ImportSource): Promise<VerifyResult> {
  const revision = await recogniseSource(source);
  const found: { result?: VerifyResult } = {};
  const done = await app.db.long!.alone(async (session) => {
    const rolledBack = new Error('verified');
    await session
      .write(async (sql, copyIn) => {
        await loadSource(sql, copyIn, source, { revision, withLogs: false, throttle: null, watch: null });
        await sql("SET LOCAL work_mem = '64MB'");
        found.result = await compare(sql, source.snapshotAt);
        throw rolledBack;
      })
      .catch((error: unknown) => {
        if (error !== rolledBack) throw error;
      });
  });
  if (done === null)
    throw new ImportRefused('import_running', 'Another import, a backup or a restore is running. Wait until it has ended.');
  return found.result!;
}

async function compare(sql: SqlRunner, snapshotAt: Date): Promise<VerifyResult> {
  const result: VerifyResult = { snapshotAt, differences: [], differing: 0, explained: 0, sums: [], checks: [] };
  for (const comparison of COMPARISONS) await compareRows(sql, comparison, result);
  for (const { name, source, target } of SUMS)
    result.sums.push({
      name,
      rows: await sql<SumRow>(
        `SELECT coalesce(s.key, t.key) AS key, coalesce(s.rows, 0)::bigint AS source_rows, coalesce(t.rows, 0)::bigint AS target_rows,
           coalesce(s.kopeks, 0)::bigint AS source_kopeks, coalesce(t.kopeks, 0)::bigint AS target_kopeks
         FROM (${source}) s FULL JOIN (${target}) t ON t.key = s.key ORDER BY 1`,
      ),
    });
  const problems = await sql<{ problem: string }>('SELECT DISTINCT problem FROM ledger_check() ORDER BY problem');
  result.checks.push({
    name: 'ledger',
    isOk: problems.length === 0,
    finding: problems.map(({ problem }) => problem).join(', ') || null,
  });
  return result;
}

async function compareRows(
  sql: SqlRunner,
  { table, source, target, subject = 'id::text' }: Comparison,
  result: VerifyResult,
): Promise<void> {
  await sql('DROP TABLE IF EXISTS import_differing');
  await sql(
    `CREATE TEMP TABLE import_differing ON COMMIT DROP AS
     SELECT coalesce(s.id, t.id) AS id, to_jsonb(s) AS source, to_jsonb(t) AS target
     FROM (${source}) s FULL JOIN (${target}) t ON t.id = s.id WHERE s IS DISTINCT FROM t`,
  );
  const isExplained = `${subject} IN (SELECT subject FROM import_issues WHERE source_table = '${table}' AND code NOT IN (${UNCHANGED_BY})
    UNION ALL SELECT source_id FROM import_parked WHERE source_table = '${table}' AND reason NOT IN (${UNCHANGED_BY}))`;
  const [counted] = await sql<{ explained: number; differing: number }>(
    `SELECT count(*) FILTER (WHERE ${isExplained}) AS explained, count(*) FILTER (WHERE NOT ${isExplained}) AS differing FROM import_differing`,
  );
  result.explained += counted!.explained;
  result.differing += counted!.differing;
  const left = LISTED - result.differences.length;
  if (counted!.differing === 0 || left === 0) return;
  const rows = await sql<Omit<Difference, 'table'>>(
    `SELECT id::text, source - 'id' AS source, target - 'id' AS target FROM import_differing WHERE NOT ${isExplained} ORDER BY 1 LIMIT ${left}`,
  );
  result.differences.push(...rows.map((row) => ({ table, ...row })));
}
