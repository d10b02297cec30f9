/** Cuts a page into parts that fit into messages of the chat (spec 05 section 5.1, `content_pages`). */
import { countCharacters } from '../../../core/characters.ts';

const MAX_PART = 3500;
const SEPARATOR = '\n\n';
const OPENS_NOTHING = new Set(['br', 'hr', 'img']);
/** A tag, or a run of text up to the next `<`. A name is taken whole or not at all, so that the time grows with the length only. */
const TOKEN = /<(\/?)([a-zA-Z][\w-]*)(?![\w-])[^<>]*>|[^<]+|</g;

/**
 * Parts of at most 3500 characters: whole paragraphs as long as they fit, a longer paragraph cut.
 * @param keepsTags tags that are open where a part ends are closed there and opened again in the next part
 * @returns nothing for a blank text
 */
export function splitContent(content: string, keepsTags: boolean): string[] {
  const text = content.replace(/\r\n/g, '\n').trim();
  if (text === '') return [];
  if (countCharacters(text) <= MAX_PART) return [text];
  const paragraphs = text.split(/\n[^\S\n]*\n/).map((paragraph) => paragraph.trim());
  return packed(paragraphs.filter((paragraph) => paragraph !== '').flatMap((paragraph) => cut(paragraph, keepsTags)));
}

function cut(paragraph: string, keepsTags: boolean): string[] {
  if (countCharacters(paragraph) <= MAX_PART) return [paragraph];
  const pieces = (keepsTags ? cutBetweenTags(paragraph) : null) ?? cutPlainly(paragraph);
  // Thousands of blanks in a row: the messenger refuses a message of nothing else.
  return pieces.filter((piece) => piece.trim() !== '');
}

/** Joins neighbours as long as they fit into one part. */
function packed(pieces: readonly string[]): string[] {
  const parts: string[] = [];
  let together: string[] = [];
  let length = 0;
  for (const piece of pieces) {
    const added = countCharacters(piece) + (together.length === 0 ? 0 : SEPARATOR.length);
    if (together.length > 0 && length + added > MAX_PART) {
      parts.push(together.join(SEPARATOR));
      together = [];
      length = -SEPARATOR.length;
    }
    together.push(piece);
    length += added;
  }
  return together.length === 0 ? parts : [...parts, together.join(SEPARATOR)];
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
  const writer = new PartWriter();
  for (const [token, slash, name] of text.matchAll(TOKEN)) {
    const isWritten =
      name === undefined
        ? writer.addText(Array.from(token))
        : writer.addTag(token, tagsAfter(writer.open, token, slash === '/', name.toLowerCase()));
    if (!isWritten) return null;
  }
  return writer.finish();
}

/** Writes parts whose tags are closed. Both `add` methods return false where not even an empty part has space for what they add. */
class PartWriter {
  open: readonly OpenTag[] = [];
  readonly #parts: string[] = [];
  #part = '';
  #length = 0;
  #hasText = false;

  addText(characters: readonly string[]): boolean {
    for (let from = 0; from < characters.length; ) {
      const space = this.#spaceWith(this.open);
      if (space > 0) {
        this.#add(characters.slice(from, from + space).join(''), Math.min(space, characters.length - from));
        this.#hasText = true;
        from += space;
      } else if (!this.#startPart()) return false;
    }
    return true;
  }

  /** @param after what is open after the tag */
  addTag(tag: string, after: readonly OpenTag[]): boolean {
    const length = countCharacters(tag);
    if (length > this.#spaceWith(after) && (!this.#startPart() || length > this.#spaceWith(after))) return false;
    this.#add(tag, length);
    this.open = after;
    return true;
  }

  /** The parts; null where there is no text at all. */
  finish(): string[] | null {
    // Without text there are only tags left, which the part before has closed.
    if (this.#hasText) this.#parts.push(this.#part + closingTags(this.open));
    return this.#parts.length > 0 ? this.#parts : null;
  }

  #add(text: string, length: number): void {
    this.#part += text;
    this.#length += length;
  }

  #spaceWith(open: readonly OpenTag[]): number {
    return MAX_PART - this.#length - countCharacters(closingTags(open));
  }

  /** @returns false where the part has no text yet */
  #startPart(): boolean {
    if (!this.#hasText) return false;
    this.#parts.push(this.#part + closingTags(this.open));
    this.#part = this.open.map(({ text }) => text).join('');
    this.#length = countCharacters(this.#part);
    this.#hasText = false;
    return true;
  }
}

const closingTags = (open: readonly OpenTag[]): string =>
  open
    .toReversed()
    .map(({ name }) => `</${name}>`)
    .join('');

/** The open tags after a tag; a closing tag without its opening one changes nothing. */
function tagsAfter(open: readonly OpenTag[], text: string, isClosing: boolean, name: string): readonly OpenTag[] {
  if (isClosing) {
    const at = open.findLastIndex((tag) => tag.name === name);
    return at === -1 ? open : open.toSpliced(at, 1);
  }
  return OPENS_NOTHING.has(name) || text.endsWith('/>') ? open : [...open, { name, text }];
}
