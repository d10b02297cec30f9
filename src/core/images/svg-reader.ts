/**
 * Reads SVG into a tree. Strict: what is not plainly well-formed is refused instead of repaired, so that no browser can see another document
 * than this reader did.
 */

export interface SvgElement {
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
export function readSvg(bytes: Buffer): SvgElement | null {
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
