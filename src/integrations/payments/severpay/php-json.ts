import { isLosslessNumber } from 'lossless-json';

/** How PHP's `json_encode` writes a value that `json_decode` read. */
export interface PhpJsonForm {
  /** `/` as `\/` and all but ASCII as `\uXXXX`: its default flags. Else JSON_UNESCAPED_SLASHES and JSON_UNESCAPED_UNICODE. */
  isEscaped: boolean;
  /** Numbers as they were received, in place of PHP's shortest form (`179.0` becomes `179`). */
  keepsNumbers: boolean;
}

/** Compact JSON in the order of the keys. @param value as `parseWireObject` reads it */
export function phpJson(value: unknown, form: PhpJsonForm): string {
  if (isLosslessNumber(value)) return form.keepsNumbers ? value.toString() : phpNumber(value.toString());
  if (typeof value === 'string') return phpString(value, form);
  if (Array.isArray(value)) return `[${value.map((item) => phpJson(item, form)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `${phpString(name, form)}:${phpJson(member, form)}`);
  // Decoded objects are arrays in PHP; an empty one is written as a list.
  return members.length === 0 ? '[]' : `{${members.join(',')}}`;
}

function phpString(text: string, { isEscaped }: PhpJsonForm): string {
  const quoted = JSON.stringify(text);
  if (!isEscaped) return quoted.replace(/[\u2028\u2029]/g, codeOf);
  return quoted.replaceAll('/', '\\/').replace(/[^\0-\x7f]/g, (character) => [...codeUnits(character)].map(codeOf).join(''));
}

function phpNumber(text: string): string {
  return /^-?\d+$/.test(text) ? text : String(Number(text));
}

const codeUnits = (character: string) => Array.from({ length: character.length }, (_, index) => character[index]!);
const codeOf = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
