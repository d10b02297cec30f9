import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { offsetOf, pageCount } from '../../../src/core/paging.ts';

describe('paging', () => {
  it.each([
    [0, 20, 1],
    [1, 20, 1],
    [20, 20, 1],
    [21, 20, 2],
    [100, 1, 100],
  ])('%i rows by %i are %i pages', (total, perPage, pages) => {
    expect(pageCount(total, perPage)).toBe(pages);
  });

  it('cuts a set into pages that hold each row once', () => {
    fc.assert(
      fc.property(fc.nat(300), fc.integer({ min: 1, max: 60 }), (total, perPage) => {
        const rows = Array.from({ length: total }, (_, index) => index);
        const seen: number[] = [];
        for (let page = 1; page <= pageCount(total, perPage); page += 1) {
          const offset = offsetOf(page, perPage);
          seen.push(...rows.slice(offset, offset + perPage));
        }
        expect(seen).toEqual(rows);
        expect(rows.slice(offsetOf(pageCount(total, perPage) + 1, perPage))).toEqual([]);
      }),
    );
  });
});
