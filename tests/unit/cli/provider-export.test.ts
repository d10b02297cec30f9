import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CommandError } from '../../../src/cli/command.ts';
import { readProviderExport } from '../../../src/cli/reconcile-command.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'export-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function rowsOf(path: string, columns = {}) {
  const rows = [];
  for await (const row of readProviderExport(path, columns)) rows.push(row);
  return rows;
}

async function read(content: string | Buffer, columns = {}) {
  const path = join(folder, 'export.csv');
  await writeFile(path, content);
  return rowsOf(path, columns);
}

test.each([
  ['commas and points', 'id,amount\na,1234.5\n', 123_450, null],
  ['semicolons and decimal commas', 'ID;Amount\na;1234,50\n', 123_450, null],
  ['a mark of the byte order, and ends of lines of Windows', '\uFEFFid;amount\r\na;1234,50\r\n', 123_450, null],
  ['blanks between thousands, also ones that do not break', 'id;amount\na;"1 234\u00a0567,50"\n', 123_456_750, null],
  ['zeros beyond kopeks', 'id,amount\na,10.5000\n', 1_050, null],
  ['the registry of YooKassa', 'Идентификатор платежа;Сумма платежа;Валюта платежа\na;10,00;rub\n', 1_000, 'RUB'],
  ['a currency', 'id,amount,currency\na,10.00,usd\n', 1_000, 'USD'],
])('reads %s', async (_what, content, amountKopeks, currency) => {
  expect(await read(content)).toEqual([{ id: 'a', amountKopeks, currency }]);
});

test('takes columns by the names that are given', async () => {
  const content = 'id,amount,Reference,Sum\nx,1.00,a,2.00\n';
  expect(await read(content, { id: 'reference', amount: 'SUM' })).toEqual([{ id: 'a', amountKopeks: 200, currency: null }]);
});

test.each([
  ['nothing', '', 'The file has no rows'],
  ['no known column', 'a,b\n1,2\n', /names no column of ids/],
  ['another encoding', Buffer.from([0xc8, 0xe4, 0x3b, 0xd1, 0x0a]), /UTF-8/],
  ['a row without an id', 'id,amount\n,1.00\n', 'Row 2 of the file has no readable id'],
  ['an id that no provider has', 'id,amount\na\0b,1.00\n', 'Row 2 of the file has no readable id'],
  ['a sign', 'id,amount\na,-1.00\n', /Row 2 of the file has no readable amount/],
  ['parts of a kopek', 'id,amount\na,1.005\n', /no readable amount/],
  ['an exponent', 'id,amount\na,1e3\n', /no readable amount/],
  ['two separators', 'id,amount\na,"1,234.50"\n', /no readable amount/],
  ['an open quotation mark', 'id,amount\n"a,1.00\n', /cannot be read: Quote Not Closed/],
])('refuses %s with the place', async (_what, content, message) => {
  const reading = read(content);
  await expect(reading).rejects.toThrow(message);
  await expect(reading).rejects.toBeInstanceOf(CommandError);
});

test('an open quotation mark does not bring a large file into memory', async () => {
  await expect(read(`id,amount\n"a,${'1.00\n'.repeat(200_000)}`)).rejects.toThrow(/Max Record Size/);
});

test.each(['missing.csv', '.'])('a file that cannot be opened (%s) is an answer, not the end of the process', async (name) => {
  const reading = rowsOf(join(folder, name));
  await expect(reading).rejects.toThrow(/The file cannot be read/);
});
