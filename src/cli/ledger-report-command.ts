import { csvLine } from '../core/csv.ts';
import { makeLedgerReport } from '../domain/ledger/report/make-report.ts';
import { sumProviderTurnover } from '../domain/payments/report/provider-turnover.ts';
import { type Command, UsageError } from './command.ts';
import { momentOf } from './moment-of.ts';
import { withApp } from './open-service.ts';

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
    const from = momentOf(call.options.from, '--from');
    const to = call.options.to === undefined ? null : momentOf(call.options.to, '--to');
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
