import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FileAppender, LogFiles } from '../../../../src/core/log-files/log-files.ts';
import { writeTar } from '../../../../src/core/log-files/tar-archive.ts';
import { eventually } from '../../../support/eventually.ts';
import { entriesOf } from '../../../support/tar-entries.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'log-files-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const quiet = () => undefined;

test('several writers of one file: every line is whole, and none is lost', async () => {
  const path = join(folder, 'deep', 'bot.log');
  const writers = [1, 2, 3].map(() => new FileAppender(path, quiet));
  for (let n = 0; n < 500; n++) {
    for (const [id, writer] of writers.entries()) writer.write(`${id}:${n}:${'x'.repeat(200)}\n`);
    if (n % 50 === 0) await Promise.all(writers.map((writer) => writer.flush()));
  }
  await Promise.all(writers.map((writer) => writer.close()));
  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
  expect(lines).toHaveLength(1_500);
  expect(lines.every((line) => /^\d:\d+:x{200}$/.test(line))).toBe(true);
});

test('a file that was moved away gets nothing any more once it is noticed', async () => {
  const path = join(folder, 'bot.log');
  const writer = new FileAppender(path, quiet);
  writer.write('first\n');
  await writer.flush();
  await rename(path, join(folder, 'moved.log'));
  await eventually(async () => {
    writer.write('next\n');
    await writer.flush();
    expect(await readFile(path, 'utf8')).toContain('next');
  });
  const [moved, present] = await Promise.all([readFile(join(folder, 'moved.log'), 'utf8'), readFile(path, 'utf8')]);
  expect(moved).toMatch(/^first\n(next\n)*$/);
  expect(present).toMatch(/^(next\n)+$/);
  await writer.close();
});

test('a folder that cannot be written is reported and disturbs nobody', async () => {
  await writeFile(join(folder, 'taken'), '');
  const problems: number[] = [];
  const writer = new FileAppender(join(folder, 'taken', 'bot.log'), (_error, dropped) => problems.push(dropped));
  writer.write('a\n');
  writer.write('b\n');
  await writer.flush();
  expect(problems).toEqual([2]);
  await writer.close();
});

test('records go to the file of their level, errors of both levels to one, payments to their own, also early ones', async () => {
  const files = new LogFiles();
  const path = (name: string) => join(folder, `${name}.log`);
  const line = (level: string, fields: object = {}) =>
    JSON.stringify({ level, time: '2025-01-31T12:00:00.000Z', service: 's', msg: level, ...fields });
  files.write(line('info'));
  files.configure({
    main: path('bot'),
    parts: { info: path('info'), warning: path('warning'), error: path('error'), payments: path('payments') },
    timeZone: 'UTC',
  });
  for (const level of ['debug', 'warn', 'error', 'fatal']) files.write(line(level));
  files.write(line('warn', { paymentId: 7 }));
  await files.close();
  const levels = async (name: string) =>
    [...(await readFile(path(name), 'utf8')).matchAll(/\[([A-Z]+)\] \[service\]/g)].map(([, level]) => level);
  expect(await levels('bot')).toEqual(['INFO', 'DEBUG', 'WARNING', 'ERROR', 'CRITICAL', 'WARNING']);
  expect(await levels('info')).toEqual(['INFO']);
  expect(await levels('warning')).toEqual(['WARNING', 'WARNING']);
  expect(await levels('error')).toEqual(['ERROR', 'CRITICAL']);
  expect(await levels('payments')).toEqual(['WARNING']);
});

test('an archive contains exactly the given bytes', async () => {
  await mkdir(join(folder, 'a'));
  const contents = { 'bot.log': 'x'.repeat(1_500), 'empty.log': '', 'info.log': 'строка\n' };
  const files = [];
  for (const [name, text] of Object.entries(contents)) {
    const path = join(folder, 'a', name);
    // What is appended later is not archived.
    await writeFile(path, `${text}later`);
    files.push({ name, path, size: Buffer.byteLength(text), modifiedAt: new Date('2025-01-31T00:00:00Z') });
  }
  await writeTar(join(folder, 'a.tar.gz'), files, true);
  await writeTar(join(folder, 'a.tar'), files, false);
  const plain = await readFile(join(folder, 'a.tar'));
  expect(gunzipSync(await readFile(join(folder, 'a.tar.gz')))).toEqual(plain);
  expect(entriesOf(plain)).toEqual(contents);
});
