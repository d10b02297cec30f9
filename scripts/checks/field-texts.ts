import type { JsonSchema, OpenApiDocument } from '../../src/rest/openapi-document.ts';

/** Names that stand for another thing in every component: a text that serves several groups for one of them is a default. */
const COMMON_NAMES = new Set(['days', 'items', 'count', 'total', 'status', 'type', 'name']);

/** Names like them, whose repeated texts may be reviewed and listed. */
const FREQUENT_NAMES = new Set(['id', 'message', 'value', 'amount', 'title', 'description', 'created_at']);

/** A text is repeated when more than this many unlike fields have it. */
const MOST_UNLIKE = 3;

export interface RepeatedText {
  text: string;
  /** The name that more than three groups describe so, or null for a text of more than three names. */
  name: string | null;
  /** Of one of the common names: no list excuses it. */
  isDefault: boolean;
}

interface Use {
  name: string;
  group: string;
}

/**
 * Finds texts that more than three unlike fields or parameters of a document have: fields of different names, or fields of one frequent
 * name in components of different groups. The group of a component is the tag of the first operation that uses it.
 */
export function findRepeatedTexts(document: OpenApiDocument): RepeatedText[] {
  const uses = usesByText(document);
  return [...uses].flatMap(([text, fields]) => {
    const names = new Set(fields.map(({ name }) => name));
    const found: RepeatedText[] = [];
    if (names.size > MOST_UNLIKE) found.push({ text, name: null, isDefault: false });
    for (const name of names) {
      if (!COMMON_NAMES.has(name) && !FREQUENT_NAMES.has(name)) continue;
      const same = fields.filter((field) => field.name === name);
      if (new Set(same.map(({ group }) => group)).size <= MOST_UNLIKE) continue;
      found.push({ text, name, isDefault: COMMON_NAMES.has(name) });
    }
    return found;
  });
}

/**
 * Finds fields whose text says when they are null although their schema allows no null: the text belongs to another field.
 * @returns `Component.field`, or `METHOD /path.field` of a body without a component
 */
export function findFalseNulls(document: OpenApiDocument): string[] {
  const found = new Set<string>();
  const check = (part: unknown, owner: string): void =>
    visit(part, (keyword, value) => {
      if (keyword !== 'properties') return;
      for (const [name, field] of Object.entries(value as Record<string, JsonSchema>)) {
        if (OF_ITSELF.test(String(field.description)) && !allowsNull(field)) found.add(`${owner}.${name}`);
      }
    });
  for (const [name, schema] of Object.entries(document.components.schemas)) check(schema, name);
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      check([operation.requestBody, operation.responses], `${method.toUpperCase()} ${path}`);
    }
  }
  return [...found];
}

/** A text says of another field that it `is null`; of values that `null is allowed`. */
const OF_ITSELF = /(?<!\bis )\bnull\b(?! is\b)/i;

/** A schema without a type accepts any value. */
function allowsNull({ type, anyOf, enum: values, $ref }: JsonSchema): boolean {
  if (Array.isArray(anyOf)) return anyOf.some(allowsNull);
  if (type === undefined) return values === undefined && $ref === undefined;
  return type === 'null' || (Array.isArray(type) && type.includes('null'));
}

function usesByText(document: OpenApiDocument): Map<string, Use[]> {
  const uses = new Map<string, Use[]>();
  const add = (name: string, group: string, part: unknown): void => {
    const text = (part as { description?: unknown }).description;
    if (typeof text === 'string') uses.set(text, [...(uses.get(text) ?? []), { name, group }]);
  };
  const addFields = (part: unknown, group: string): void =>
    visit(part, (key, value) => {
      if (key !== 'properties') return;
      for (const [name, field] of Object.entries(value as object)) add(name, group, field);
    });
  const groups = groupsOfComponents(document);
  for (const [name, schema] of Object.entries(document.components.schemas)) addFields(schema, groups.get(name) ?? '');
  for (const operation of Object.values(document.paths).flatMap((methods) => Object.values(methods))) {
    const group = operation.tags[0] ?? '';
    for (const parameter of operation.parameters ?? []) add(String(parameter.name), group, parameter);
    addFields([operation.requestBody, operation.responses], group);
  }
  return uses;
}

/** Component -> tag of the first operation that refers to it, through other components too. */
function groupsOfComponents({ paths, components }: OpenApiDocument): Map<string, string> {
  const groups = new Map<string, string>();
  const assign = (part: unknown, group: string): void =>
    visit(part, (key, value) => {
      const name = key === '$ref' ? String(value).split('/').at(-1)! : '';
      const schema = components.schemas[name];
      if (schema === undefined || groups.has(name)) return;
      groups.set(name, group);
      assign(schema, group);
    });
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    assign([operation.requestBody, operation.responses], operation.tags[0] ?? '');
  }
  return groups;
}

/** Values of these keys are data, not schemas. */
const DATA = new Set(['example', 'examples', 'default', 'const', 'enum', 'required']);

/** Calls for each keyword of a schema; the names of fields below `properties` are no keywords. */
function visit(part: unknown, on: (keyword: string, value: unknown) => void): void {
  if (Array.isArray(part)) for (const each of part) visit(each, on);
  else if (typeof part === 'object' && part !== null) {
    for (const [keyword, value] of Object.entries(part)) {
      if (DATA.has(keyword)) continue;
      on(keyword, value);
      visit(keyword === 'properties' ? Object.values(value as object) : value, on);
    }
  }
}
