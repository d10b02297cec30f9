/** Characters as the contract and the database count them: each code point is one, so an emoji is never cut in half. */

export function countCharacters(text: string): number {
  return Array.from(text).length;
}

/** The first `count` characters, without a mark. */
export function firstCharacters(text: string, count: number): string {
  // No character has more than two code units, so only the beginning of a long text is read.
  return text.length <= count
    ? text
    : Array.from(text.slice(0, 2 * count))
        .slice(0, count)
        .join('');
}
