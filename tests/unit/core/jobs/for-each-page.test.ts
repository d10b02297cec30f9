import { expect, it } from 'vitest';
import { forEachPage } from '../../../../src/core/jobs/for-each-page.ts';

it.each([0, 1, 99, 100, 250])('does each of %i items once, in their order, one that fails holding up no other', async (total) => {
  const done: number[] = [];
  const warned: unknown[] = [];
  const app = { log: { warn: (facts: object, message: string) => warned.push([message, facts]) } };
  await forEachPage<number>(app as never, {
    list: async (after, limit) =>
      Array.from({ length: total }, (_, n) => n)
        .slice(after === null ? 0 : after + 1)
        .slice(0, limit),
    each: async (item) => {
      if (item === 98) throw new Error('no');
      done.push(item);
    },
    failure: (item) => ['not done', { item }],
  });
  expect(done).toEqual(Array.from({ length: total }, (_, n) => n).filter((item) => item !== 98));
  expect(warned).toEqual(total > 98 ? [['not done', { err: expect.any(Error), item: 98 }]] : []);
});
