import { checkLedger } from '../domain/ledger/check-ledger.ts';
import { type Command, EXIT } from './command.ts';
import { withApp } from './open-service.ts';
import { alignColumns } from './text-table.ts';

const SHOWN = 50;

export const ledgerCheckCommand: Command = {
  name: 'ledger check',
  parameters: '',
  summary: 'Prove that all money adds up; exit code 1 when it does not.',
  words: [0, 0],
  run: (call) =>
    withApp(call, async (app) => {
      const problems = await checkLedger(app);
      const [facts] = await app.db.sql<{ transactions: number; entries: number; users: number }>(
        `SELECT (SELECT count(*) FROM transactions)::int AS transactions, (SELECT count(*) FROM ledger_entries)::int AS entries,
           (SELECT count(*) FROM users)::int AS users`,
      );
      const counts = `${facts!.transactions} transactions, ${facts!.entries} entries, ${facts!.users} users`;
      if (problems.length === 0) return { text: `The ledger is clean (${counts}).`, data: { ok: true, ...facts, problems } };
      const rows = problems.slice(0, SHOWN).map((problem) => [problem.problem, String(problem.rowId), problem.detail]);
      const text = [
        `The ledger is NOT clean: ${problems.length}${problems.length >= 1000 ? ' or more' : ''} differences (${counts}).`,
        '',
        alignColumns([['PROBLEM', 'ID', 'DETAIL'], ...rows]),
        ...(problems.length > SHOWN ? [`… and ${problems.length - SHOWN} more; --json shows them.`] : []),
        '',
        'Nothing repairs this by itself. Keep a copy of the database, stop paying out, and look at who wrote to the tables by hand.',
      ].join('\n');
      return { text, data: { ok: false, ...facts, problems }, exitCode: EXIT.failed };
    }),
};
