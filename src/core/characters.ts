/** Characters as contract and database count them: a code point is one, so an emoji is one and never cut in half. */

export function countCharacters(text: string): number {
  return Array.from(text).length;
}

/** The first `count` characters, without a mark. */
export function firstCharacters(text: string, count: number): string {
  // No character has more than two code units: of a long text only its beginning is looked at.
  return text.length <= count
    ? text
    : Array.from(text.slice(0, 2 * count))
        .slice(0, count)
        .join('');
}
