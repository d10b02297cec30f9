import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lineOfValues, rowsOf, valuesOfLine } from '../../../src/domain/import/import-source.ts';
import { wholeLines } from '../../../src/integrations/import-sources/whole-lines.ts';

const values = fc.array(fc.option(fc.string({ unit: 'binary' })), { minLength: 1, maxLength: 6 });

test('any values come back from their line, and a line has one end', () => {
  fc.assert(
    fc.property(values, (row) => {
      const line = lineOfValues(row);
      expect(line.indexOf('\n')).toBe(line.length - 1);
      expect(valuesOfLine(line.slice(0, -1))).toEqual(row);
    }),
  );
});

test('rows are the same wherever the bytes are cut', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.string(), fc.option(fc.string()))),
      fc.integer({ min: 1, max: 9 }),
      async (rows, size) => {
        const bytes = Buffer.from(rows.map((row) => lineOfValues(row)).join(''));
        const cut = async function* () {
          for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
        };
        const table = {
          name: 't',
          columns: [
            { name: 'a', family: null },
            { name: 'b', family: null },
          ],
        };
        const content = { table, lines: () => wholeLines(cut()), count: async () => rows.length };
        const read: unknown[] = [];
        for await (const row of rowsOf(content, ['b', 'a', 'c'])) read.push(row);
        expect(read).toEqual(rows.map(([a, b]) => ({ a, b, c: null })));
      },
    ),
  );
});
