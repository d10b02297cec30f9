import { describe, expect, it } from 'vitest';
import { REDACTED, withoutIdentityData } from '../../../src/core/redaction.ts';

const SIGNED = 'auth_date=1&user=%7B%7D&hash=0f';

describe('withoutIdentityData', () => {
  it('blanks signed identity data in either spelling, at any depth, and nothing else', () => {
    const body = { initData: SIGNED, tariffId: 'x', list: [{ init_data: SIGNED }, 5], nested: { token: 't', comment: 'hash=1' } };
    expect(withoutIdentityData(body)).toEqual({
      initData: REDACTED,
      tariffId: 'x',
      list: [{ init_data: REDACTED }, 5],
      nested: { token: 't', comment: 'hash=1' },
    });
    expect(withoutIdentityData(SIGNED, 'initData')).toBe(REDACTED);
  });

  it('shows what is no credential as sent, endless depth too', () => {
    const plain = { a: [1, { b: null }], initData: 'aaaa' };
    expect(withoutIdentityData(plain)).toBe(plain);
    expect(withoutIdentityData('a'.repeat(5_000), 'init_data')).toHaveLength(5_000);
    expect(withoutIdentityData(7, 'initData')).toBe(7);
    let deep: unknown = 1;
    for (let i = 0; i < 100_000; i++) deep = [deep];
    expect(withoutIdentityData(deep)).toBe(deep);
  });
});
