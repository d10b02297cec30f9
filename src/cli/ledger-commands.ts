import { csvLine } from '../core/csv.ts';
import { countLedger, type LedgerHealth, readLedgerHealth, runLedgerCheck } from '../domain/ledger/check-ledger.ts';
import { makeLedgerReport } from '../domain/ledger/report/make-report.ts';
import { sumProviderTurnover } from '../domain/payments/provider-report.ts';
import { alignColumns, type Command, EXIT, timestampOf, UsageError } from './command.ts';
import { withApp } from './open-service.ts';

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

type Row = (string | number | null)[];

export const ledgerReportCommand: Command = {
  name: 'ledger report',
  parameters: '--from DATE [--to DATE]',
  summary: 'Balances and turnover of a period, as CSV; with --json as data.',
  details: [
    '--from DATE    first moment: a day such as 2026-11-01 (its midnight UTC) or a date with time',
    '--to DATE      the moment after the last one; without it, now',
    '',
    'Three tables: every account with its opening and closing balance (all wallets together), the movements by type, and what each provider',
    'paid in, took back and kept as its fee, where it reports that. Amounts are in kopeks.',
  ].join('\n'),
  options: { from: { type: 'string' }, to: { type: 'string' } },
  words: [0, 0],
  runsInService: true,
  run: (call) => {
    const from = timestampOf(call.options.from, '--from');
    const to = call.options.to === undefined ? null : timestampOf(call.options.to, '--to');
    return withApp(call, async (app) => {
      const end = to ?? app.clock.now();
      if (end <= from) throw new UsageError('--to must be after --from');
      const report = await makeLedgerReport(app, from, end);
      const providers = await sumProviderTurnover(app, from, end);
      const period = `${from.toISOString()} to ${end.toISOString()}`;
      const accounts: Row[] = report.accounts.map((line) => [
        ...[line.kind, line.key, line.openingKopeks, line.inKopeks, line.outKopeks, line.closingKopeks],
      ]);
      const turnover: Row[] = report.turnover.map((line) => [
        ...[line.type, line.kind, line.key, line.entries, line.inKopeks, line.outKopeks],
      ]);
      const fees: Row[] = providers.map((line) => [
        ...[line.method, line.payments, line.paidKopeks, line.reversals, line.reversedKopeks, line.paymentsWithFee],
        line.feeKopeks,
      ]);
      const rows: (string | number | null)[][] = [
        [`accounts, ${period}`],
        ['kind', 'account', 'opening', 'in', 'out', 'closing'],
        ...accounts,
        ['sum', null, report.openingSumKopeks, null, null, report.closingSumKopeks],
        [],
        [`turnover, ${period}`],
        ['type', 'kind', 'account', 'entries', 'in', 'out'],
        ...turnover,
        [],
        [`providers, ${period}`],
        ['method', 'payments', 'paid', 'reversals', 'reversed', 'payments with a known fee', 'fee'],
        ...fees,
      ];
      return { text: rows.map(csvLine).join(''), data: { ...report, providers } };
    });
  },
};
