import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { type AccountLine, sumAccounts, sumTurnover } from './repo.ts';

/**
 * Opening and closing balance of each account, and the movements between by type. Every figure is summed over the entries of the ledger, in
 * one snapshot of the database.
 * @returns what the ledger says of a period: times UTC, `from` included, `to` not; amounts are kopeks
 */
export function makeLedgerReport(app: App, from: Date, to: Date) {
  return inTransaction(app, async (t) => {
    await t.db.sql('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    const accounts = await sumAccounts(t.db, from, to);
    const turnover = await sumTurnover(t.db, from, to);
    const sum = (pick: (line: AccountLine) => number) => accounts.reduce((total, line) => total + pick(line), 0);
    return {
      ...{ from, to, accounts, turnover },
      openingSumKopeks: sum((line) => line.openingKopeks),
      closingSumKopeks: sum((line) => line.closingKopeks),
    };
  });
}
