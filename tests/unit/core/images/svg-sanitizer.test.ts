import { describe, expect, it } from 'vitest';
import { sanitizeSvg } from '../../../../src/core/images/svg-sanitizer.ts';

const NS = 'xmlns="http://www.w3.org/2000/svg"';
const clean = (text: string | Buffer) => sanitizeSvg(Buffer.from(text))?.toString() ?? null;
const inside = (content: string) =>
  clean(`<svg ${NS}>${content}</svg>`)
    ?.replace(`<svg ${NS}>`, '')
    .replace(/<\/svg>$/, '') ?? null;

describe('an SVG image', () => {
  it.each([
    ['shapes', `<svg ${NS} viewBox="0 0 10 10" width="10"><g fill="#f00"><path d="M0 0L10 10z"/></g>\n</svg>`],
    [
      'gradients and references',
      `<svg ${NS}><defs><linearGradient id="a"/></defs><rect fill="url(#a)" style="stroke: url('#a')"/></svg>`,
    ],
    ['text in any script', `<svg ${NS}><text x="1">Кабинет &amp; 漢字 &lt;1> 😀</text></svg>`],
    ['a style sheet', `<svg ${NS}><style>.a > .b{fill:#fff}@media (min-width:1px){.a{fill:red}}</style><g class="a"/></svg>`],
    [
      'use with both kinds of href',
      `<svg ${NS} xmlns:xlink="http://www.w3.org/1999/xlink"><g id="a"/><use href="#a"/><use xlink:href="#a"/></svg>`,
    ],
    ['an embedded picture', `<svg ${NS}><image href="data:image/png;base64,iVBORw0KGgo="/></svg>`],
    ['a filter', `<svg ${NS}><filter id="f"><feGaussianBlur stdDeviation="2"/></filter><g filter="url(#f)"/></svg>`],
    ['an embedded font', `<svg ${NS}><style>@font-face{font-family:A;src:url(data:font/woff2;base64,AAAA)}</style></svg>`],
  ])('with %s stays byte for byte', (_name, text) => {
    expect(clean(text)).toBe(text);
  });

  it('gets its namespace, and loses declaration, document type and comments', () => {
    const source =
      '\ufeff<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "svg11.dtd"><!-- x --><svg><g/></svg>\n';
    expect(clean(source)).toBe(`<svg ${NS}><g/></svg>`);
  });

  it.each([
    ['a script', '<script>alert(1)</script><g/>', '<g/>'],
    ['a script of another file', '<script href="https://evil.example/x.js"/><g/>', '<g/>'],
    ['a script in another spelling', '<SCRIPT>alert(1)</SCRIPT><g/>', '<g/>'],
    ['foreign content', '<foreignObject><body xmlns="http://www.w3.org/1999/xhtml"><iframe/></body></foreignObject><g/>', '<g/>'],
    ['handlers of events', '<g onload="alert(1)" OnClick="x" fill="red"/>', '<g fill="red"/>'],
    ['attributes with names of other letters', '<g \ufeffonload="1" \u00e9="2" :on="3" fill="red"/>', '<g fill="red"/>'],
    ['links', '<a href="javascript:alert(1)"><text>x</text></a>', '<text>x</text>'],
    [
      'animations of a link',
      '<use href="#a"><set attributeName="href" to="data:x"/><animate attributeName="href"/></use>',
      '<use href="#a"></use>',
    ],
    [
      'references to other files',
      '<use href="https://evil.example/x.svg#a"/><image href="//evil.example/x.png"/>',
      '<use/><image/>',
    ],
    ['an SVG image within', '<image href="data:image/svg+xml;base64,PHN2Zy8+"/>', '<image/>'],
    ['an entity in an address', '<use href="&#x6a;avascript:alert(1)"/>', '<use/>'],
    ['CSS that loads', '<g style="fill:url(https://evil.example/x)"/><g fill="url( &quot;//evil&quot; )"/>', '<g/><g/>'],
    ['CSS behind a comment', '<g style="fill:u/**/rl(//evil)"/>', '<g/>'],
    ['CSS with escapes', '<g style="fill:u\\72l(//evil)"/>', '<g/>'],
    ['an unclosed url', '<g style="fill:url(//evil"/>', '<g/>'],
    [
      'imports',
      '<style>@import "https://evil.example/x.css";</style><style>.a{background:image-set("//evil")}</style><g/>',
      '<g/>',
    ],
    ['elements in a style sheet', '<style>.a{}<script>alert(1)</script></style>', '<style>.a{}</style>'],
    ['parts of editors', '<metadata><g/></metadata><sodipodi:namedview/><g inkscape:label="x"/>', '<g/>'],
    ['instructions', '<?xml-stylesheet href="https://evil.example/x.css"?><g/>', '<g/>'],
    ['another namespace', '<g xmlns="http://www.w3.org/1999/xhtml"><path/></g><path xmlns:xlink="urn:evil"/>', '<path/>'],
  ])('loses %s', (_name, source, result) => {
    expect(inside(source)).toBe(result);
  });

  it('has the white space of values as every reader of XML sees it', () => {
    expect(inside('<path d="M0 0\r\n\tL1&#10;1"/>')).toBe('<path d="M0 0  L1\n1"/>');
  });

  it('has its text escaped again', () => {
    expect(inside('<text a="&lt;&quot;&#34;">&lt;script&gt;<![CDATA[</text><script>]]></text>')).toBe(
      '<text a="&lt;&quot;&quot;">&lt;script>&lt;/text>&lt;script></text>',
    );
  });

  it.each([
    ['a page', '<html><body/></html>'],
    ['nothing', ''],
    ['two roots', '<svg/><svg/>'],
    ['text around the root', 'x<svg/>'],
    ['an open element', '<svg><g></svg>'],
    ['no end', '<svg>'],
    ['a wrong end', '<svg></svg></g>'],
    ['an attribute without quotes', '<svg><g a=b/></svg>'],
    ['one attribute twice', '<svg><g a="1" a="2"/></svg>'],
    ['a lone ampersand', '<svg>&</svg>'],
    ['declared entities', '<!DOCTYPE svg [<!ENTITY a "aaaaaaaaaa">]><svg>&a;</svg>'],
    ['an entity without declaration', '<svg>&a;</svg>'],
    ['the name of a property of every object as an entity', '<svg>&constructor;</svg>'],
    ['an opening mark in a value', '<svg><g id="<"/></svg>'],
    ['the end of a section outside of one', '<svg><text>]]></text></svg>'],
    ['a document type inside', '<svg><!DOCTYPE svg></svg>'],
    ['a control character by number, which XML 1.1 allows', '<?xml version="1.1"?><svg><text>&#1;</text></svg>'],
    ['a comment without end', '<svg/><!-- '],
    ['a surrogate by number', '<svg>&#xd800;</svg>'],
    ['a zero', '<svg>\0</svg>'],
    ['a root of another namespace', '<svg xmlns="http://www.w3.org/1999/xhtml"/>'],
    ['a prefix', '<s:svg xmlns:s="http://www.w3.org/2000/svg"/>'],
    ['bytes that are no UTF-8', Buffer.from([0x3c, 0x73, 0x76, 0x67, 0xff])],
    ['UTF-16', Buffer.from('\ufeff<svg/>', 'utf16le')],
    ['a hundred levels and more', `<svg>${'<g>'.repeat(101)}${'</g>'.repeat(101)}</svg>`],
    ['too many elements', `<svg>${'<g/>'.repeat(20_001)}</svg>`],
    ['references that multiply', `<svg><g id="n0"/>${multiplying('<use href="#n"/>', 12)}</svg>`],
    ['patterns that multiply', `<svg><g id="n0"/>${multiplying('<rect fill="url(#n)"/>', 12)}</svg>`],
    ['a reference to itself', '<svg><g id="a"><use href="#a"/></g></svg>'],
    ['a circle that hides multiplication', `<svg>${multiplying('<use href="#n"/>', 12)}<g id="n0"><use href="#n12"/></g></svg>`],
    [
      'a very long chain',
      `<svg>${Array.from({ length: 5_000 }, (_none, at) => `<use id="n${at}" href="#n${at + 1}"/>`).join('')}</svg>`,
    ],
  ])('is refused with %s', (_name, source) => {
    expect(clean(source as string)).toBeNull();
  });

  // A pattern that can match in many ways would need minutes or exhaust the stack for these.
  it.each([
    ['one long value', `<svg><path d="${'M0 0'.repeat(1_000_000)}"/></svg>`],
    ['blanks in an address', `<svg><g style="a:url(${' '.repeat(2_000_000)}x"/></svg>`],
    ['many beginnings of comments', `<svg><style>${'/*'.repeat(1_000_000)}</style></svg>`],
    ['many beginnings of addresses', `<svg><g style="${'url('.repeat(500_000)}"/></svg>`],
    ['many ampersands', `<svg>${'&'.repeat(2_000_000)}</svg>`],
    ['a long comment', `<svg><!--${'-x'.repeat(1_000_000)}--></svg>`],
    ['a long document type', `<!DOCTYPE ${'x'.repeat(2_000_000)}><svg/>`],
    ['many opening marks', '<'.repeat(2_000_000)],
    ['many opening elements', '<g '.repeat(1_000_000)],
    ['blanks in a tag', `<svg><g${' '.repeat(2_000_000)}x/></svg>`],
  ])('of megabytes is read in one pass: %s', (_name, source) => {
    const result = clean(source);
    if (result !== null) expect(result.startsWith('<svg')).toBe(true);
  });
});

/** Twelve levels, each of which shows the one below ten times. */
function multiplying(reference: string, levels: number): string {
  return Array.from({ length: levels }, (_none, level) => {
    const shown = reference.replace('#n', `#n${level}`).repeat(10);
    return `<g id="n${level + 1}">${shown}</g>`;
  }).join('');
}
