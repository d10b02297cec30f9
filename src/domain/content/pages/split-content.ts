/** Cuts a page into parts that fit into messages of the chat (spec 05 section 5.1, `content_pages`). */

const MAX_PART = 3500;
const OPENS_NOTHING = new Set(['br', 'hr', 'img']);
/** A tag, or a run of text up to the next `<`. */
const TOKEN = /<(\/?)([a-zA-Z][\w-]*)[^<>]*>|[^<]+|</g;

/**
 * Parts of at most 3500 characters: whole paragraphs as long as they fit, a longer paragraph cut.
 * @param keepsTags tags that are open where a part ends are closed there and opened again in the next part
 * @returns nothing for a blank text
 */
export function splitContent(content: string, keepsTags: boolean): string[] {
  const text = content.replace(/\r\n/g, '\n').trim();
  if (text === '') return [];
  if (lengthOf(text) <= MAX_PART) return [text];
  const paragraphs = text.split(/\n[^\S\n]*\n/).map((paragraph) => paragraph.trim());
  return packed(paragraphs.filter((paragraph) => paragraph !== '').flatMap((paragraph) => cut(paragraph, keepsTags)));
}

function cut(paragraph: string, keepsTags: boolean): string[] {
  if (lengthOf(paragraph) <= MAX_PART) return [paragraph];
  return (keepsTags ? cutBetweenTags(paragraph) : null) ?? cutPlainly(paragraph);
}

/** Joins neighbours as long as they fit into one part. */
function packed(pieces: readonly string[]): string[] {
  const parts: string[] = [];
  for (const piece of pieces) {
    const last = parts.at(-1);
    const joined = last === undefined ? null : `${last}\n\n${piece}`;
    if (joined !== null && lengthOf(joined) <= MAX_PART) parts[parts.length - 1] = joined;
    else parts.push(piece);
  }
  return parts;
}

function cutPlainly(text: string): string[] {
  const characters = Array.from(text);
  const pieces: string[] = [];
  for (let start = 0; start < characters.length; start += MAX_PART) {
    pieces.push(characters.slice(start, start + MAX_PART).join(''));
  }
  return pieces;
}

interface OpenTag {
  name: string;
  /** As written, with its attributes. */
  text: string;
}

/** Null where the tags themselves take the whole part, so that no text would fit. */
function cutBetweenTags(text: string): string[] | null {
  const pieces: string[] = [];
  let open: OpenTag[] = [];
  let piece = '';
  let length = 0;
  let hasText = false;

  const closing = (tags: readonly OpenTag[]) =>
    tags
      .toReversed()
      .map(({ name }) => `</${name}>`)
      .join('');
  const room = (tags: readonly OpenTag[]) => MAX_PART - length - lengthOf(closing(tags));
  const endPiece = () => {
    pieces.push(piece + closing(open));
    piece = open.map((tag) => tag.text).join('');
    length = lengthOf(piece);
    hasText = false;
  };

  for (const [token, slash, name] of text.matchAll(TOKEN)) {
    if (name === undefined) {
      let rest = Array.from(token);
      while (rest.length > 0) {
        const space = room(open);
        if (space <= 0) {
          if (!hasText) return null;
          endPiece();
          continue;
        }
        piece += rest.slice(0, space).join('');
        length += Math.min(space, rest.length);
        rest = rest.slice(space);
        hasText = true;
      }
      continue;
    }
    const after = tagsAfter(open, token, slash === '/', name.toLowerCase());
    if (lengthOf(token) > room(after)) {
      if (!hasText) return null;
      endPiece();
      if (lengthOf(token) > room(after)) return null;
    }
    piece += token;
    length += lengthOf(token);
    open = after;
  }
  // What is left without text are tags that the parts before have closed.
  if (hasText) pieces.push(piece + closing(open));
  return pieces.length > 0 ? pieces : null;
}

/** The open tags after a tag; a closing tag without its opening one changes nothing. */
function tagsAfter(open: OpenTag[], text: string, isClosing: boolean, name: string): OpenTag[] {
  if (isClosing) {
    const at = open.findLastIndex((tag) => tag.name === name);
    return at === -1 ? open : open.toSpliced(at, 1);
  }
  return OPENS_NOTHING.has(name) || text.endsWith('/>') ? open : [...open, { name, text }];
}

const lengthOf = (text: string): number => Array.from(text).length;
