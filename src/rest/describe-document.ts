/**
 * Gives the document the texts of tags and operations, and finds what has none. Fields and parameters have theirs from their zod schema
 * (`.describe()`, `.meta({ description })`): a text is never guessed from a name, which may stand for another thing in another place.
 */
import type { OpenApiDocument, OpenApiOperation } from './openapi-document.ts';
import type { JsonSchema } from './openapi-schemas.ts';

export interface DocumentTexts {
  tags: Readonly<Record<string, string>>;
  /** `METHOD /path` -> text. */
  operations: Readonly<Record<string, string>>;
}

export interface DescriptionGaps {
  /** What has no description, as `tag X`, `operation x`, `parameter x.y`, `property X.y`. */
  undescribed: string[];
  /** Entries that no part of the document uses. */
  unused: string[];
}

const SCHEMA_MAPS = new Set(['properties', '$defs', 'patternProperties']);
const VALUES = new Set(['example', 'examples', 'default', 'const', 'enum', 'required']);

/** Writes the texts into the document. `check:contract` fails for what has none and names the file to edit. */
export function describeDocument(document: OpenApiDocument, texts: DocumentTexts): DescriptionGaps {
  const undescribed = new Set<string>();
  const used = {
    tags: new Set<string>(),
    operations: new Set<string>(),
  };

  function textOf(kind: keyof DocumentTexts, key: string): string | undefined {
    if (!Object.hasOwn(texts[kind], key)) return undefined;
    used[kind].add(key);
    return texts[kind][key];
  }

  function checkSchema(schema: unknown, owner: string, outer: readonly string[]): void {
    if (Array.isArray(schema)) for (const part of schema) checkSchema(part, owner, outer);
    if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return;
    for (const [key, value] of Object.entries(schema)) {
      if (SCHEMA_MAPS.has(key)) {
        for (const [name, property] of Object.entries(value as Record<string, JsonSchema>)) {
          if (property.description === undefined) undescribed.add(`property ${[owner, ...outer, name].join('.')}`);
          checkSchema(property, owner, [...outer, name]);
        }
      } else if (!VALUES.has(key)) checkSchema(value, owner, outer);
    }
  }

  function describeOperation(id: string, operation: OpenApiOperation): void {
    operation.description ??= textOf('operations', id);
    if (operation.description === undefined) undescribed.add(`operation ${id}`);
    for (const { name, description } of operation.parameters ?? []) {
      if (description === undefined) undescribed.add(`parameter ${id}.${String(name)}`);
    }
    checkSchema(operation.requestBody?.content, id, []);
    checkSchema(operation.responses, id, []);
  }

  for (const tag of document.tags) {
    const text = textOf('tags', tag.name);
    if (text === undefined) undescribed.add(`tag ${tag.name}`);
    else tag.description = text;
  }
  for (const [name, schema] of Object.entries(document.components.schemas)) checkSchema(schema, name, []);
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
