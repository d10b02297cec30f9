import { describe, expect, it } from 'vitest';
import { htmlProblem, sendableHtml, unescapeTags, visibleText } from '../../../src/domain/messaging/messenger-html.ts';

const markup = { spoilerTag: 'tg-spoiler', emojiTag: 'tg-emoji', emojiIdAttribute: 'emoji-id', linkScheme: 'tg' };

describe('htmlProblem (spec 05 section 4)', () => {
  it.each([
    '',
    'plain, 1 < 2 & 3 > 2, </ > <3',
    '<b>a<i>b</i></b>',
    '<B>upper</b>',
    '<tg-spoiler>x</tg-spoiler> <tg-emoji emoji-id="5">😀</tg-emoji>',
    '<br>line<br/><hr><img src="x">',
    '<a href="https://example.com/?a=1>2">quoted bracket</a>',
    '<span/>',
    '&lt;b&gt;escaped&lt;/b&gt;',
    '&lt;script&gt; is text',
  ])('accepts %s', (text) => {
    expect(htmlProblem(text, markup)).toBeNull();
  });

  it.each([
    ['<script>x</script>', { kind: 'unsupported', tag: 'script', position: 1 }],
    ['<p>x</p>', { kind: 'unsupported', tag: 'p', position: 1 }],
    ['x</b>', { kind: 'not_opened', tag: 'b', position: 2 }],
    ['<b><i>x</b></i>', { kind: 'wrong_nesting', tag: 'b', expected: 'i', position: 8 }],
    ['<b>x', { kind: 'not_closed', tag: 'b', position: 1 }],
    ['<b', { kind: 'not_closed', tag: 'b', position: 1 }],
    ['<a href="x>y', { kind: 'not_closed', tag: 'a', position: 1 }],
    ['&lt;b&gt;x', { kind: 'not_closed', tag: 'b', position: 1 }],
    ['😀&lt;b&gt;x&lt;/b&gt;<p>', { kind: 'unsupported', tag: 'p', position: 22 }],
  ])('refuses %s', (text, problem) => {
    expect(htmlProblem(text, markup)).toEqual(problem);
  });

  it('reads a text of a million brackets once', () => {
    expect(htmlProblem('<'.repeat(1_000_000), markup)).toBeNull();
    expect(htmlProblem('<a "'.repeat(250_000), markup)).toEqual({ kind: 'not_closed', tag: 'a', position: 1 });
    expect(htmlProblem('&lt;b'.repeat(200_000), markup)).toBeNull();
  });

  // A page may have 200,000 characters, and the mini-app reads it with every visit. Each of these took minutes to hours.
  it('reads names of half a million letters in a time that grows with the length only', () => {
    const name = 'a'.repeat(500_000);
    expect(visibleText(`&lt;${name}`, markup)).toBe(`<${name}`);
    expect(visibleText(`&lt;a ${name}&gt;x&lt;/a&gt;`, markup)).toBe('x');
    expect(visibleText(`&lt;a ${'href'.repeat(100_000)}=&gt;x&lt;/a&gt;`, markup)).toBe('x');
    expect(sendableHtml(`<a ${name}>x</a>`, markup)).toBe('x');
  });
});

describe('unescapeTags', () => {
  it.each([
    ['&lt;b&gt;x&lt;/b&gt;', '<b>x</b>'],
    ['&lt;b onclick=&quot;x&quot;&gt;x', '<b>x'],
    [
      '&lt;a href=&quot;https://example.com/?a=1&amp;amp;b=2&quot; title="t"&gt;x&lt;/a&gt;',
      '<a href="https://example.com/?a=1&amp;amp;b=2">x</a>',
    ],
    ['&lt;a href="javascript:x"&gt;x&lt;/a&gt;', '<a>x</a>'],
    ["&lt;a href='tg://resolve?domain=x'&gt;x", '<a href="tg://resolve?domain=x">x'],
    ['&lt;span class=&quot;tg-spoiler&quot;&gt;', '<span class="tg-spoiler">'],
    ['&lt;br/&gt;', '<br/>'],
    ['&lt;script&gt;', '&lt;script&gt;'],
    ['1 &lt; 2', '1 &lt; 2'],
  ])('%s', (text, wanted) => {
    expect(unescapeTags(text, markup)).toBe(wanted);
  });
});

describe('visibleText', () => {
  it.each([
    ['<b>a</b>&amp;&lt;', 'a&<'],
    ['one<br>two<hr>', 'one\ntwo'],
    ['&lt;i&gt;x&lt;/i&gt;', 'x'],
    ['&#128512;&#x1F600;', '😀😀'],
    ['&#9999999;&nbsp;', '&#9999999;&nbsp;'],
    ['<a href="https://example.com">here</a>', 'here'],
  ])('%s', (text, wanted) => {
    expect(visibleText(text, markup)).toBe(wanted);
  });
});
