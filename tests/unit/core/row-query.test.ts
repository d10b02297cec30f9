import { describe, expect, it } from 'vitest';
import { RowQuery } from '../../../src/core/db/sql-runner.ts';

const parserOf = (type: number) => (type === 23 ? Number : type === 16 ? JSON.parse : (text: string) => text);
const query = () => new RowQuery({ name: 's_1', text: 'SELECT a_b, c FROM t', values: [], parserOf });
const columns = (type: number) => ['a_b', 'c'].map((name) => ({ name, dataTypeID: type, format: 'text' as const }));

describe('RowQuery', () => {
  it('reads a column by the type that this answer has, also when an earlier answer to the text had another', () => {
    for (const [type, expected] of [
      [23, 1],
      [25, '1'],
      [23, 1],
    ] as const) {
      const asked = query();
      asked.handleRowDescription({ fields: columns(type) });
      asked.handleDataRow({ fields: ['1', null] });
      expect(asked.found).toEqual([{ aB: expected, c: null }]);
    }
  });

  it('ends in the error of a value that cannot be read', () => {
    const asked = query();
    asked.handleRowDescription({ fields: columns(16) });
    asked.handleDataRow({ fields: ['true', 'no JSON'] });
    asked.handleDataRow({ fields: ['true', 'true'] });
    expect(asked._canceledDueToError).toBeInstanceOf(SyntaxError);
    expect(asked.found).toEqual([]);
  });
});
