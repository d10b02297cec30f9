import { describe, expect, it } from 'vitest';
import { plainText } from '../../../src/domain/messaging/templates/plain-text.ts';

describe('the plain text of a template', () => {
  it.each([
    ['<p>One</p><p>Two<br>three</p>', 'One\nTwo\nthree'],
    ['<a href="https://a.example/?x=1&amp;y=2">Open</a>', 'Open (https://a.example/?x=1&y=2)'],
    ["<A class=b HREF='https://a.example'>Open</A>", 'Open (https://a.example)'],
    ['<a href=https://a.example>https://a.example</a>', 'https://a.example'],
    ['<head><title>No</title></head><STYLE>p{}</STYLE><script>alert(1)</script><!-- no -->Yes', 'Yes'],
    ['a &lt;b&gt; &amp;amp; &quot;c&quot; &#39;d&#39;&nbsp;e', `a <b> &amp; "c" 'd' e`],
    ['1 < 2', '1 < 2'],
    ['<style>never closed', ''],
    ['<li>x</li>\n\n\n\n<li>y</li>', 'x\n\ny'],
    ['</a>x<a>y</a>', 'xy'],
  ])('of %s is %s', (html, text) => {
    expect(plainText(html)).toBe(text);
  });

  // Mails are written inside transactions: a body that takes seconds would stop sales. Each of these took minutes with regular expressions.
  it.each(['<style', '<script>', '<a href="', '<!--', '<', '<a href=x>', ' href ', '<head><title>'])(
    'takes a time that grows with the length only, for a megabyte of %s',
    (piece) => {
      expect(plainText(piece.repeat(Math.floor(1_048_576 / piece.length))).length).toBeLessThanOrEqual(1_048_576);
    },
  );
});
