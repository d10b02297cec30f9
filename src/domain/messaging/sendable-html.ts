import { attributeOf, isKnown, OPENS_NOTHING, tagProblem, tagsOf, unescaped, unescapeTags } from './messenger-html.ts';
import type { MessengerMarkup } from './ports.ts';

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
 * A text that nobody has checked, for many recipients: as it is where the messenger takes it, with all attributes of its tags; else repaired
 * like `sendableHtml`, without reading entity-escaped tags.
 */
export function repairedHtml(text: string, markup: MessengerMarkup): string {
  return isAccepted(text, markup) ? text : acceptedHtml(text, markup);
}

/**
 * A text to be stored: its tags with the one attribute each that messages may have, so that no handler and no script address waits for a
 * page that shows it (spec 10 O12). All else, also what the messenger would refuse, stays as it was written.
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
