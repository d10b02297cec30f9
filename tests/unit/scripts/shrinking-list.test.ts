import { describe, expect, it } from 'vitest';
import { compareWithList, countBy } from '../../../scripts/checks/shrinking-list.ts';

describe('compareWithList', () => {
  it('accepts what is listed exactly', () => {
    expect(compareWithList({ a: 2 }, { a: 2 })).toEqual({ added: [], gone: [] });
  });

  it('names what is new or more than listed', () => {
    expect(compareWithList({ a: 3, b: 1 }, { a: 2 })).toEqual({ added: ['a', 'b'], gone: [] });
  });

  it('names what is gone or less than listed', () => {
    expect(compareWithList({ a: 1 }, { a: 2, b: 1 })).toEqual({ added: [], gone: ['a', 'b'] });
  });
});

describe('countBy', () => {
  it('counts by name', () => {
    expect(countBy(['x', 'yy', 'z'], (text) => `${text.length}`)).toEqual({ '1': 2, '2': 1 });
  });
});
