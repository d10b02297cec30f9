import { attributeOf, isKnown, OPENS_NOTHING, tagsOf, unescaped, unescapeTags } from './messenger-html.ts';
import type { MessengerMarkup } from './ports.ts';

/**
 * A text of an operator as the messenger accepts it (spec 05 section 4): entity-escaped tags become tags, each tag has its one attribute
 * at most, `br` is a line break, `hr` and `img` are left out. A tag that the messenger refuses without its attribute is left out too, and
 * everything that is no tag is escaped. What it shows has the length that `visibleText` counts.
 */
export function sendableHtml(text: string, markup: MessengerMarkup): string {
  const html = unescapeTags(text, markup);
  /** Whether each tag that is open was written. */
  const open: boolean[] = [];
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
      if (open.pop()) result += `</${name}>`;
    } else if (!isEmpty) {
      const attribute = attributeOf(name, attributes, markup, unescaped);
      const isWritten = isComplete(name, attribute, markup);
      open.push(isWritten);
      if (isWritten) result += `<${name}${attribute}>`;
    }
  }
  return result + escapedText(html.slice(from));
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
