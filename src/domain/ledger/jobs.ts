import { MINUTE_MS } from '../../core/clock.ts';
import { defineJob } from '../../core/jobs/define-job.ts';
import { runLedgerCheck } from './check-ledger.ts';
import { countTransactionsByDay } from './count-transactions.ts';

/** Counts transactions by day, for the totals of lists. */
const countTransactions = defineJob({
  name: 'ledger.count',
  queue: { expireSeconds: 600 },
  every: () => MINUTE_MS,
  handle: (app) => countTransactionsByDay(app),
});

/** Receives the result of each check, for `/metrics`. */
export type LedgerCheckRecorder = (isClean: boolean, checkedAt: Date) => void;

/** Checks the whole ledger. */
const checkLedger = (recordCheck: LedgerCheckRecorder) =>
  defineJob({
    name: 'ledger.check',
    queue: { expireSeconds: 600 },
    every: () => 60 * MINUTE_MS,
    handle: async (app) => recordCheck(await runLedgerCheck(app), app.clock.now()),
  });

export const ledgerJobs = (recordCheck: LedgerCheckRecorder) => [countTransactions, checkLedger(recordCheck)];
