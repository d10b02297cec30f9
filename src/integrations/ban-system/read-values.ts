/**
 * Fields of the ban system's JSON, whatever it has in them: a value of another type is its default. Numbers given as text are numbers, ids
 * given as numbers are text, moments without a zone are UTC (spec 06 section 13).
 */

export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value as an object; one without fields for everything else. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

/** A free-form part as it is; null for everything but an object. */
export function freeForm(value: unknown): Record<string, unknown> | null {
  return isFields(value) ? value : null;
}

/** The objects of an array, or of the array under `name` of an object. What is no object is left out. */
export function rowsOf(value: unknown, name: string): Fields[] {
  const list = isFields(value) ? value[name] : value;
  return Array.isArray(list) ? list.filter(isFields) : [];
}

/** The first of the fields that the object has with a value. */
export function firstOf(fields: Fields, ...names: readonly string[]): unknown {
  return names.map((name) => fields[name]).find((value) => value !== undefined && value !== null);
}

export function textOr<D extends string | null>(value: unknown, otherwise: D): string | D {
  if (typeof value === 'string') return value;
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : otherwise;
}

export function numberOr<D extends number | null>(value: unknown, otherwise: D): number | D {
  const number = typeof value === 'string' && /^\s*-?\d+(?:\.\d+)?\s*$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Math.abs(number) <= Number.MAX_SAFE_INTEGER ? number : otherwise;
}

/** A fraction is cut off. */
export function integerOr<D extends number | null>(value: unknown, otherwise: D): number | D {
  const number = numberOr(value, otherwise);
  // Without a negative zero.
  return number === null ? otherwise : Math.trunc(number) + 0;
}

export function count(value: unknown): number {
  return integerOr(value, 0);
}

export function flag(value: unknown, otherwise = false): boolean {
  if (typeof value === 'boolean') return value;
  if (value === 1 || value === 0) return value === 1;
  if (typeof value !== 'string') return otherwise;
  const word = value.trim().toLowerCase();
  return word === 'true' || (word === 'false' ? false : otherwise);
}

const MOMENT = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?\s?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i;

/** A moment in ISO 8601; null for everything else. */
export function momentOrNull(value: unknown): Date | null {
  const match = typeof value === 'string' ? MOMENT.exec(value.trim()) : null;
  if (!match) return null;
  const [day, time] = [match[0].slice(0, 10), match[0].slice(11)];
  const clock =
    time === ''
      ? '00:00'
      : time
          .replace(match[1] ?? /$^/, '')
          .trim()
          .replace(',', '.');
  const moment = new Date(`${day}T${clock}${zoneOf(match[1])}`);
  return Number.isNaN(moment.getTime()) ? null : moment;
}

/** As the date parser takes it: `+03` and `+0300` are `+03:00`. */
function zoneOf(zone: string | undefined): string {
  if (zone === undefined || zone.toUpperCase() === 'Z') return 'Z';
  return `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '') || '00'}`;
}
