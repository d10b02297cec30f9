/** The subset of HTML that messages may have (spec 05 section 4, content check): which tags, how they nest, how long the text is. */

import { countCharacters } from '../../core/characters.ts';
import type { MessengerMarkup } from './ports.ts';

/** Characters of a message as the messenger counts them: without tags, an emoji is two. */
export const MAX_MESSAGE_LENGTH = 4096;
/** The same of the text under a file. */
export const MAX_CAPTION_LENGTH = 1024;

const TAGS = new Set(['b', 'strong', 'i', 'em', 'u', 'ins', 's', 'strike', 'del', 'code', 'pre', 'a', 'blockquote', 'span']);
/** Accepted without a closing tag although the messenger has none of them. */
const OPENS_NOTHING: ReadonlySet<string> = new Set(['br', 'hr', 'img']);
const SCHEMES = ['http:', 'https:', 'mailto:', 'tel:'];

/** `position`: of the tag in the text, from 1. */
export type HtmlProblem = { position: number } & (
  | { kind: 'unsupported' | 'not_opened' | 'not_closed'; tag: string }
  | { kind: 'wrong_nesting'; tag: string; expected: string }
);

interface Tag {
  /** Lower case. */
  name: string;
  /** As it is written behind the name, without the bracket. */
  attributes: string;
  isClosing: boolean;
  /** Written as `<x/>`. */
  isEmpty: boolean;
  /** Offsets in the text; `end` is null where the tag has no `>`. */
  start: number;
  end: number | null;
}

const TAG_START = /<(\/?)([a-zA-Z][\w-]*)/y;

/** Tags in their order. A `<` without a letter, or a slash and a letter, after it is text. The whole is read once, whatever it contains. */
function* tagsOf(html: string): Generator<Tag> {
  for (let start = html.indexOf('<'); start !== -1; ) {
    TAG_START.lastIndex = start;
    const head = TAG_START.exec(html);
    if (!head) {
      start = html.indexOf('<', start + 1);
      continue;
    }
    const close = closingBracket(html, TAG_START.lastIndex);
    const attributes = html.slice(TAG_START.lastIndex, close ?? html.length);
    const tag = { name: head[2]!.toLowerCase(), attributes, isClosing: head[1] === '/', start };
    yield { ...tag, isEmpty: close !== null && html[close - 1] === '/', end: close === null ? null : close + 1 };
    start = close === null ? -1 : html.indexOf('<', close + 1);
  }
}

/** The first `>` that is not in quotes. */
function closingBracket(html: string, from: number): number | null {
  let quote: string | null = null;
  for (let at = from; at < html.length; at += 1) {
    const character = html[at]!;
    if (quote !== null) quote = character === quote ? null : quote;
    else if (character === '>') return at;
    else if (character === '"' || character === "'") quote = character;
  }
  return null;
}

/** What the messenger would refuse in a text, the first of it; null = nothing. An empty text is valid. */
export function htmlProblem(text: string, markup: MessengerMarkup): HtmlProblem | null {
  const shifts: { at: number; removed: number }[] = [];
  const html = unescapeTags(text, markup, (at, removed) => shifts.push({ at, removed }));
  const problem = tagProblem(tagsOf(html), markup);
  if (problem === null) return null;
  // Tags that were unescaped before it have moved it.
  let offset = problem.position - 1;
  for (const { at, removed } of shifts) if (at < offset) offset += removed;
  return { ...problem, position: countCharacters(text.slice(0, offset)) + 1 };
}

/** The first of these tags that the messenger does not know, or that has no end where it should. */
function tagProblem(tags: Iterable<Tag>, markup: MessengerMarkup): HtmlProblem | null {
  const open: { tag: string; position: number }[] = [];
  for (const { name: tag, isClosing, isEmpty, start, end } of tags) {
    const position = start + 1;
    if (!isKnown(tag, markup)) return { kind: 'unsupported', tag, position };
    if (end === null) return { kind: 'not_closed', tag, position };
    if (!isClosing) {
      if (!isEmpty && !OPENS_NOTHING.has(tag)) open.push({ tag, position });
      continue;
    }
    const expected = open.pop()?.tag;
    if (expected === undefined) return { kind: 'not_opened', tag, position };
    if (expected !== tag) return { kind: 'wrong_nesting', tag, expected, position };
  }
  const last = open.at(-1);
  return last === undefined ? null : { kind: 'not_closed', ...last };
}

/** Whether messages may have the tag. */
function isKnown(name: string, { spoilerTag, emojiTag }: MessengerMarkup): boolean {
  return TAGS.has(name) || OPENS_NOTHING.has(name) || name === spoilerTag || name === emojiTag;
}

/** A name is taken whole or not at all: tried again with each part of a long name, a text would take a time by the square of its length. */
const ESCAPED_TAG = /&lt;(\/?)([a-zA-Z][\w-]*)(?![\w-])((?:[^<>&]|&(?!lt;|gt;))*)&gt;/g;
const ATTRIBUTE = /(?<![\w-])([\w-]+)(?![\w-])\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

/**
 * Turns entity-escaped tags that messages may have into tags, with the attributes that they may have. Other entities stay.
 * @param onTag receives of each its offset in the text, and by how much it became shorter
 */
export function unescapeTags(
  text: string,
  markup: MessengerMarkup,
  onTag: (at: number, removed: number) => void = () => undefined,
): string {
  return text.replace(ESCAPED_TAG, (escaped: string, slash: string, name: string, rest: string, at: number) => {
    const tag = name.toLowerCase();
    if (!isKnown(tag, markup)) return escaped;
    const attribute = slash === '/' ? '' : attributeOf(tag, unescaped(rest), markup);
    const plain = slash === '/' ? `</${tag}>` : `<${tag}${attribute}${rest.trimEnd().endsWith('/') ? '/' : ''}>`;
    onTag(at, escaped.length - plain.length);
    return plain;
  });
}

/**
 * The one attribute that a tag may have, with its value escaped; empty without it.
 * @param tag name in lower case
 * @param text what follows the name
 * @param read what reads the entities of its value; nothing where the text was unescaped as a whole
 */
function attributeOf(
  tag: string,
  text: string,
  markup: MessengerMarkup,
  read: (value: string) => string = (value) => value,
): string {
  const name = tag === 'a' ? 'href' : tag === 'span' ? 'class' : tag === markup.emojiTag ? markup.emojiIdAttribute : null;
  if (name === null) return '';
  for (const [, given, double, single] of text.matchAll(ATTRIBUTE)) {
    const value = read(double ?? single ?? '');
    if (given?.toLowerCase() !== name) continue;
    return tag === 'a' && !isLink(value, markup) ? '' : ` ${name}="${value.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"`;
  }
  return '';
}

function isLink(address: string, { linkScheme }: MessengerMarkup): boolean {
  return URL.canParse(address) && [...SCHEMES, `${linkScheme}:`].includes(new URL(address).protocol);
}

/** The text without its tags, entities read: its `length` is what the messenger counts. A line break is a character, a rule or a picture none. */
export function visibleText(text: string, markup: MessengerMarkup): string {
  const html = unescapeTags(text, markup);
  let plain = '';
  let from = 0;
  for (const { name, start, end } of tagsOf(html)) {
    plain += html.slice(from, start);
    if (name === 'br') plain += '\n';
    from = end ?? html.length;
  }
  return unescaped(plain + html.slice(from));
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"' };

/** Reads entities. The messenger knows these four names and numbers. */
function unescaped(text: string): string {
  return text.replace(/&(?:(lt|gt|amp|quot)|#(\d{1,7})|#x([\da-fA-F]{1,6}));/g, (entity: string, name, decimal, hex) => {
    if (name !== undefined) return ENTITIES[name as string]!;
    const code = decimal === undefined ? Number.parseInt(hex as string, 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : entity;
  });
}

/**
 * A text of an operator as the messenger accepts it (spec 05 section 4): entity-escaped tags become tags, each tag has its one attribute
 * at most, `br` is a line break, `hr` and `img` are left out. A tag that the messenger refuses without its attribute is left out too, and
 * everything that is no tag is escaped. Tags that are left open end with the one around them, and an end of nothing is left out. What it
 * shows has the length that `visibleText` counts.
 */
export function sendableHtml(text: string, markup: MessengerMarkup): string {
  return acceptedHtml(unescapeTags(text, markup), markup);
}

/**
 * A text that nobody has checked, for many recipients: as it is where the messenger accepts it, with all attributes of its tags; else
 * repaired like `sendableHtml`, without reading entity-escaped tags.
 */
export function repairedHtml(text: string, markup: MessengerMarkup): string {
  return isAccepted(text, markup) ? text : acceptedHtml(text, markup);
}

/**
 * A text to be stored: its tags with the one attribute each that messages may have, so that no handler and no script address waits for a
 * page that shows it (spec 10 O12). All else, also what the messenger would refuse, stays as written.
 */
export function withAllowedAttributes(text: string, markup: MessengerMarkup): string {
  let result = '';
  let from = 0;
  for (const { name, attributes, isClosing, isEmpty, start, end } of tagsOf(text)) {
    if (end === null || attributes.trim() === '') continue;
    const tag = `${isClosing ? '/' : ''}${name}${isClosing ? '' : attributeOf(name, attributes, markup, unescaped)}`;
    result += `${text.slice(from, start)}<${tag}${isEmpty ? '/' : ''}>`;
    from = end;
  }
  return result + text.slice(from);
}

/** Whether every `<` begins a tag that the messenger knows, and each tag ends where it should. */
function isAccepted(html: string, markup: MessengerMarkup): boolean {
  const tags = [...tagsOf(html)];
  const opensOrEnds = ({ name, isEmpty }: (typeof tags)[number]) => !isEmpty && !OPENS_NOTHING.has(name);
  return html.split('<').length - 1 === tags.length && tags.every(opensOrEnds) && tagProblem(tags, markup) === null;
}

function acceptedHtml(html: string, markup: MessengerMarkup): string {
  const open: { name: string; isWritten: boolean }[] = [];
  /** The ends of all tags that were opened from this one on. */
  const closeFrom = (index: number) =>
    open
      .splice(index)
      .reverse()
      .map((tag) => (tag.isWritten ? `</${tag.name}>` : ''))
      .join('');
  let result = '';
  let from = 0;
  for (const { name, attributes, isClosing, isEmpty, start, end } of tagsOf(html)) {
    result += escapedText(html.slice(from, start));
    from = end ?? html.length;
    if (end === null || !isKnown(name, markup)) {
      result += escapedText(html.slice(start, from));
    } else if (OPENS_NOTHING.has(name)) {
      if (name === 'br' && !isClosing) result += '\n';
    } else if (isClosing) {
      const index = open.findLastIndex((tag) => tag.name === name);
      if (index >= 0) result += closeFrom(index);
    } else if (!isEmpty) {
      const attribute = attributeOf(name, attributes, markup, unescaped);
      const isWritten = isComplete(name, attribute, markup);
      open.push({ name, isWritten });
      if (isWritten) result += `<${name}${attribute}>`;
    }
  }
  return result + escapedText(html.slice(from)) + closeFrom(0);
}

function isComplete(tag: string, attribute: string, { spoilerTag, emojiTag }: MessengerMarkup): boolean {
  if (tag === 'span') return attribute === ` class="${spoilerTag}"`;
  return attribute !== '' || (tag !== 'a' && tag !== emojiTag);
}

/** Text without tags: entities that the messenger reads stay, every other special character becomes one. */
function escapedText(text: string): string {
  return text
    .replace(/&(?!(?:lt|gt|amp|quot|#\d{1,7}|#x[\da-fA-F]{1,6});)/g, '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}
