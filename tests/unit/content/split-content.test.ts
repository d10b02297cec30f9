import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitContent } from '../../../src/domain/content/pages/split-content.ts';

const LIMIT = 3500;
const lengthOf = (text: string) => Array.from(text).length;
const fill = (length: number, letter = 'a') => letter.repeat(length);

/** Names of tags that are open at the end of a part, by a simple stack. */
function openTags(part: string): string[] {
  const open: string[] = [];
  for (const [, slash, name] of part.matchAll(/<(\/?)([a-z]+)[^>]*>/g)) {
    if (slash === '/') expect(open.pop()).toBe(name);
    else open.push(name!);
  }
  return open;
}

/** Without tags, of which a cut adds some (words that stand side by side can be a tag, too), and without blanks. */
function plain(text: string): string {
  const less = text.replace(/\s/g, '').replace(/<\/?[a-z][^<>]*>/gi, '');
  return less === text ? text : plain(less);
}

describe('content_pages (spec 05 section 5.1)', () => {
  it.each([true, false])('a blank text has no parts, a short one is one part (keepsTags %s)', (keepsTags) => {
    expect(splitContent('', keepsTags)).toEqual([]);
    expect(splitContent(' \r\n ', keepsTags)).toEqual([]);
    expect(splitContent('  one\r\n\r\ntwo ', keepsTags)).toEqual(['one\n\ntwo']);
    expect(splitContent(fill(LIMIT), keepsTags)).toEqual([fill(LIMIT)]);
  });

  it('packs whole paragraphs as long as they fit', () => {
    const [a, b, c] = [fill(2000, 'a'), fill(1498, 'b'), fill(3000, 'c')];
    expect(splitContent(`${a}\n\n${b}\n\n${c}`, false)).toEqual([`${a}\n\n${b}`, c]);
    expect(splitContent(`${a}\n\n${b}b\n\n${c}`, false)).toEqual([a, `${b}b`, c]);
  });

  it('cuts a long paragraph every 3500 characters and packs what is left with the next one', () => {
    expect(splitContent(`${fill(7100)}\n\nnext`, false)).toEqual([fill(LIMIT), fill(LIMIT), `${fill(100)}\n\nnext`]);
  });

  it('cuts no emoji in half', () => {
    const parts = splitContent(fill(4000, '😀'), false);
    expect(parts.map(lengthOf)).toEqual([LIMIT, 500]);
    expect(parts.join('')).toBe(fill(4000, '😀'));
  });

  it('closes open tags at the end of a part and opens them again, within the limit', () => {
    const link = '<a href="https://x.example">';
    const inFirst = LIMIT - lengthOf(`<b>${link}</a></b>`) - 2000;
    const parts = splitContent(`<b>${fill(2000)}${link}${fill(3000, 'c')}</a></b> end`, true);
    expect(parts).toEqual([
      `<b>${fill(2000)}${link}${fill(inFirst, 'c')}</a></b>`,
      `<b>${link}${fill(3000 - inFirst, 'c')}</a></b> end`,
    ]);
    expect(lengthOf(parts[0]!)).toBe(LIMIT);
  });

  it('cuts tags plainly where they were not asked to be kept', () => {
    expect(splitContent(`<b>${fill(4000)}</b>`, false)).toEqual([`<b>${fill(LIMIT - 3)}`, `${fill(503)}</b>`]);
  });

  it('does not close what opens nothing, nor lose a stray bracket', () => {
    const [first, second] = splitContent(`<br>${fill(10)}<img src="x"/> 1 < 2 <i>${fill(4000)}`, true);
    expect(first!.endsWith('</i>')).toBe(true);
    expect(second).toBe(`<i>${fill(4000 - (LIMIT - 4 - 10 - 14 - 7 - 3 - 4))}</i>`);
  });

  it('cuts plainly where tags alone take a whole part', () => {
    const deep = '<b>'.repeat(1200);
    expect(splitContent(`${deep}text`, true).join('')).toBe(`${deep}text`);
    const wide = `<a href="https://x.example/${fill(4000)}">text</a>`;
    expect(splitContent(wide, true).join('')).toBe(wide);
  });

  it('has no part of blanks alone', () => {
    expect(splitContent(`${fill(LIMIT)}${fill(LIMIT, ' ')}end`, false)).toEqual([fill(LIMIT), 'end']);
  });

  it('any text: no part is longer than the limit, none is blank, and nothing is lost', () => {
    const word = fc.oneof(
      fc.string({ maxLength: 8 }),
      fc.constantFrom('<b>', '</b>', '<i>', '</i>', '<br>', '\n\n', ' ', '<', '😀'),
      fc.integer({ min: 1, max: 5000 }).map((length) => fill(length)),
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 30 }), fc.boolean(), (words, keepsTags) => {
        const text = words.join('');
        const parts = splitContent(text, keepsTags);
        for (const part of parts) {
          expect(lengthOf(part)).toBeLessThanOrEqual(LIMIT);
          expect(part.trim()).not.toBe('');
        }
        expect(plain(parts.join(''))).toBe(plain(text));
      }),
    );
  });

  it('balanced tags stay balanced in every part of a long paragraph', () => {
    const piece = fc.tuple(fc.constantFrom('b', 'i', 'u'), fc.integer({ min: 1, max: 2500 }));
    fc.assert(
      fc.property(fc.array(piece, { minLength: 2, maxLength: 12 }), (pieces) => {
        const inner = pieces.map(([name, length]) => `<${name}>${fill(length)}</${name}>`).join(' ');
        for (const part of splitContent(`<s>${inner}</s>`, true)) expect(openTags(part)).toEqual([]);
      }),
    );
  });

  it('a tag without an end whose name has a million letters takes a time that grows with the length only', () => {
    const text = `<${fill(1_000_000)}`;
    expect(splitContent(text, true).join('')).toBe(text);
  });
});
