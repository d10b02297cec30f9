import sanitizeHtml from 'sanitize-html';
import type { MessengerMarkup } from '../../messaging/ports.ts';

/** Where a browser would begin to read a tag, a comment or a declaration. */
const MARKUP = /<[a-z!/?]/i;

const INLINE = [
  'b',
  'strong',
  'i',
  'em',
  'u',
  'ins',
  's',
  'strike',
  'del',
  'code',
  'a',
  'span',
  'br',
  'sub',
  'sup',
  'small',
  'mark',
];
const BLOCKS = [
  'p',
  'div',
  'pre',
  'blockquote',
  'hr',
  'ul',
  'ol',
  'li',
  'h1',
  'h2',
  'h3',
  'h4',
  'h5',
  'h6',
  'details',
  'summary',
];
const TABLES = ['table', 'thead', 'tbody', 'tfoot', 'tr', 'th', 'td', 'caption'];

/**
 * What a browser may be given of a text that an operator wrote (spec 05 section 5.1, last line; section 16, invariant 7): formatting, links and
 * pictures; no scripts, styles, frames, forms, event handlers, or classes that would place an element over the page. A text without
 * markup, Markdown for example, stays as it is.
 */
export function cleanHtml(text: string, markup: MessengerMarkup): string {
  if (!MARKUP.test(text)) return text;
  const once = sanitizeHtml(text, optionsFor(markup));
  // An element that was taken out can leave two within each other that may not be nested, `<a>` in `<a>` for example: browsers would read
  // another structure. The second time they are put side by side.
  return once === text ? text : sanitizeHtml(once, optionsFor(markup));
}

const known = new WeakMap<MessengerMarkup, sanitizeHtml.IOptions>();

function optionsFor(markup: MessengerMarkup): sanitizeHtml.IOptions {
  const found = known.get(markup);
  if (found) return found;
  const options: sanitizeHtml.IOptions = {
    allowedTags: [...INLINE, ...BLOCKS, ...TABLES, 'img', markup.spoilerTag, markup.emojiTag],
    allowedAttributes: {
      a: ['href', 'title'],
      img: ['src', 'alt', 'title', 'width', 'height'],
      blockquote: ['expandable'],
      ol: ['start'],
      td: ['colspan', 'rowspan'],
      th: ['colspan', 'rowspan'],
      [markup.emojiTag]: [markup.emojiIdAttribute],
    },
    allowedClasses: { span: [markup.spoilerTag], code: ['language-*'], pre: ['language-*'] },
    allowedSchemes: ['http', 'https', 'mailto', 'tel', markup.linkScheme],
    exclusiveFilter: ({ tag, attribs }) => tag === 'img' && !/^https:\/\//i.test(attribs.src ?? ''),
    allowProtocolRelative: false,
    disallowedTagsMode: 'discard',
    // Deeper markup is nobody's text, and would overflow the stack of whoever reads it.
    nestingLimit: 50,
  };
  known.set(markup, options);
  return options;
}
