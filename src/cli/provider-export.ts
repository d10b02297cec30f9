import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { parse } from 'csv-parse';
import type { ExportedPayment } from '../domain/payments/report/reconcile.ts';
import { CommandError } from './command.ts';

/** Names of columns that exports have; YooKassa's registry is in Russian. Compared in lower case. */
const ID_COLUMNS = ['id', 'payment_id', 'payment id', 'идентификатор платежа', 'id платежа'];
const AMOUNT_COLUMNS = ['amount', 'сумма платежа', 'сумма'];
const CURRENCY_COLUMNS = ['currency', 'валюта платежа', 'валюта'];

/** Bytes of a row: a quotation mark that is never closed does not bring the rest of a large file into memory. */
const MAX_ROW = 65_536;

/** Names of columns where they are others than the usual ones. */
export interface ExportColumns {
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
