import { describe, expect, it } from 'vitest';
import { KNOWN_DISPOSABLE_DOMAINS } from '../../../src/domain/identity/email/known-disposable-domains.ts';
import { parseDomainList } from '../../../src/domain/safety/rules.ts';

const lines = (count: number) => Array.from({ length: count }, (_, index) => `box${index}.example`);

describe('parseDomainList', () => {
  it('reads one a line: comments, blanks, any case, any line end, repetitions, punycode', () => {
    const text = `\uFEFF# throw-away\r\n\r\n  BOX0.example # twice\n${lines(100).join('\r')}\nxn--80ak6aa92e.com\nкириллица.рф`;
    expect(parseDomainList(text)).toEqual([...lines(100), 'xn--80ak6aa92e.com']);
  });

  it.each([
    ['nothing', ''],
    ['only comments', '# a\n# b'],
    ['a page', `<!doctype html>\n${lines(99).join('\n')}`],
    ['a page with many domains in it', [...lines(300), ...Array.from({ length: 20 }, () => '<a href="x">')].join('\n')],
    ['JSON', JSON.stringify(lines(500))],
    [
      'addresses instead of domains',
      lines(500)
        .map((line) => `x@${line}`)
        .join('\n'),
    ],
    [
      'a table',
      lines(500)
        .map((line) => `${line},2026-01-01`)
        .join('\n'),
    ],
    ['a list with an ordinary provider in it', [...lines(200), 'Gmail.com'].join('\n')],
    ['a list with another', [...lines(200), 'yandex.ru'].join('\n')],
    ['more than anybody keeps', lines(500_001).join('\n')],
  ])('takes %s for no list', (_name, text) => {
    expect(() => parseDomainList(text)).toThrow(/list/);
  });

  it('would accept every built-in domain', () => {
    expect(parseDomainList([...KNOWN_DISPOSABLE_DOMAINS, ...lines(100)].join('\n'))).toHaveLength(
      KNOWN_DISPOSABLE_DOMAINS.size + 100,
    );
  });
});
