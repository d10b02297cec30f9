import { expect, test } from 'vitest';
import { repairedHtml, sendableHtml, visibleText } from '../../../src/domain/messaging/messenger-html.ts';
import { createMessengerPort } from '../../../src/integrations/messenger/messenger-port.ts';

const { markup } = createMessengerPort({ http: null as never, connection: () => null });

test.each([
  ['plain text', 'Hello', 'Hello'],
  ['tags that may be there', '<B>a</b> <tg-spoiler>b</tg-spoiler>', '<b>a</b> <tg-spoiler>b</tg-spoiler>'],
  ['entity-escaped tags', '&lt;b&gt;a&lt;/b&gt;', '<b>a</b>'],
  ['br, hr and img', 'a<br>b<br/>c<hr>d<img src="x">e', 'a\nb\ncde'],
  ['a tag that opens nothing', 'a<b/>c', 'ac'],
  ['a link', '<a href="https://x.example/?a=1&amp;b=2" onclick="x()">a</a>', '<a href="https://x.example/?a=1&amp;b=2">a</a>'],
  ['an address with an unknown scheme', '<a href="javascript:x()">a</a>', 'a'],
  ['attributes of other tags', '<b class="x" onclick="y">a</b><pre lang="js">b</pre>', '<b>a</b><pre>b</pre>'],
  [
    'a span that is no spoiler',
    '<span class="tg-spoiler">a</span><span class="x">b</span>',
    '<span class="tg-spoiler">a</span>b',
  ],
  [
    'an emoji with and without its id',
    '<tg-emoji emoji-id="5">a</tg-emoji><tg-emoji>b</tg-emoji>',
    '<tg-emoji emoji-id="5">a</tg-emoji>b',
  ],
  ['a dropped tag around another', '<span><b>a</b></span>', '<b>a</b>'],
  ['text that looks like tags', 'a < b > c & d &amp; &nbsp;', 'a &lt; b &gt; c &amp; d &amp; &amp;nbsp;'],
  ['a quotation mark within an address', "<a href='https://x.example/\"y'>a</a>", '<a href="https://x.example/&quot;y">a</a>'],
])('spec 05 section 4: %s is sent as the messenger accepts it', (_what, text, sent) => {
  expect(sendableHtml(text, markup)).toBe(sent);
  // What was checked on writing is what the messenger counts.
  expect(visibleText(sendableHtml(text, markup), markup)).toBe(visibleText(text, markup));
});

test.each([
  ['tags that are left open', '<b>a <i>b', '<b>a <i>b</i></b>'],
  ['tags that end in another order', '<b>a <i>b</b> c</i>', '<b>a <i>b</i></b> c'],
  ['an end of nothing', 'a</b> c', 'a c'],
  ['a bracket', '5 < 6 and <3', '5 &lt; 6 and &lt;3'],
  ['a tag that the messenger does not know', '<p>a</p>', '&lt;p&gt;a&lt;/p&gt;'],
  ['a line break', 'a<br>b', 'a\nb'],
])('spec 05 section 3.5: a broadcast with %s loses nobody', (_what, text, sent) => {
  expect(repairedHtml(text, markup)).toBe(sent);
  expect(repairedHtml(sent, markup)).toBe(sent);
});

test.each([
  '<pre><code class="language-js">a &lt;b&gt;</code></pre>',
  '<blockquote expandable>a</blockquote> & b',
  '<a href="https://x.example/?a=1&b=2">a</a>',
])('spec 05 section 3.5: a broadcast that the messenger accepts is sent as written: %s', (text) => {
  expect(repairedHtml(text, markup)).toBe(text);
});
