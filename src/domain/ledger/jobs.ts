import { MINUTE_MS } from '../../core/clock.ts';
import { defineJob } from '../../core/jobs/define-job.ts';
import { runLedgerCheck } from './check-ledger.ts';
import { countTransactionsByDay } from './transactions.ts';

/** Counts transactions by day, for the totals of lists. */
const countTransactions = defineJob({
  name: 'ledger.count',
  queue: { expireSeconds: 600 },
  every: () => MINUTE_MS,
  handle: (app) => countTransactionsByDay(app),
});

/** Checks what is new in the ledger, and a share of the rest. A run that is cut short keeps its progress. */
const checkLedger = defineJob({
  name: 'ledger.check',
  queue: { expireSeconds: 600 },
  every: () => 60 * MINUTE_MS,
  handle: async (app, { signal }) => {
    const { problems } = await runLedgerCheck(app, { signal });
    const kinds = [...new Set(problems.map(({ problem }) => problem))].slice(0, 5).join(', ');
    if (kinds === '') return;
    const fault = { kind: 'ledger_problems', source: 'ledger', detail: kinds } as const;
    await app.jobs.send('ops.report-fault', fault, { singletonKey: 'ledger_problems' });
  },
});

export const ledgerJobs = [countTransactions, checkLedger];
