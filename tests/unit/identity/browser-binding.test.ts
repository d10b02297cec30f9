import { describe, expect, it } from 'vitest';
import { isSameBrowser } from '../../../src/domain/identity/oauth/sign-in-with-provider.ts';
import { secretHash, signedPartHash } from '../../../src/domain/identity/rules.ts';
import { readCookie } from '../../../src/rest/request-context.ts';

describe('isSameBrowser', () => {
  const hash = secretHash('mine');
  it.each([
    ['the browser that began', 'mine', true, true],
    ['the same without vouching', 'mine', false, true],
    ['another browser with a cookie', 'other', true, false],
    ['another one, from another site', 'other', false, false],
    ['a browser of our origin that has no cookie', null, true, false],
    ['an app without cookies', null, false, true],
  ])('%s: %s, %s → %s', (_name, secret, isSameOrigin, expected) => {
    expect(isSameBrowser(hash, { secret, isSameOrigin })).toBe(expected);
  });
});

describe('readCookie', () => {
  it.each([
    ['a=1; b=2', 'b', '2'],
    ['b=1;b=2', 'b', '2'],
    ['ab=1', 'b', null],
    ['b=', 'b', null],
    ['b="x"', 'b', null],
    ['b', 'b', null],
    [undefined, 'b', null],
    [`b=${'x'.repeat(129)}`, 'b', null],
  ])('%s', (header, name, expected) => {
    expect(readCookie(header, name)).toBe(expected);
  });
});

describe('signedPartHash', () => {
  it('is one for all spellings of a signature', () => {
    expect(signedPartHash('a.b.sigA')).toBe(signedPartHash('a.b.sigB'));
    expect(signedPartHash('a.c.sigA')).not.toBe(signedPartHash('a.b.sigA'));
  });
});
