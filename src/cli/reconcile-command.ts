import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { parse } from 'csv-parse';
import { csvLine } from '../core/csv.ts';
import { formatPrice } from '../core/money.ts';
import { methodDefaults } from '../domain/payments/payment-methods.ts';
import { type Discrepancy, type ExportedPayment, reconcilePayments } from '../domain/payments/provider-report.ts';
import { type Command, CommandError, EXIT, timestampOf, UsageError } from './command.ts';
import { withApp } from './open-service.ts';

/** Names of columns that exports have; YooKassa's registry is in Russian. Compared in lower case. */
const ID_COLUMNS = ['id', 'payment_id', 'payment id', 'идентификатор платежа', 'id платежа'];
const AMOUNT_COLUMNS = ['amount', 'сумма платежа', 'сумма'];
const CURRENCY_COLUMNS = ['currency', 'валюта платежа', 'валюта'];

/** Bytes of a row: a quotation mark that is never closed does not bring the rest of a large file into memory. */
const MAX_ROW = 65_536;

/** Names of columns where they are others than the usual ones. */
interface ExportColumns {
  id?: string | undefined;
  amount?: string | undefined;
}

/**
 * The rows of the export of a provider, read row by row: UTF-8, a first row with names, commas or semicolons between.
 * @throws CommandError for a file that cannot be read, has no rows or lacks a column; for a row without an id, or whose amount is no decimal
 */
export async function* readProviderExport(path: string, columns: ExportColumns = {}): AsyncGenerator<ExportedPayment> {
  let row = 1;
  try {
    const delimiter = await delimiterOf(path);
    const file = await open(path);
    const parser = parse({
      ...{ bom: true, delimiter, skip_empty_lines: true, trim: true, relax_column_count: true, max_record_size: MAX_ROW },
    });
    // Hands an error of the file to the parser; it reaches the loop there.
    pipeline(file.createReadStream(), parser, () => undefined);
    let at: ColumnPlaces | null = null;
    for await (const cells of parser as AsyncIterable<string[]>) {
      if (at === null) at = placesOf(cells, columns);
      else yield readRow(cells, at, row);
      row += 1;
    }
    if (at === null) throw new CommandError('The file has no rows');
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`The file cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

interface ColumnPlaces {
  id: number;
  amount: number;
  /** -1 = the export has no such column. */
  currency: number;
}

function placesOf(cells: readonly string[], { id, amount }: ExportColumns): ColumnPlaces {
  const names = cells.map((name) => name.toLowerCase());
  const place = (known: readonly string[], named?: string) =>
    names.findIndex((name) => (named === undefined ? known.includes(name) : name === named.toLowerCase()));
  const places = { id: place(ID_COLUMNS, id), amount: place(AMOUNT_COLUMNS, amount), currency: place(CURRENCY_COLUMNS) };
  if (places.id < 0 || places.amount < 0) {
    throw new CommandError('The first row of the file names no column of ids, or none of amounts; the file has to be UTF-8');
  }
  return places;
}

function readRow(cells: readonly string[], at: ColumnPlaces, row: number): ExportedPayment {
  const id = cells[at.id] ?? '';
  const amountKopeks = kopeksOf(cells[at.amount] ?? '');
  // No provider has control characters in its ids, and the database refuses one of them.
  if (id === '' || /\p{Cc}/u.test(id)) throw new CommandError(`Row ${row} of the file has no readable id`);
  if (amountKopeks === null) {
    throw new CommandError(`Row ${row} of the file has no readable amount: it needs rubles without a sign, such as 1234.50`);
  }
  const currency = cells[at.currency] || null;
  return { id, amountKopeks, currency: currency?.toUpperCase() ?? null };
}

/** Semicolons where the first line has more of them than commas. */
async function delimiterOf(path: string): Promise<string> {
  const handle = await open(path);
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
  const match = /^(\d{1,12})(?:[.,](\d{1,2})0*)?$/.exec(text.replace(/[\s\u00a0]/g, ''));
  return match ? Number(match[1]) * 100 + Number((match[2] ?? '').padEnd(2, '0')) : null;
}

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
    const from = timestampOf(call.options.from, '--from');
    const to = call.options.to === undefined ? null : timestampOf(call.options.to, '--to');
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
