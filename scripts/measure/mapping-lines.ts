import type { SourceText } from '../checks/source-files.ts';

export interface MappingLines {
  /** Members of interfaces and types named `…Row`. */
  rowInterfaces: number;
  /** `someKey: row.some_key,` */
  rowToCamel: number;
  /** `some_key: value.someKey,` */
  camelToWire: number;
  /** `someKey: input.some_key,` */
  wireToCamel: number;
}

export const snakeOf = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const VALUE = String.raw`(\w+)(?:[!?]?\.\w+)*?[!?]?\.(\w+)!?`;
/** A field copied as it is, or through one call: `key: a.field,` and `key: new Date(a.field),`. */
const COPY = new RegExp(String.raw`^\s*(\w+): (?:${VALUE}|(?:new )?[\w.]+\(${VALUE}\)),$`);

type Kind = Exclude<keyof MappingLines, 'rowInterfaces'>;

/** Which of the copies a line is; null for any other line. A field whose name is the same on both sides counts by its place. */
export function mappingKind(line: string, isAboveDomain: boolean): Kind | null {
  const match = COPY.exec(line);
  if (!match) return null;
  const key = match[1]!;
  const [object, field] = [match[2] ?? match[4]!, match[3] ?? match[5]!];
  if (field.includes('_') && !key.includes('_') && snakeOf(key) === field) return isAboveDomain ? 'wireToCamel' : 'rowToCamel';
  if (key.includes('_') && snakeOf(field) === key) return 'camelToWire';
  if (key !== field) return null;
  if (isAboveDomain) return object === 'input' || object === 'body' ? 'wireToCamel' : 'camelToWire';
  return /row$/i.test(object) ? 'rowToCamel' : null;
}

export function countMappingLines(files: readonly SourceText[]): MappingLines {
  const counts: MappingLines = { rowInterfaces: 0, rowToCamel: 0, camelToWire: 0, wireToCamel: 0 };
  for (const { path, text } of files) {
    const isAboveDomain = /^src\/(?:routers|rest|realtime)\//.test(path);
    let isInRow = false;
    for (const line of text.split('\n')) {
      if (/^\s*(?:export )?(?:interface \w*Row\b.*\{|type \w*Row\b.*\{)$/.test(line)) isInRow = true;
      else if (isInRow && /^\s*\}/.test(line)) isInRow = false;
      else if (isInRow && /^\s*(?:readonly )?\w+\??:/.test(line)) counts.rowInterfaces++;
      const kind = mappingKind(line, isAboveDomain);
      if (kind) counts[kind]++;
    }
  }
  return counts;
}
