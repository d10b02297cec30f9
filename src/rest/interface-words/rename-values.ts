/** Renames the fields and identifiers of a JSON value; everything else stays as it is, and what has no such name is not copied. */
import type { IdentifierPosition } from './identifier-positions.ts';
import type { NameMaps } from './vocabulary.ts';

/** What is nested deeper is left as it is: a client may send more levels than the stack has room for. */
const MAX_DEPTH = 1_000;

export interface Renamer {
  /** @param position name of the field that holds the value; none is known at the top */
  value(value: unknown, position?: string): unknown;
  /** The name of a field, as it is when it does not change. */
  key(name: string): string;
}

/** Changes what depends on the fields beside it. Gets the object in our names and the renamed one, which it may replace. */
export type ObjectRule = (before: Record<string, unknown>, after: Record<string, unknown>) => Record<string, unknown>;

/**
 * @param positions those of the operation
 * @param isInward from the client: a field in his words wins over the same field in ours, which is dropped
 */
export function makeRenamer(
  { keys, values, prefixes, template }: NameMaps,
  positions: readonly IdentifierPosition[],
  { isInward, rule }: { isInward: boolean; rule?: ObjectRule },
): Renamer {
  const kindsAt = new Map<string, readonly IdentifierPosition['values'][]>();
  for (const position of positions) {
    for (const name of position.names) kindsAt.set(name, [...(kindsAt.get(name) ?? []), position.values]);
  }
  const namesAt = new Map([...kindsAt].map(([name, kinds]) => [name, identifiersOf(kinds)] as const));

  const known = new Set([...keys.keys(), ...namesAt.keys()]);

  function identifiersOf(kinds: readonly IdentifierPosition['values'][]): (text: string) => string {
    if (kinds.includes('templates')) return template;
    const names = new Map(kinds.flatMap((kind) => (kind === 'templates' ? [] : [...(values.get(kind) ?? [])])));
    const beginnings = kinds.includes('methods') ? prefixes : [];
    return (text) => {
      const name = names.get(text);
      if (name !== undefined) return name;
      const prefix = beginnings.find(([from]) => text.startsWith(from));
      return prefix === undefined ? text : `${prefix[1]}${text.slice(prefix[0].length)}`;
    };
  }

  function renameAny(value: unknown, position: ((text: string) => string) | undefined, depth: number): unknown {
    if (typeof value === 'string') return position === undefined ? value : position(value);
    if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return value;
    if (Array.isArray(value)) return renameList(value, position, depth + 1);
    // Dates and the like have a JSON form of their own.
    return isPlain(value) ? renameObject(value, depth + 1) : value;
  }

  function renameList(list: unknown[], position: ((text: string) => string) | undefined, depth: number): unknown[] {
    let copy: unknown[] | undefined;
    for (let index = 0; index < list.length; index += 1) {
      const before = list[index];
      const after = renameAny(before, position, depth);
      if (after === before) continue;
      copy ??= list.slice();
      copy[index] = after;
    }
    return copy ?? list;
  }

  function renameObject(object: Record<string, unknown>, depth: number): Record<string, unknown> {
    let isKeyChanged = false;
    let changed: Map<string, unknown> | undefined;
    for (const key of Object.keys(object)) {
      const before = object[key];
      const isKnown = known.has(key);
      // Most fields are neither a name that changes nor an identifier, and hold no others.
      if (!isKnown && (typeof before !== 'object' || before === null)) continue;
      if (isKnown && keys.has(key)) isKeyChanged = true;
      const after = renameAny(before, isKnown ? namesAt.get(key) : undefined, depth);
      if (after === before) continue;
      changed ??= new Map();
      changed.set(key, after);
    }
    const renamed = isKeyChanged || changed !== undefined ? rebuilt(object, changed) : object;
    return rule === undefined ? renamed : rule(object, renamed);
  }

  /** The fields keep their places. */
  function rebuilt(object: Record<string, unknown>, changed: ReadonlyMap<string, unknown> | undefined): Record<string, unknown> {
    const copy: Record<string, unknown> = Object.getPrototypeOf(object) === Object.prototype ? {} : Object.create(null);
    for (const key of Object.keys(object)) {
      const name = known.has(key) ? (keys.get(key) ?? key) : key;
      const isTaken = name !== key && Object.hasOwn(object, name);
      const value = changed === undefined ? object[key] : changed.has(key) ? changed.get(key) : object[key];
      // Of two fields with one name the client's word wins; an answer keeps both, since none may be lost.
      if (isTaken && !isInward) setField(copy, key, value);
      else if (name !== key || !isInward || !Object.hasOwn(copy, key)) setField(copy, name, value);
    }
    return copy;
  }

  return {
    value: (value, position) => renameAny(value, position === undefined ? undefined : namesAt.get(position), 0),
    key: (name) => keys.get(name) ?? name,
  };
}

/** By definition where an assignment would set the prototype. */
function setField(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__') Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
  else object[name] = value;
}

function isPlain(value: object): value is Record<string, unknown> {
  const prototype = Object.getPrototypeOf(value);
  // The parsers of queries and paths make objects of a class without a parent.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
