import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromStoredJson, toStoredJson } from '../../../src/core/stored-json.ts';

const restored = (value: unknown): unknown => fromStoredJson(JSON.parse(toStoredJson(value)));

test('timestamps keep their type at any depth', () => {
  const answer = { at: new Date(0), items: [{ until: new Date(86_400_000) }, null], count: 2 };
  expect(restored(answer)).toEqual(answer);
});

test('an object that looks like a stored timestamp stays an object', () => {
  for (const value of [{ $date: 'no moment' }, { $literal: 1 }, { $literal: { $date: 'x' } }, { a: { $date: new Date(5) } }]) {
    expect(restored(value)).toEqual(value);
  }
});

test('any JSON value with timestamps in it comes back unchanged', () => {
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constant(null),
      fc.boolean(),
      fc.integer(),
      fc.string(),
      fc.date({ noInvalidDate: true }),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', '$date', '$literal', 'b_c'), tie('value'), { noNullPrototype: true }),
    ),
  }));
  fc.assert(
    fc.property(value, (stored) => {
      expect(restored(stored)).toEqual(stored);
    }),
  );
});
