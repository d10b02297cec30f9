import type { App } from '../../core/app.ts';
import type { SqlRunner } from '../../core/db/db.ts';
import { sequencesBehind } from '../backups/bulk-load.ts';
import { type ComparedSum, compareSums } from './compare-sums.ts';
import { ImportRefused, type ImportSource } from './import-source.ts';
import { loadSource } from './load-source.ts';
import { recogniseSource } from './source-revision.ts';
import { ACCESS_COMPARISONS, CONTACT_COMPARISONS, MENU_AND_FILE_COMPARISONS } from './verify-contact.ts';
import { ENGAGEMENT_COMPARISONS, GROWTH_COMPARISONS, SALE_COMPARISONS } from './verify-growth.ts';
import { MONEY_COMPARISONS, PEOPLE_COMPARISONS } from './verify-people-and-money.ts';
import { SUBSCRIPTION_COMPARISONS } from './verify-subscriptions.ts';

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
  /** A query of the rows that may differ, in place of those that have a deviation of the table. */
  explained?: string;
}

/** A table of counts and kopeks: both queries return `key`, `rows` and `kopeks`. */
export interface SumComparison {
  name: string;
  source: string;
  target: string;
}

export interface Difference {
  table: string;
  id: string;
  /** Null: it has no such row. */
  source: Readonly<Record<string, unknown>> | null;
  target: Readonly<Record<string, unknown>> | null;
}

export interface VerifyResult {
  /** Of the last pass; null when there is none. */
  runId: number | null;
  snapshotAt: Date;
  /** Rows that differ and have no deviation that says so; the first thousand. Empty = the import is right. */
  differences: Difference[];
  differing: number;
  /** Rows that differ as a deviation says. */
  explained: number;
  sums: ComparedSum[];
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

/**
 * Compares a source with what was imported of it: every row, and sums (spec 07 sections 2 and 10). The source is loaded again, in a
 * transaction that is rolled back: nothing is written.
 * @param onDifferences gets every difference, some of them at a time
 * @throws ImportRefused
 */
export async function verifyImport(
  app: Pick<App, 'db'>,
  source: ImportSource,
  onDifferences: (differences: readonly Difference[]) => Promise<void> = async () => undefined,
): Promise<VerifyResult> {
  const revision = await recogniseSource(source);
  const found: { result?: VerifyResult } = {};
  const done = await app.db.long!.alone(async (session) => {
    const rolledBack = new Error('verified');
    await session
      .write(async (sql, copyIn) => {
        await loadSource(sql, copyIn, source, { revision, withLogs: false, throttle: null, watch: null });
        await sql("SET LOCAL work_mem = '64MB'");
        found.result = await compare(sql, source.snapshotAt, onDifferences);
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

type OnDifferences = NonNullable<Parameters<typeof verifyImport>[2]>;

async function compare(sql: SqlRunner, snapshotAt: Date, onDifferences: OnDifferences): Promise<VerifyResult> {
  const [run] = await sql<{ id: number | null }>('SELECT max(id) AS id FROM import_runs');
  const result: VerifyResult = {
    ...{ runId: run!.id, snapshotAt, differences: [], differing: 0, explained: 0 },
    ...{ sums: await compareSums(sql, 'loaded', 'service'), checks: [] },
  };
  for (const comparison of COMPARISONS) await compareRows(sql, comparison, result, onDifferences);
  const problems = await sql<{ problem: string }>('SELECT DISTINCT problem FROM ledger_check() ORDER BY problem');
  for (const [name, findings] of Object.entries({
    ledger: problems.map(({ problem }) => problem),
    sequences: await sequencesBehind(sql),
  }))
    result.checks.push({ name, isOk: findings.length === 0, finding: findings.join(', ') || null });
  return result;
}

async function compareRows(
  sql: SqlRunner,
  { table, source, target, subject = 'id::text', explained }: Comparison,
  result: VerifyResult,
  onDifferences: OnDifferences,
): Promise<void> {
  const named =
    explained ??
    `SELECT subject FROM import_issues WHERE source_table = '${table}' AND code NOT IN (${UNCHANGED_BY})
     UNION ALL SELECT source_id FROM import_parked WHERE source_table = '${table}' AND reason NOT IN (${UNCHANGED_BY})`;
  await sql('DROP TABLE IF EXISTS import_differing');
  // The columns of ours get the names of the source's. A row without an id is kept aside, and cannot be named.
  await sql(
    `CREATE TEMP TABLE import_differing ON COMMIT DROP AS
     SELECT d.*, coalesce(${subject} IN (${named}), true) AS is_explained, row_number() OVER (ORDER BY id) AS place
     FROM (SELECT coalesce(s.id, t.id) AS id, to_jsonb(s) AS source, to_jsonb(t) AS target
       FROM (${source}) s FULL JOIN (SELECT * FROM (${source}) n WHERE false UNION ALL ${target}) t ON t.id = s.id WHERE s IS DISTINCT FROM t) d`,
  );
  await sql('CREATE INDEX ON import_differing (place) WHERE NOT is_explained');
  const [counted] = await sql<{ explained: number; differing: number }>(
    'SELECT count(*) FILTER (WHERE is_explained) AS explained, count(*) FILTER (WHERE NOT is_explained) AS differing FROM import_differing',
  );
  result.explained += counted!.explained;
  result.differing += counted!.differing;
  for (let [last, left] = [0, counted!.differing]; left > 0; ) {
    const rows = await sql<Omit<Difference, 'table'> & { place: number }>(
      `SELECT id::text, source - 'id' AS source, target - 'id' AS target, place FROM import_differing
       WHERE NOT is_explained AND place > $1::bigint ORDER BY place LIMIT ${LISTED}`,
      [last],
    );
    const differences = rows.map(({ id, source: there, target: here }) => ({ table, id, source: there, target: here }));
    await onDifferences(differences);
    result.differences.push(...differences.slice(0, LISTED - result.differences.length));
    left -= rows.length;
    last = rows.at(-1)!.place;
  }
}
