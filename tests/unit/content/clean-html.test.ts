import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanHtml } from '../../../src/domain/content/pages/clean-html.ts';

const markup = { spoilerTag: 'tg-spoiler', emojiTag: 'tg-emoji', emojiIdAttribute: 'emoji-id', linkScheme: 'tg' };
const clean = (text: string) => cleanHtml(text, markup);

describe('what browsers are given of pages (spec 05 section 16, invariant 7)', () => {
  it.each([
    ['<script>alert(1)</script>x', 'x'],
    ['<img src="https://example.com/x.png" onerror=alert(1)>', '<img src="https://example.com/x.png" />'],
    // A request to an address of the page's own origin, with the cookies of the user.
    ['<img src="/cabinet/anything">x', 'x'],
    ['<img src="http://example.com/x.png">x', 'x'],
    ['<b onclick="alert(1)">x</b>', '<b>x</b>'],
    ['<a href="javascript:alert(1)">x</a>', '<a>x</a>'],
    ['<a href=" JaVaScRiPt:alert(1)">x</a>', '<a>x</a>'],
    ['<a href="//evil.example">x</a>', '<a>x</a>'],
    ['<a href="data:text/html,x">x</a>', '<a>x</a>'],
    ['<iframe src="https://evil.example"></iframe>x', 'x'],
    ['<svg><script>alert(1)</script></svg>', ''],
    ['<style>body{display:none}</style>x', 'x'],
    ['<form action="https://evil.example"><input name="password"></form>', ''],
    ['<b style="position:fixed">x</b>', '<b>x</b>'],
    // A class of the page's own style sheet would place the element over everything.
    ['<span class="fixed inset-0">x</span>', '<span>x</span>'],
    ['<!-- hidden --><b>x</b>', '<b>x</b>'],
    ['<b>not closed', '<b>not closed</b>'],
    // What was between them is gone, and browsers nest neither links nor headings.
    [
      '<a href="https://a.example">x<svg><a href="https://b.example">y',
      '<a href="https://a.example">x</a><a href="https://b.example">y</a>',
    ],
    ['<h1>x<form><h2>y</h2></form></h1>', '<h1>x</h1><h2>y</h2>'],
  ])('%s', (given, wanted) => {
    expect(clean(given)).toBe(wanted);
  });

  it.each([
    '<b>bold</b>\n\n<i>it</i> <u>u</u> <s>s</s> <code class="language-js">c</code>',
    '<a href="https://example.com" title="t">x</a> <a href="tg://resolve?domain=x">y</a> <a href="mailto:a@b.example">z</a>',
    '<h1>Title</h1><ul><li>one</li></ul><blockquote expandable>q</blockquote>',
    '<tg-spoiler>x</tg-spoiler><span class="tg-spoiler">y</span><tg-emoji emoji-id="5">z</tg-emoji>',
    '<img src="https://example.com/x.png" alt="x" />',
  ])('keeps %s', (text) => {
    expect(clean(text).replace('expandable=""', 'expandable')).toBe(text);
  });

  it('leaves text without markup as it is: Markdown, entities, comparisons', () => {
    for (const text of ['# Title\n\n> quote & more, a < b', '&lt;script&gt;alert(1)&lt;/script&gt;', '1 <2', '', '😀'])
      expect(clean(text)).toBe(text);
  });

  it('has nothing left to clean after it has cleaned', () => {
    const part = fc.oneof(
      fc.string({ maxLength: 6 }),
      fc.constantFrom(
        '<b>',
        '</b>',
        '<script>',
        '</script>',
        '<a href="javascript:x">',
        '</a>',
        '<!--',
        '-->',
        '<svg',
        '&lt;',
        '"',
      ),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const once = clean(parts.join(''));
        expect(clean(once)).toBe(once);
        expect(once).not.toMatch(/<\/?(?:script|svg|style|iframe)/i);
      }),
    );
  });
});
