/** Values that a type allows and a column, a cast or an index may not: derived from the served document, one field at a time. */
import { type DocumentedOperation, type JsonSchema, resolve } from './operation-cases.ts';

export interface HostileRequest {
  what: string;
  path: string;
  query?: Record<string, string>;
  body?: unknown;
}

const NUL = '\u0000';
const WHOLE_NUMBERS = [0, 2 ** 31 - 1, 2 ** 31, -(2 ** 31) - 1, Number.MAX_SAFE_INTEGER];
const NUMBERS = [...WHOLE_NUMBERS, 1e308, -1e308, 1e-320];
const TIMESTAMPS = [
  '0001-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999999Z',
  '0001-01-01T00:00:00+14:00',
  '9999-12-31T23:59:59-14:00',
];

function texts({ minLength = 0, maxLength = 300 }: JsonSchema): string[] {
  // A bound counts characters; in UTF-16 an emoji is two units and in UTF-8 four bytes. Some letters grow in another case.
  const full = Math.max(minLength, Math.min(maxLength, 5_000));
  const shapes = [' ', `a${NUL}b`, '\ud800', '%_\\', '[]', "'; --"];
  return [...shapes, '😀'.repeat(full), 'ß'.repeat(full), 'x'.repeat(5_000)];
}

/** Hostile values of the field's own type, and null. */
function valuesFor(raw: JsonSchema, example: unknown): unknown[] {
  const schema = resolve(raw);
  if (schema.enum) return [null];
  if (schema.anyOf) return [null, ...schema.anyOf.flatMap((option) => valuesFor(option, example))];
  switch (schema.type) {
    case 'integer':
      return [null, ...WHOLE_NUMBERS];
    case 'number':
      return [null, ...NUMBERS];
    case 'string':
      return [null, ...(schema.format === 'date-time' ? TIMESTAMPS : texts(schema))];
    case 'array': {
      const [first] = Array.isArray(example) ? example : [];
      const items = schema.items ? valuesFor(schema.items, first) : [];
      return [null, [], [first, first], ...items.map((item) => [item])];
    }
    case 'object':
      return [null, {}, { '': 1, constructor: 1, [`a${NUL}`]: 1, __proto__x: null }, ...fieldsOf(schema, example)];
    default:
      return [null, 0, 'x', [], {}, { a: { b: [null, `${NUL}`] } }];
  }
}

/** The object with one hostile field at a time. */
function fieldsOf(schema: JsonSchema, example: unknown): Record<string, unknown>[] {
  const whole = (typeof example === 'object' && example !== null ? example : {}) as Record<string, unknown>;
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
    valuesFor(field, whole[name]).map((value) => ({ ...whole, [name]: value })),
  );
}

const shown = (value: unknown): string => {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 60)}… (${text.length})` : text;
};

/**
 * @param path of the operation with ids that exist
 * @param body that is accepted; undefined = none
 */
export function hostileRequests(operation: DocumentedOperation, path: string, body: unknown): HostileRequest[] {
  const requests: HostileRequest[] = [];
  const segments = operation.path.split('/');
  for (const parameter of operation.parameters) {
    const values = valuesFor(parameter.schema, undefined).filter((value) => value !== null);
    const at = segments.indexOf(`{${parameter.name}}`);
    for (const value of values) {
      const text = String(value);
      const what = `${parameter.in} ${parameter.name} = ${shown(value)}`;
      if (parameter.in === 'query') requests.push({ what, path, query: { [parameter.name]: text }, body });
      if (parameter.in === 'path' && text.trim() !== '' && text.isWellFormed()) {
        const changed = path.split('/');
        changed[at] = encodeURIComponent(text);
        requests.push({ what, path: changed.join('/'), body });
      }
    }
  }
  if (operation.body !== null) {
    const schema = resolve(operation.body);
    for (const hostile of fieldsOf(schema, body)) {
      const field = Object.keys(hostile).find((name) => hostile[name] !== (body as Record<string, unknown> | undefined)?.[name]);
      requests.push({ what: `body ${field} = ${shown(hostile[field ?? ''])}`, path, body: hostile });
    }
    for (const other of [null, [], {}]) requests.push({ what: `body = ${shown(other)}`, path, body: other });
  }
  return requests;
}
