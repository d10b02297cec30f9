import type { App } from '../../core/app.ts';

export interface LedgerProblem {
  problem: string;
  subjectId: number;
  detail: string;
}

/** Proves the whole ledger by SQL (spec 00, Ledger). An empty list means clean. Reads only. */
export async function checkLedger(app: App): Promise<LedgerProblem[]> {
  const rows = await app.db.sql<{ problem: string; row_id: number; detail: string }>(
    'SELECT problem, row_id, detail FROM ledger_check() LIMIT 1000',
  );
  return rows.map((row) => ({ problem: row.problem, subjectId: row.row_id, detail: row.detail }));
}
