/**
 * Rewrites an SVG image so that it can run nothing and load nothing: its tree is written with known elements and harmless
 * attributes only. It is written here because rasterisers and sanitisers in packages are under licences that do not ship (MPL) or need a
 * browser's document. The headers of the answer (sandbox, no sniffing) are the second line, not the first.
 */

const SVG = 'http://www.w3.org/2000/svg';
const XLINK = 'http://www.w3.org/1999/xlink';

/** Everything that draws. Neither scripts, foreign content and links nor animations, which can change attributes after this check. */
const ELEMENTS: ReadonlySet<string> = new Set([
  ...['svg', 'g', 'defs', 'symbol', 'use', 'switch', 'title', 'desc', 'style', 'image'],
  ...['path', 'rect', 'circle', 'ellipse', 'line', 'polyline', 'polygon', 'text', 'tspan', 'textPath'],
  ...['linearGradient', 'radialGradient', 'stop', 'clipPath', 'mask', 'pattern', 'marker', 'filter'],
  ...['feBlend', 'feColorMatrix', 'feComponentTransfer', 'feFuncR', 'feFuncG', 'feFuncB', 'feFuncA', 'feComposite'],
  ...['feConvolveMatrix', 'feDiffuseLighting', 'feDisplacementMap', 'feDistantLight', 'fePointLight', 'feSpotLight'],
  ...['feDropShadow', 'feFlood', 'feGaussianBlur', 'feMerge', 'feMergeNode', 'feMorphology', 'feOffset'],
  ...['feSpecularLighting', 'feTile', 'feTurbulence'],
]);

/** A link is removed, but what it shows remains. */
const TRANSPARENT = 'a';

/** What a reference may make a browser draw, in elements; more is an image that only stops browsers. */
const MAX_DRAWN = 200_000;

const FRAGMENT = /^#[^\s"'()<>]+$/;
const EMBEDDED_IMAGE = /^data:image\/(?:png|jpeg|webp|gif);base64,[A-Za-z0-9+/=\s]*$/;
const EMBEDDED_FONT = /^data:(?:font\/[\w-]+|application\/(?:x-)?font-[\w-]+);(?:charset=[\w-]+;)?base64,[A-Za-z0-9+/=\s]*$/;
/** CSS that could load something without `url()`, or hide what it does. */
const REFUSED_CSS = /\\|@import|@namespace|image-set|expression\s*\(|javascript:|-moz-binding|behavior\s*:|src\s*\(|image\s*\(/i;
/** How many references may follow one another, so that counting them does not exhaust the stack. */
const MAX_CHAIN = 500;

/** @returns the image as it may be served; null when it is no SVG, or cannot be made safe */
export function sanitizeSvg(bytes: Buffer): Buffer | null {
  const tree = readSvg(bytes);
  if (tree?.name !== 'svg') return null;
  const root = cleaned(tree);
  if (root === null || drawnElements(root) > MAX_DRAWN) return null;
  if (!root.attributes.some(([name]) => name === 'xmlns')) root.attributes.unshift(['xmlns', SVG]);
  return Buffer.from(written(root));
}

/** @returns null when the element is left out with everything in it */
function cleaned(element: SvgElement): SvgElement | null {
  const { name, attributes, isEmptyTag } = element;
  if (!ELEMENTS.has(name) || attributes.some(([key, value]) => key === 'xmlns' && value !== SVG)) return null;
  if (name === 'style' && !isHarmlessCss(textOf(element))) return null;
  // Elements in a style sheet are no part of its text, so the check above would not see what they contain.
  const children = name === 'style' ? [textOf(element)] : element.children.flatMap(cleanedChild);
  const kept = attributes.filter(([key, value]) => isHarmless(name, key, value));
  return { name, attributes: kept, children, isEmptyTag };
}

function cleanedChild(child: SvgElement | string): (SvgElement | string)[] {
  if (typeof child === 'string') return [child];
  if (child.name === TRANSPARENT) return child.children.flatMap(cleanedChild);
  const element = cleaned(child);
  return element ? [element] : [];
}

const textOf = ({ children }: SvgElement) => children.filter((child) => typeof child === 'string').join('');

function isHarmless(element: string, name: string, value: string): boolean {
  if (name === 'xmlns') return true;
  if (name === 'xmlns:xlink') return value === XLINK;
  if (name === 'xml:space' || name === 'xml:lang') return true;
  if (name === 'href' || name === 'xlink:href') {
    return FRAGMENT.test(value) || (element === 'image' && EMBEDDED_IMAGE.test(value));
  }
  // Other prefixes belong to editors; handlers of events have names with `on`.
  if (name.includes(':') || /^on/i.test(name)) return false;
  return isHarmlessCss(value);
}

/** Presentation attributes are CSS, too. Comments are removed first, because they could hide a word from the check. */
function isHarmlessCss(css: string): boolean {
  const bare = withoutComments(css);
  if (bare === null || REFUSED_CSS.test(bare)) return false;
  return urlsIn(bare).every((url) => FRAGMENT.test(url) || EMBEDDED_IMAGE.test(url) || EMBEDDED_FONT.test(url));
}

/** @returns null where a comment does not end */
function withoutComments(css: string): string | null {
  let bare = '';
  let at = 0;
  for (let start = css.indexOf('/*'); start >= 0; start = css.indexOf('/*', at)) {
    const end = css.indexOf('*/', start + 2);
    if (end < 0) return null;
    bare += css.slice(at, start);
    at = end + 2;
  }
  return bare + css.slice(at);
}

/** What is between `url(` and the next `)`, without quotes; the rest of the text where that is missing. */
function urlsIn(css: string): string[] {
  const urls: string[] = [];
  for (const match of css.matchAll(/url\(/gi)) {
    const start = match.index + match[0].length;
    const end = css.indexOf(')', start);
    const content = (end < 0 ? css.slice(start, start + 100) : css.slice(start, end)).trim();
    urls.push(content.replace(/^"([^"]*)"$|^'([^']*)'$/, '$1$2'));
    // The first that nothing closes is refused anyway.
    if (end < 0) break;
  }
  return urls;
}

/**
 * How many elements are drawn when every reference is followed: a few nested `use` can mean billions.
 * @returns infinity where references form a circle or a very long chain, which no drawing needs
 */
function drawnElements(root: SvgElement): number {
  const byId = new Map<string, SvgElement>();
  const collect = (element: SvgElement): void => {
    for (const [name, value] of element.attributes) if (name === 'id' && !byId.has(value)) byId.set(value, element);
    for (const child of element.children) if (typeof child === 'object') collect(child);
  };
  collect(root);
  /** Null while its count is under way. */
  const counted = new Map<SvgElement, number | null>();
  const count = (element: SvgElement, chain: number): number => {
    const known = counted.get(element);
    if (known !== undefined) return known ?? Number.POSITIVE_INFINITY;
    if (chain > MAX_CHAIN) return Number.POSITIVE_INFINITY;
    counted.set(element, null);
    const targets = referencesOf(element).flatMap((id) => byId.get(id) ?? []);
    const parts = [...element.children.filter((child) => typeof child === 'object'), ...targets];
    const sum = parts.reduce((total, part) => total + count(part, chain + 1), 1);
    counted.set(element, sum);
    return sum;
  };
  return count(root, 0);
}

function referencesOf({ attributes }: SvgElement): string[] {
  return attributes.flatMap(([name, value]) => {
    const targets = name === 'href' || name === 'xlink:href' ? [value] : urlsIn(value);
    return targets.flatMap((target) => (target.startsWith('#') ? [target.slice(1)] : []));
  });
}

function written({ name, attributes, children, isEmptyTag }: SvgElement): string {
  const list = attributes.map(([key, value]) => ` ${key}="${escaped(value).replaceAll('"', '&quot;')}"`).join('');
  if (isEmptyTag) return `<${name}${list}/>`;
  const content = children.map((child) => (typeof child === 'string' ? escaped(child) : written(child))).join('');
  return `<${name}${list}>${content}</${name}>`;
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll(']]>', ']]&gt;');

// Reads SVG into a tree. Strict: what is not plainly well-formed is refused instead of repaired, so that no browser can see another document
// than this reader did.

interface SvgElement {
  name: string;
  /** In their order, values decoded. */
  attributes: [name: string, value: string][];
  children: (SvgElement | string)[];
  /** Written as `<name/>`. */
  isEmptyTag: boolean;
}

const MAX_DEPTH = 100;
const MAX_ELEMENTS = 20_000;

// Sticky: each matches at the place that is read, and none can match in two ways, so reading takes time by length only.
const NAME = '[A-Za-z_][\\w.-]*(?::[A-Za-z_][\\w.-]*)?';
const OPENING = new RegExp(`<(${NAME})`, 'y');
const CLOSING = new RegExp(`</(${NAME})\\s*>`, 'y');
const ATTRIBUTE = new RegExp(`\\s+(${NAME})\\s*=\\s*(?:"([^"<]*)"|'([^'<]*)')`, 'y');
const TAG_END = /\s*(\/?)>/y;
const TEXT = /[^<]+/y;
/** Only names a type. One that declares entities does not match and is refused. */
const DOCUMENT_TYPE = /<!DOCTYPE\s[^[\]<>]{0,500}>/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: XML excludes these characters
const NOT_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/;

/** @returns the root element; null for anything that is not one well-formed document in UTF-8, or is nested too deeply or too large */
function readSvg(bytes: Buffer): SvgElement | null {
  const text = decodeUtf8(bytes);
  if (text === null || NOT_XML.test(text)) return null;
  const document: SvgElement = { name: '', attributes: [], children: [], isEmptyTag: false };
  const open: SvgElement[] = [document];
  let elements = 0;
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) at = pattern.lastIndex;
    return match;
  };

  /** What is between two marks; null when it does not begin here. The second mark is searched, since it may be megabytes away. */
  const between = (first: string, last: string): string | null => {
    if (!text.startsWith(first, at)) return null;
    const end = text.indexOf(last, at + first.length);
    if (end < 0) return null;
    const content = text.slice(at + first.length, end);
    at = end + last.length;
    return content;
  };

  while (at < text.length) {
    const parent = open.at(-1)!;
    const plain = take(TEXT);
    if (plain) {
      const decoded = decodeEntities(plain[0]);
      if (decoded === null || plain[0].includes(']]>')) return null;
      parent.children.push(decoded);
      continue;
    }
    // Dropped: browsers do not show comments, instructions and the type of the document.
    if ((between('<!--', '-->') ?? between('<?', '?>') ?? take(DOCUMENT_TYPE)) !== null) continue;
    const cdata = between('<![CDATA[', ']]>');
    if (cdata !== null) {
      parent.children.push(cdata);
      continue;
    }
    const closing = take(CLOSING);
    if (closing) {
      if (open.length === 1 || parent.name !== closing[1]) return null;
      open.pop();
      continue;
    }
    const opening = take(OPENING);
    if (!opening) return null;
    elements += 1;
    const attributes = readAttributes(take);
    const end = attributes && take(TAG_END);
    if (!end || open.length > MAX_DEPTH || elements > MAX_ELEMENTS) return null;
    const element: SvgElement = { name: opening[1]!, attributes, children: [], isEmptyTag: end[1] === '/' };
    parent.children.push(element);
    if (!element.isEmptyTag) open.push(element);
  }
  return open.length === 1 ? onlyElement(document) : null;
}

/** @returns null when a name comes twice or a value has an unknown entity */
function readAttributes(take: (pattern: RegExp) => RegExpExecArray | null): [string, string][] | null {
  const attributes = new Map<string, string>();
  for (let match = take(ATTRIBUTE); match; match = take(ATTRIBUTE)) {
    const value = decodeEntities(match[2] ?? match[3]!);
    if (value === null || attributes.has(match[1]!)) return null;
    attributes.set(match[1]!, value);
  }
  return [...attributes];
}

/** Around the root there may be white space only. */
function onlyElement({ children }: SvgElement): SvgElement | null {
  const [root, ...others] = children.filter((child) => typeof child !== 'string' || child.trim() !== '');
  return typeof root === 'object' && others.length === 0 ? root : null;
}

function decodeUtf8(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** The five entities of XML and characters by number; others need a declaration, which is refused. */
function decodeEntities(text: string): string | null {
  let isValid = true;
  const decoded = text.replace(/&([^;&\s]{0,10});?/g, (whole, name: string) => {
    const character = whole.endsWith(';') ? characterOf(name) : null;
    if (character === null) isValid = false;
    return character ?? '';
  });
  return isValid ? decoded : null;
}

function characterOf(name: string): string | null {
  if (Object.hasOwn(ENTITIES, name)) return ENTITIES[name]!;
  const match = /^#(?:x([0-9a-f]{1,6})|([0-9]{1,7}))$/i.exec(name);
  if (!match) return null;
  const code = match[1] === undefined ? Number(match[2]) : Number.parseInt(match[1], 16);
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return null;
  const character = String.fromCodePoint(code);
  return NOT_XML.test(character) ? null : character;
}
