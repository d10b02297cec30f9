/**
 * Assigns the tags of the document their texts, and finds what has none. Operations have theirs from their procedure, fields and parameters
 * from their zod schema (`.describe()`, `.meta({ description })`): a text is never guessed from a name, which may stand for another thing
 * in another place.
 */
import type { JsonSchema, OpenApiDocument, OpenApiOperation } from './openapi-document.ts';

export interface DescriptionGaps {
  /** What has no description, as `tag X`, `operation x`, `parameter x.y`, `property X.y`. */
  undescribed: string[];
  /** Tags with a text that no operation has. */
  unused: string[];
}

const SCHEMA_MAPS = new Set(['properties', '$defs', 'patternProperties']);
const VALUES = new Set(['example', 'examples', 'default', 'const', 'enum', 'required']);

/** Writes the texts into the document. `check:contract` fails for what has none and names the file to edit. */
export function describeDocument(document: OpenApiDocument, tags: Readonly<Record<string, string>>): DescriptionGaps {
  const undescribed = new Set<string>();

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
    if (operation.description === undefined) undescribed.add(`operation ${id}`);
    for (const { name, description } of operation.parameters ?? []) {
      if (description === undefined) undescribed.add(`parameter ${id}.${String(name)}`);
    }
    checkSchema(operation.requestBody?.content, id, []);
    checkSchema(operation.responses, id, []);
  }

  for (const tag of document.tags) {
    const text = tags[tag.name];
    if (text === undefined) undescribed.add(`tag ${tag.name}`);
    else tag.description = text;
  }
  for (const [name, schema] of Object.entries(document.components.schemas)) checkSchema(schema, name, []);
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) describeOperation(`${method.toUpperCase()} ${path}`, operation);
  }
  const unused = Object.keys(tags).filter((name) => !document.tags.some((tag) => tag.name === name));
  return { undescribed: [...undescribed], unused };
}
