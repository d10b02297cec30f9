import { type LedgerHealth, readLedgerHealth } from '../domain/ledger/check/health.ts';
import { countLedger, runLedgerCheck } from '../domain/ledger/check-ledger.ts';
import { type Command, EXIT } from './command.ts';
import { withApp } from './open-service.ts';
import { alignColumns } from './text-table.ts';

const SHOWN = 50;
/** Progress is shown in steps of this part of the whole. */
const SHOWN_STEP = 0.05;

export const ledgerCheckCommand: Command = {
  name: 'ledger check',
  parameters: '[--full]',
  summary: 'Prove that all money adds up; exit code 1 when it does not.',
  details: [
    'Checks what is new since the last check and a share of everything else, as the service does every hour: a ledger of up to',
    'about 100,000 transactions completely.',
    '',
    '--full    checks everything from the start, in steps; after a restore, or after work on the tables by hand',
  ].join('\n'),
  options: { full: { type: 'boolean' } },
  words: [0, 0],
  runsInService: true,
  run: (call) =>
    withApp(call, async (app) => {
      let shown = 0;
      const showStep = (share: number) => {
        if (share < shown + SHOWN_STEP) return;
        shown = share;
        call.progress(`${Math.floor(share * 100)} % of the whole ledger checked …`);
      };
      const { problems, ...found } = await runLedgerCheck(app, call.options.full === true ? { onFullStep: showStep } : {});
      const facts = await countLedger(app);
      const health = await readLedgerHealth(app);
      const counts = `${facts.transactions} transactions, ${facts.entries} entries, ${facts.users} users`;
      const data = {
        ...{ ok: problems.length === 0, ...facts, problems },
        ...{ throughTransaction: found.through.transactionId, newTransactions: found.transactions },
        fullyCheckedAt: health.fullyCheckedAt,
      };
      const scope = describeScope(found.transactions, found.through.transactionId, health);
      if (problems.length === 0) return { text: `The ledger is clean (${counts}).\n${scope}`, data };
      const rows = problems.slice(0, SHOWN).map((problem) => [problem.problem, String(problem.rowId), problem.detail]);
      const text = [
        `The ledger is NOT clean: ${problems.length}${problems.length >= 1000 ? ' or more' : ''} differences (${counts}).`,
        scope,
        '',
        alignColumns([['PROBLEM', 'ID', 'DETAIL'], ...rows]),
        ...(problems.length > SHOWN ? [`… and ${problems.length - SHOWN} more; --json shows them.`] : []),
        '',
        'Nothing repairs this by itself. Keep a copy of the database, stop paying out, and look at who wrote to the tables by hand.',
      ].join('\n');
      return { text, data, exitCode: EXIT.failed };
    }),
};

function describeScope(transactions: number, through: number, { fullyCheckedAt }: LedgerHealth): string {
  const full =
    fullyCheckedAt === null
      ? 'not everything has been checked yet: run ledger check --full'
      : `the last check of everything ended at ${fullyCheckedAt.toISOString()}`;
  return `Checked ${transactions} new transactions, up to transaction ${through}; ${full}.`;
}
