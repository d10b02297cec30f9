import type { App } from '../../core/app.ts';

export interface LedgerProblem {
  problem: string;
  /** Id of the row at fault, in the table that the problem is about. */
  rowId: number;
  detail: string;
}

/** Proves the whole ledger by SQL (spec 00, Ledger). An empty list means that it is clean. Reads only. */
export function checkLedger(app: App): Promise<LedgerProblem[]> {
  return app.db.sql<LedgerProblem>('SELECT problem, row_id, detail FROM ledger_check() LIMIT 1000');
}

/** Checks the ledger and logs an error for violations, which are never repaired automatically. @returns whether the ledger is clean */
export async function runLedgerCheck(app: App): Promise<boolean> {
  const problems = await checkLedger(app);
  if (problems.length > 0) app.log.error({ problems: problems.slice(0, 20), count: problems.length }, 'LEDGER CHECK FAILED');
  return problems.length === 0;
}
