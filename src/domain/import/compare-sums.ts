import type { SqlRunner } from '../../core/db/db.ts';
import { type ImportStep, literal, NEXT_SCHEMA, nextTable, sourceTable } from './import-step.ts';
import { CONTACT_SUMS } from './verify-contact.ts';
import { GROWTH_SUMS } from './verify-growth.ts';
import type { SumComparison } from './verify-import.ts';
import { MONEY_SUMS, PEOPLE_SUMS } from './verify-people-and-money.ts';
import { SUBSCRIPTION_SUMS } from './verify-subscriptions.ts';

/** One sum on both sides; those that differ come first. */
export interface ComparedSum {
  name: string;
  rows: { key: string | null; sourceRows: number; targetRows: number; sourceKopeks: number; targetKopeks: number }[];
}

const SUMS: readonly SumComparison[] = [PEOPLE_SUMS, MONEY_SUMS, SUBSCRIPTION_SUMS, GROWTH_SUMS, CONTACT_SUMS].flat();
/** Keys of a sum that a report has; all further ones are one row. */
const LISTED = 1_000;
const STORED = sourceTable('~sums');

/** Stores the sums of the loaded source: the rules change these rows. */
export const sourceSumStep: ImportStep = {
  name: 'sums of the source',
  async prepare({ sql }) {
    await sql(`CREATE UNLOGGED TABLE ${STORED} (name text, key text, rows numeric, kopeks numeric)`);
    for (const { name, source } of SUMS)
      await sql(
        `INSERT INTO ${STORED} SELECT ${literal(name)}, key, rows, kopeks FROM (${source.replaceAll('public.import_runs', nextTable('import_runs'))}) s`,
      );
  },
};

/**
 * Sums of both sides (spec 07 section 10).
 * @param there of the source: `loaded` reads its rows, `stored` what a pass has remembered before its rules
 * @param here of ours: the service's rows, or the prepared ones, which have no ledger
 */
export async function compareSums(
  sql: SqlRunner,
  there: 'loaded' | 'stored',
  here: 'service' | 'prepared',
): Promise<ComparedSum[]> {
  const compared: ComparedSum[] = [];
  for (const { name, source, target } of SUMS) {
    if (here === 'prepared' && target.includes('public.ledger_')) continue;
    const ours = here === 'service' ? target : target.replaceAll('public.', `${NEXT_SCHEMA}.`);
    const theirs = there === 'loaded' ? source : `SELECT key, rows, kopeks FROM ${STORED} WHERE name = ${literal(name)}`;
    const rows = await sql<ComparedSum['rows'][number]>(
      `SELECT CASE WHEN place <= ${LISTED} THEN key ELSE 'all others' END AS key, sum(source_rows)::bigint AS source_rows, sum(target_rows)::bigint AS target_rows,
         sum(source_kopeks)::bigint AS source_kopeks, sum(target_kopeks)::bigint AS target_kopeks
       FROM (SELECT *, row_number() OVER (ORDER BY (source_rows, source_kopeks) = (target_rows, target_kopeks), key) AS place
         FROM (SELECT coalesce(s.key, t.key) AS key, coalesce(s.rows, 0) AS source_rows, coalesce(t.rows, 0) AS target_rows,
             coalesce(s.kopeks, 0) AS source_kopeks, coalesce(t.kopeks, 0) AS target_kopeks
           FROM (${theirs}) s FULL JOIN (${ours}) t ON t.key = s.key) b) p GROUP BY 1 ORDER BY min(place)`,
    );
    compared.push({ name, rows });
  }
  return compared;
}
