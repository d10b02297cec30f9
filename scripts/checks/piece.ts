/** Placeholder for a value that is known at run time only. */
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

/** Methods that do not change what a text or a list contains. */
export function isTrivialCall(method: string): boolean {
  return ['filter', 'slice', 'trim', 'concat', 'values', 'entries', 'toSorted', 'replaceAll', 'replace', 'split'].includes(
    method,
  );
}
