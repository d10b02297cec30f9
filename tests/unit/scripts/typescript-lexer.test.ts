import { describe, expect, it } from 'vitest';
import { commentsOf, lineOf, type Token, tokenize, withoutComments } from '../../../scripts/checks/typescript-lexer.ts';

const shown = (tokens: readonly Token[]): string[] => withoutComments(tokens).map(({ kind, text }) => `${kind} ${text}`);

/** A sample: `%{` begins what a template inserts. */
const code = (text: string): string => text.replaceAll('%{', '${');

describe('tokenize', () => {
  it('reads words, numbers, strings and punctuation', () => {
    expect(shown(tokenize("const a = 'it''s' + 1_000n;".replace("''", "\\'")))).toEqual([
      'word const',
      'word a',
      'punct =',
      "string it's",
      'punct +',
      'number 1_000n',
      'punct ;',
    ]);
  });

  it('leaves quotes and templates inside of comments alone', () => {
    expect(shown(tokenize("a // don't `\n/* it's ` */ b"))).toEqual(['word a', 'word b']);
  });

  it('reads what looks like a comment inside of a string as text', () => {
    expect(shown(tokenize("f('http://x', `/* y */`)"))).toEqual([
      'word f',
      'punct (',
      'string http://x',
      'punct ,',
      'template `/* y */`',
      'punct )',
    ]);
  });

  it('takes templates apart, nested ones with braces as well', () => {
    const source = code('x = `a %{f({ b: `c %{d} }` })} e`;');
    const template = tokenize(source)[2]!;
    expect(template.kind).toBe('template');
    expect(template.parts!.map((part) => ('text' in part ? part.text : shown(part.code).length))).toEqual(['a ', 8, ' e']);
    const inserted = template.parts!.flatMap((part) => ('code' in part ? part.code : []));
    const inner = inserted.find(({ kind }) => kind === 'template')!;
    expect(inner.parts!.map((part) => ('text' in part ? part.text : shown(part.code)))).toEqual(['c ', ['word d'], ' }']);
    expect(source.slice(inner.start, inner.end)).toBe(code('`c %{d} }`'));
  });

  it('distinguishes a regular expression from a division', () => {
    expect(shown(tokenize("x = /['`]/g.test(y) ? a / b : c / d;")).filter((text) => text.startsWith('regex'))).toEqual([
      "regex /['`]/g",
    ]);
    expect(shown(tokenize('return /[/"]+/.exec(z)')).at(1)).toBe('regex /[/"]+/');
  });

  it('goes on after an apostrophe in the text of an element', () => {
    expect(shown(tokenize("<p>don't</p>\nconst a = 'b';")).slice(-5)).toEqual([
      'word const',
      'word a',
      'punct =',
      'string b',
      'punct ;',
    ]);
  });
});

it('finds comments, inside of templates too', () => {
  const source = code('/** A */ x = `// no %{y /* B */}`; // C');
  expect(commentsOf(tokenize(source)).map(({ text }) => text)).toEqual(['/** A */', '/* B */', '// C']);
});

describe('lineOf', () => {
  it('counts from 1', () => {
    expect(['a', 'b', 'c'].map((letter) => lineOf('a\nb\n\nc', 'a\nb\n\nc'.indexOf(letter)))).toEqual([1, 2, 4]);
  });
});
