import { expect, it } from 'vitest';
import { preferredLanguage } from '../../../src/routers/preferred-language.ts';

it.each([
  [undefined, null],
  ['', null],
  ['*', null],
  ['de, fr;q=0.9', null],
  ['en', 'en'],
  ['en-GB,en;q=0.9,ru;q=0.8', 'en'],
  ['ru-RU, ru;q=0.9, en-US;q=0.8', 'ru'],
  ['de, en;q=0.5, ru;q=0.7', 'ru'],
  ['EN', 'en'],
  ['en;q=0, ru;q=0.1', 'ru'],
  ['en;q=high', null],
  ['english', null],
  [',;q,=', null],
  [`${'x,'.repeat(50_000)}en`, null],
])('08 C3: Accept-Language %j prefers %j', (header, language) => {
  expect(preferredLanguage(header)).toBe(language);
});
