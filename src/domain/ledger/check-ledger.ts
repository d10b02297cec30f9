import type { App } from '../../core/app.ts';

export interface LedgerProblem {
  problem: string;
  subjectId: number;
  detail: string;
}

/** Proves the whole ledger by SQL (spec 00, Ledger). An empty list means clean. Reads only. */
export async function checkLedger(app: App): Promise<LedgerProblem[]> {
  const rows = await app.db.sql<{ problem: string; rowId: number; detail: string }>(
    'SELECT problem, row_id, detail FROM ledger_check() LIMIT 1000',
  );
  return rows.map((row) => ({ problem: row.problem, subjectId: row.rowId, detail: row.detail }));
}

/** Checks the ledger and logs an error for violations, which are never repaired automatically. @returns whether the ledger is clean */
export async function runLedgerCheck(app: App): Promise<boolean> {
  const problems = await checkLedger(app);
  if (problems.length > 0) app.log.error({ problems: problems.slice(0, 20), count: problems.length }, 'LEDGER CHECK FAILED');
  return problems.length === 0;
}
