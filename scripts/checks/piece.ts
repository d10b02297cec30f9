/** Stands for what only the running program knows. */
export const PLACEHOLDER = '¤';

/** A part of a composed text and where it is written; without a file it is written nowhere. */
export interface Piece {
  text: string;
  file?: string;
  offset?: number;
}

/** What an expression may give: one text, or the elements of a list, or the properties of an object. */
export interface Value {
  items: Piece[][];
  properties?: ReadonlyMap<string, Value>;
}

/** Methods that leave a text or a list as it is, for our purposes. */
export function isTrivialCall(method: string): boolean {
  return ['filter', 'slice', 'trim', 'concat', 'values', 'entries', 'toSorted', 'replaceAll', 'replace', 'split'].includes(
    method,
  );
}
