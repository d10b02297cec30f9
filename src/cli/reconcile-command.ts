import { csvLine } from '../core/csv.ts';
import { formatPrice } from '../core/money.ts';
import { methodDefaults } from '../domain/payments/method-defaults.ts';
import { type Discrepancy, reconcilePayments } from '../domain/payments/report/reconcile.ts';
import { type Command, EXIT, UsageError } from './command.ts';
import { momentOf } from './moment-of.ts';
import { withApp } from './open-service.ts';
import { readProviderExport } from './provider-export.ts';

const HEADER = ['state', 'payment', 'id', 'here, kopeks', 'there, kopeks'];
const WORDS: Readonly<Record<Discrepancy['state'], string>> = {
  different: 'different',
  missingHere: 'missing here',
  missingThere: 'missing there',
  otherCurrency: 'other currency',
};

export const reconcileCommand: Command = {
  name: 'payments reconcile',
  parameters: 'METHOD FILE --from DATE [--to DATE]',
  summary: 'Compare the export of a provider (CSV) with the payments credited here; exit code 1 when they differ.',
  details: [
    'FILE has one payment a row, a first row with names, and commas or semicolons between, in UTF-8: the registry of YooKassa, or any file',
    'with the columns id and amount (rubles). An id is the one of the provider or our order id. Where there is a column currency, rows in',
    'another one than RUB are listed and not compared.',
    '',
    '--from DATE, --to DATE    period of our payments that must be in the file; UTC, --to excluded',
    '--id-column NAME          where the column of the ids has another name',
    '--amount-column NAME      where the column of the amounts has another name',
  ].join('\n'),
  options: {
    from: { type: 'string' },
    to: { type: 'string' },
    'id-column': { type: 'string' },
    'amount-column': { type: 'string' },
  },
  words: [2, 2],
  run: (call) => {
    const [id, file] = call.words as [string, string];
    const method = methodDefaults(id);
    if (method === null) throw new UsageError(`there is no payment method ${id}`);
    const from = momentOf(call.options.from, '--from');
    const to = call.options.to === undefined ? null : momentOf(call.options.to, '--to');
    if (to !== null && to <= from) throw new UsageError('--to must be after --from');
    const nameIn = (option: string | boolean | undefined) => (typeof option === 'string' ? option : undefined);
    const columns = { id: nameIn(call.options['id-column']), amount: nameIn(call.options['amount-column']) };
    return withApp(call, async (app) => {
      const period = { from, to: to ?? app.clock.now() };
      const found: Discrepancy[] = [];
      // As text each line is written at once, so that a large file needs no memory for what differs.
      const write = (cells: readonly (string | number | null)[]) => call.terminal.out(csvLine(cells));
      if (!call.isJson) write(HEADER);
      const report = call.isJson ? (row: Discrepancy) => void found.push(row) : (row: Discrepancy) => write(lineOf(row));
      const exported = readProviderExport(file, columns);
      const totals = await reconcilePayments(app, method.provider ?? method.id, period, exported, report);
      if (!call.isJson) write(['matched', totals.matched, formatPrice(totals.matchedKopeks, false)]);
      return { text: null, data: { ...totals, found }, exitCode: totals.discrepancies > 0 ? EXIT.failed : EXIT.ok };
    });
  },
};

function lineOf({ state, payment, exported }: Discrepancy): (string | number | null)[] {
  const id = payment?.externalId ?? exported?.id ?? null;
  return [WORDS[state], payment?.paymentId ?? null, id, payment?.amountKopeks ?? null, exported?.amountKopeks ?? null];
}
