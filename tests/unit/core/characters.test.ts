import { expect, it } from 'vitest';
import { countCharacters, firstCharacters } from '../../../src/core/characters.ts';
import { storableText } from '../../../src/core/db/storable-text.ts';

it('counts an emoji as one and cuts none in half', () => {
  expect(countCharacters('a😀b')).toBe(3);
  expect(firstCharacters('a😀b', 2)).toBe('a😀');
  expect(firstCharacters('a😀b', 3)).toBe('a😀b');
  expect(firstCharacters('😀'.repeat(9), 4)).toBe('😀'.repeat(4));
  expect(firstCharacters('x', 0)).toBe('');
});

it('leaves out NUL and replaces half a surrogate pair', () => {
  expect(storableText('a\u0000b \ud83d c 😀')).toBe('ab \ufffd c 😀');
});
