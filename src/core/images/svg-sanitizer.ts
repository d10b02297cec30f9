import { SaxesParser } from 'saxes';

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
  // Other prefixes belong to editors, handlers of events have names with `on`, and no attribute of SVG has other letters.
  if (!/^(?!on)[a-z_][\w.-]*$/i.test(name)) return false;
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

/**
 * Reads SVG into a tree. Comments, instructions and the type of the document are dropped. The parser refuses what is not well-formed instead
 * of repairing it, so that no browser can see another document than this reader did (docs/decisions/reading-xml.md).
 * @returns the root element; null for anything that is not one well-formed document in UTF-8, declares entities, or is nested too deeply or
 * too large
 */
function readSvg(bytes: Buffer): SvgElement | null {
  const text = decodeUtf8(bytes);
  if (text === null) return null;
  const document: SvgElement = { name: '', attributes: [], children: [], isEmptyTag: false };
  const open: SvgElement[] = [document];
  let elements = 0;
  // What is written has no declaration, so it is XML 1.0, which allows fewer characters than 1.1.
  const parser = new SaxesParser({ defaultXMLVersion: '1.0', forceXMLVersion: true });
  const addText = (part: string) => open.at(-1)!.children.push(part);
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('doctype', (type) => {
    if (type.includes('[')) throw new Error('it declares something');
  });
  parser.on('opentag', ({ name, attributes, isSelfClosing }) => {
    elements += 1;
    if (open.length > MAX_DEPTH || elements > MAX_ELEMENTS) throw new Error('it is too large');
    const element = { name, attributes: Object.entries(attributes), children: [], isEmptyTag: isSelfClosing };
    open.at(-1)!.children.push(element);
    open.push(element);
  });
  parser.on('closetag', () => open.pop());
  try {
    parser.write(text).close();
  } catch {
    return null;
  }
  return document.children.find((child) => typeof child === 'object') ?? null;
}

function decodeUtf8(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
