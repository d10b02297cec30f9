/**
 * Gives the document its texts: tags, operations, parameters, properties. A text of the schema itself
 * (`.describe()`, `.meta({ description })`) has priority; then the most specific entry of the dictionary.
 */
import type { OpenApiDocument, OpenApiOperation } from './openapi-document.ts';
import type { JsonSchema } from './openapi-schemas.ts';

export interface DocumentTexts {
  tags: Readonly<Record<string, string>>;
  /** `METHOD /path` -> text. */
  operations: Readonly<Record<string, string>>;
  /** `METHOD /path.name`, `Tag.name` or `name`; a parameter without an entry takes the text of the property of that name. */
  parameters: Readonly<Record<string, string>>;
  /** `Component.outer.name`, `Component.name`, `outer.name` or `name`; in bodies without a component `METHOD /path` replaces it. */
  properties: Readonly<Record<string, string>>;
}

export interface DescriptionGaps {
  /** What has no description, as `tag X`, `operation x`, `parameter x.y`, `property X.y`. */
  undescribed: string[];
  /** Entries that no part of the document uses. */
  unused: string[];
}

const SCHEMA_MAPS = new Set(['properties', '$defs', 'patternProperties']);
const VALUES = new Set(['example', 'examples', 'default', 'const', 'enum', 'required']);

/** Writes the texts into the document. `check:contract` fails for what has none. */
export function describeDocument(document: OpenApiDocument, texts: DocumentTexts): DescriptionGaps {
  const undescribed = new Set<string>();
  const used = {
    tags: new Set<string>(),
    operations: new Set<string>(),
    parameters: new Set<string>(),
    properties: new Set<string>(),
  };

  function textOf(kind: keyof DocumentTexts, keys: readonly string[]): string | undefined {
    const key = keys.find((candidate) => Object.hasOwn(texts[kind], candidate));
    if (key === undefined) return undefined;
    used[kind].add(key);
    return texts[kind][key];
  }

  function describeProperty(name: string, schema: JsonSchema, owner: string, outer: readonly string[]): void {
    if (typeof schema.description === 'string') return;
    // A component that differs between requests and answers is two components; the second is named after the first.
    const owners = owner.endsWith('Output') ? [owner, owner.slice(0, -'Output'.length)] : [owner];
    const parent = outer.at(-1);
    const text = textOf('properties', [
      ...owners.flatMap((component) => [[component, ...outer, name].join('.'), `${component}.${name}`]),
      ...(parent === undefined ? [] : [`${parent}.${name}`]),
      name,
    ]);
    if (text === undefined) undescribed.add(`property ${[owner, ...outer, name].join('.')}`);
    else schema.description = text;
  }

  function describeSchema(schema: unknown, owner: string, outer: readonly string[]): void {
    if (Array.isArray(schema)) for (const part of schema) describeSchema(part, owner, outer);
    if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return;
    for (const [key, value] of Object.entries(schema)) {
      if (SCHEMA_MAPS.has(key)) {
        for (const [name, property] of Object.entries(value as Record<string, JsonSchema>)) {
          describeProperty(name, property, owner, outer);
          describeSchema(property, owner, [...outer, name]);
        }
      } else if (!VALUES.has(key)) describeSchema(value, owner, outer);
    }
  }

  function describeOperation(id: string, operation: OpenApiOperation): void {
    const tag = operation.tags[0]!;
    operation.description ??= textOf('operations', [id]);
    if (operation.description === undefined) undescribed.add(`operation ${id}`);
    for (const parameter of operation.parameters ?? []) {
      const name = String(parameter.name);
      const schema = parameter.schema as JsonSchema;
      parameter.description ??=
        schema.description ?? textOf('parameters', [`${id}.${name}`, `${tag}.${name}`, name]) ?? textOf('properties', [name]);
      if (parameter.description === undefined) undescribed.add(`parameter ${id}.${name}`);
    }
    describeSchema(operation.requestBody?.content, id, []);
    describeSchema(operation.responses, id, []);
  }

  for (const tag of document.tags) {
    const text = textOf('tags', [tag.name]);
    if (text === undefined) undescribed.add(`tag ${tag.name}`);
    else tag.description = text;
  }
  for (const [name, schema] of Object.entries(document.components.schemas)) describeSchema(schema, name, []);
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) describeOperation(`${method.toUpperCase()} ${path}`, operation);
  }
  const unused = (Object.keys(used) as (keyof DocumentTexts)[]).flatMap((kind) =>
    Object.keys(texts[kind])
      .filter((key) => !used[kind].has(key))
      .map((key) => `${kind}: ${key}`),
  );
  return { undescribed: [...undescribed], unused };
}
