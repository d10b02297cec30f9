import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countCharactersOf, countCodePoints, readTail, textOf } from '../../../../src/core/log-files/read-text.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'read-text-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function reading<T>(bytes: Buffer, read: (file: Awaited<ReturnType<typeof open>>) => Promise<T>): Promise<T> {
  const path = join(folder, 'file.log');
  await writeFile(path, bytes);
  const file = await open(path, 'r');
  try {
    return await read(file);
  } finally {
    await file.close();
  }
}

test('spec 06 section 8: the tail is the last characters, whatever their length in bytes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 12 }), async (text, limit) => {
      const bytes = Buffer.from(text.toWellFormed());
      const wanted = Array.from(text.toWellFormed()).slice(-limit).join('');
      expect(await reading(bytes, (file) => readTail(file, bytes.length, limit))).toBe(wanted);
    }),
    { numRuns: 60 },
  );
});

test('bytes that are no UTF-8 are dropped', async () => {
  const bytes = Buffer.concat([Buffer.from('а'), Buffer.from([0xff, 0xc3]), Buffer.from('б😀')]);
  expect(textOf(bytes)).toBe('аб😀');
  expect(await reading(bytes, (file) => readTail(file, bytes.length, 2))).toBe('б😀');
  expect(await reading(bytes, (file) => countCharactersOf(file, bytes.length))).toBe(3);
});

test('characters are counted across the parts in which a file is read', async () => {
  const text = `a${'ж😀'.repeat(120_000)}`;
  const bytes = Buffer.from(text);
  expect(await reading(bytes, (file) => countCharactersOf(file, bytes.length))).toBe(240_001);
  expect(countCodePoints(text)).toBe(240_001);
});
