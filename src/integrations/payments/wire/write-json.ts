import { LosslessNumber, stringify } from 'lossless-json';

/** A number of a request with exactly this text, for example an amount: no floating point in between (03a section 0.2). */
export function wireNumber(text: string): LosslessNumber {
  return new LosslessNumber(text);
}

/** Compact JSON of a request in the order of its fields. */
export function wireJson(fields: Readonly<Record<string, unknown>>): string {
  return stringify(fields)!;
}
