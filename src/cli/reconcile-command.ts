import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { parse } from 'csv-parse';
import { csvLine } from '../core/csv.ts';
import { formatPrice } from '../core/money.ts';
import { methodDefaults } from '../domain/payments/method-defaults.ts';
import { type ExportedPayment, reconcilePayments } from '../domain/payments/report/reconcile.ts';
import { type Command, CommandError, EXIT, UsageError } from './command.ts';
import { momentOf } from './moment-of.ts';
import { withApp } from './open-service.ts';

/** Names of columns that exports have; YooKassa's registry is in Russian. Compared in lower case. */
const ID_COLUMNS = ['id', 'payment_id', 'payment id', 'идентификатор платежа', 'id платежа'];
const AMOUNT_COLUMNS = ['amount', 'сумма платежа', 'сумма'];

export const reconcileCommand: Command = {
  name: 'payments reconcile',
  parameters: 'METHOD FILE --from DATE [--to DATE]',
  summary: 'Compare the export of a provider (CSV) with the payments credited here; exit code 1 when they differ.',
  details: [
    'FILE has one payment a row, a first row with names, and commas or semicolons between: the registry of YooKassa, or any file with the',
    'columns id and amount (rubles). An id is the one of the provider or our order id.',
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
    const [method, file] = call.words as [string, string];
    if (methodDefaults(method) === null) throw new UsageError(`there is no payment method ${method}`);
    const from = momentOf(call.options.from, '--from');
    const to = call.options.to === undefined ? null : momentOf(call.options.to, '--to');
    const columns = {
      id: typeof call.options['id-column'] === 'string' ? [call.options['id-column'].toLowerCase()] : ID_COLUMNS,
      amount: typeof call.options['amount-column'] === 'string' ? [call.options['amount-column'].toLowerCase()] : AMOUNT_COLUMNS,
    };
    return withApp(call, async (app) => {
      const period = { from, to: to ?? app.clock.now() };
      const found = await reconcilePayments(app, method, period, readExport(file, columns));
      const differs = found.different.length + found.missingHere.length + found.missingThere.length > 0;
      const rows: (string | number | null)[][] = [
        ['matched', found.matched, formatPrice(found.matchedKopeks, false)],
        ['state', 'payment', 'id', 'here, kopeks', 'there, kopeks'],
        ...found.different.map((row) => ['different', row.paymentId, row.externalId, row.amountKopeks, row.exportedKopeks]),
        ...found.missingHere.map((row) => ['missing here', null, row.id, null, row.amountKopeks]),
        ...found.missingThere.map((row) => ['missing there', row.paymentId, row.externalId, row.amountKopeks, null]),
      ];
      return { text: rows.map(csvLine).join(''), data: found, exitCode: differs ? EXIT.failed : EXIT.ok };
    });
  },
};

/** The rows of an export. @throws CommandError for a file that cannot be read or lacks a column, or an amount that is no decimal */
async function* readExport(
  file: string,
  columns: { id: readonly string[]; amount: readonly string[] },
): AsyncGenerator<ExportedPayment> {
  let line = 1;
  try {
    const parser = createReadStream(file).pipe(
      parse({ bom: true, delimiter: await delimiterOf(file), skip_empty_lines: true, trim: true, relax_column_count: true }),
    );
    let at: { id: number; amount: number } | null = null;
    for await (const row of parser as AsyncIterable<string[]>) {
      if (at === null) {
        const names = row.map((name) => name.toLowerCase());
        at = {
          id: names.findIndex((name) => columns.id.includes(name)),
          amount: names.findIndex((name) => columns.amount.includes(name)),
        };
        if (at.id < 0 || at.amount < 0)
          throw new CommandError('The first row of the file names no column of ids, or none of amounts');
      } else {
        const [id, amount] = [row[at.id] ?? '', row[at.amount] ?? ''];
        const kopeks = kopeksOf(amount);
        if (id === '' || kopeks === null) throw new CommandError(`Row ${line} of the file has no id or no readable amount`);
        yield { id, amountKopeks: kopeks };
      }
      line += 1;
    }
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`The file cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

/** Semicolons where the first line has more of them than commas. */
async function delimiterOf(file: string): Promise<string> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(4_096) });
    const first = buffer.toString('utf8', 0, bytesRead).split('\n', 1)[0]!;
    return first.split(';').length > first.split(',').length ? ';' : ',';
  } finally {
    await handle.close();
  }
}

/** Decimal rubles, with a comma or a point, in kopeks; blanks between thousands are left out. */
function kopeksOf(text: string): number | null {
  const match = /^(\d{1,12})(?:[.,](\d{1,2}))?$/.exec(text.replace(/[\s\u00a0]/g, ''));
  return match ? Number(match[1]) * 100 + Number((match[2] ?? '').padEnd(2, '0')) : null;
}
