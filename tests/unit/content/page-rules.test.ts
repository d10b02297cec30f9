import { describe, expect, it } from 'vitest';
import {
  chooseFaq,
  normalisePageLanguage,
  reorderedPages,
  repeatedId,
  shownDocument,
} from '../../../src/domain/content/pages/rules.ts';

describe('normalisePageLanguage', () => {
  it.each([
    ['ru', 'ru'],
    ['EN-us', 'en'],
    [' De ', 'de'],
    ['', 'fa'],
    ['-', 'fa'],
    ['pt_BR', 'pt_br'],
    // Twice as long in lower case; the column has 10 characters.
    ['İİİİİİİİİİ', 'i̇i̇i̇i̇i̇'],
  ])('%s is %s', (given, wanted) => {
    expect(normalisePageLanguage(given, 'fa')).toBe(wanted);
  });
});

describe('shownDocument', () => {
  const text = (content: string, isEnabled = true) => ({ content, isEnabled });
  const english = text('own');
  const other = text('other');
  it.each([
    ['the own one', english, other, english],
    ['the fallback where it is absent', undefined, other, other],
    ['the fallback where it is blank', text(' \n'), other, other],
    ['none where it is disabled', text('own', false), other, null],
    ['none where it is blank and disabled', text('', false), other, null],
    ['none where the fallback is disabled', undefined, text('other', false), null],
    ['none where the fallback is blank', undefined, text(''), null],
    ['none where there is none', undefined, undefined, null],
  ])('%s', (_name, mine, fallback, wanted) => {
    expect(shownDocument(mine, fallback)).toBe(wanted);
  });
});

describe('chooseFaq', () => {
  const choose = (
    pages: Record<string, number[]>,
    switches: Record<string, boolean>,
    { fallback = 'ru' as string | null, hides = true } = {},
  ) => {
    const source = {
      pagesOf: (language: string) => (pages[language] ?? []).map((id) => ({ id, language })),
      isEnabledIn: (language: string) => switches[language],
    };
    const chosen = chooseFaq(source, { requested: 'en', fallback }, hides);
    return [chosen.language, chosen.isEnabled, chosen.pages.map(({ id }) => id)];
  };
  it.each([
    ['the own pages', { en: [1], ru: [2] }, { en: true, ru: true }, {}, ['en', true, [1]]],
    ['the fallback where there are none', { ru: [2] }, { ru: true }, {}, ['ru', true, [2]]],
    ['no fallback where it is not wanted', { ru: [2] }, { ru: true }, { fallback: null }, ['en', false, []]],
    ['hidden, and no further fallback', { en: [1], ru: [2] }, { en: false, ru: true }, {}, ['en', false, []]],
    ['hidden ones for who wants them', { en: [1] }, { en: false }, { hides: false }, ['en', false, [1]]],
    ['hidden in the fallback', { ru: [2] }, { ru: false }, {}, ['ru', false, []]],
    ['pages without a switch', { en: [1] }, {}, {}, ['en', false, [1]]],
    ['pages without a switch, the switch of the fallback', { en: [1] }, { ru: true }, {}, ['ru', true, [1]]],
    ['a switch without pages, the pages of the fallback', { ru: [2] }, { en: true, ru: true }, {}, ['en', true, [2]]],
    ['nothing', {}, {}, {}, ['en', false, []]],
  ])('%s', (_name, pages, switches, options, wanted) => {
    expect(choose(pages as Record<string, number[]>, switches as Record<string, boolean>, options)).toEqual(wanted);
  });
});

describe('reorderedPages', () => {
  const pages = [1, 2, 3, 4].map((id) => ({ id }));
  const order = (places: [id: number, displayOrder: number][]) =>
    reorderedPages(
      pages,
      places.map(([id, displayOrder]) => ({ id, displayOrder })),
    ).map(({ id }) => id);

  it('puts named pages first by their numbers, of equal ones in the order of the request', () => {
    expect(order([])).toEqual([1, 2, 3, 4]);
    expect(order([[3, 0]])).toEqual([3, 1, 2, 4]);
    expect(
      order([
        [4, 7],
        [2, 7],
        [1, 3],
      ]),
    ).toEqual([1, 4, 2, 3]);
  });

  it('finds an id that is named twice', () => {
    expect(repeatedId([1, 2, 3])).toBeNull();
    expect(repeatedId([1, 2, 2, 1])).toBe(2);
  });
});
