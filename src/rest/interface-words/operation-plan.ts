/** Which parts of an operation can have a name that changes, read from the document at start. The others are passed as they are. */
import type { IdentifierPosition } from './identifier-positions.ts';
import type { Json, JsonObject } from './vocabulary.ts';

/** An operation of the document. */
export interface DocumentedOperation {
  path: string;
  operation: JsonObject;
  schemas: JsonObject;
}

export interface OperationPlan {
  isPathRenamed: boolean;
  isQueryRenamed: boolean;
  isBodyRenamed: boolean;
  isAnswerRenamed: boolean;
}

/** @param keys names that change */
export function planOperation(
  { operation, schemas }: DocumentedOperation,
  positions: readonly IdentifierPosition[],
  keys: ReadonlyMap<string, string>,
): OperationPlan {
  const hasNames = (node: Json | undefined): boolean => isRenamed(node, { keys, positions, schemas });
  const parameters = (operation.parameters ?? []) as { in: string; name: string; schema: Json }[];
  const hasParameter = (place: string): boolean => {
    const fields = parameters.filter((each) => each.in === place).map((each) => [each.name, each.schema] as const);
    return hasNames({ properties: Object.fromEntries(fields) });
  };
  return {
    isPathRenamed: hasParameter('path'),
    isQueryRenamed: hasParameter('query'),
    isBodyRenamed: hasNames(operation.requestBody),
    isAnswerRenamed: hasNames((operation.responses as JsonObject)['200']),
  };
}

interface Search {
  keys: ReadonlyMap<string, string>;
  positions: readonly IdentifierPosition[];
  schemas: JsonObject;
}

/** Whether a value of this part of the document may have a name that changes: a field, an identifier, or any fields at all. */
function isRenamed(part: Json | undefined, { keys, positions, schemas }: Search): boolean {
  const identifiers = new Set(positions.flatMap(({ names }) => names));
  const seen = new Set<string>();

  function visit(node: Json | undefined): boolean {
    if (Array.isArray(node)) return node.some(visit);
    if (node === null || node === undefined || typeof node !== 'object') return false;
    if (typeof node.$ref === 'string') {
      const name = node.$ref.slice(node.$ref.lastIndexOf('/') + 1);
      if (seen.has(name)) return false;
      seen.add(name);
      return visit(schemas[name]);
    }
    const { properties, additionalProperties, content } = node;
    if (content)
      return Object.entries(content as JsonObject).some(
        ([type, each]) => /json|form/.test(type) && visit((each as JsonObject).schema),
      );
    if (isFree(node)) return true;
    if (properties) {
      const fields = Object.entries(properties as JsonObject);
      if (fields.some(([name, schema]) => keys.has(name) || (identifiers.has(name) && mayBeText(schema)) || visit(schema)))
        return true;
    }
    if (typeof additionalProperties === 'object' && additionalProperties !== null) return true;
    return ['items', 'prefixItems', 'anyOf', 'oneOf', 'allOf'].some((word) => visit(node[word]));
  }

  /** A text or a list of texts that is not one of fixed values without any word of ours. */
  function mayBeText(node: Json | undefined): boolean {
    if (node === null || node === undefined || typeof node !== 'object' || Array.isArray(node)) return false;
    if (typeof node.$ref === 'string') return mayBeText(schemas[node.$ref.slice(node.$ref.lastIndexOf('/') + 1)]);
    if (Array.isArray(node.enum)) return node.enum.some((value) => typeof value === 'string' && keys.has(value));
    if (typeof node.const === 'string') return keys.has(node.const);
    const parts = [...(['anyOf', 'oneOf', 'allOf'] as const).flatMap((word) => (node[word] ?? []) as Json[]), node.items];
    const types = Array.isArray(node.type) ? node.type : [node.type];
    return types.includes('string') || isFree(node) || parts.some(mayBeText);
  }

  return visit(part);
}

/** Words of a schema that say what a value is. */
const SAYS_WHAT = [
  'type',
  'properties',
  'items',
  'anyOf',
  'oneOf',
  'allOf',
  '$ref',
  'enum',
  'const',
  'additionalProperties',
  'content',
];

/** A schema of any value, or of an object with any fields. */
function isFree(schema: JsonObject): boolean {
  if (!SAYS_WHAT.some((word) => schema[word] !== undefined)) return true;
  const { type, properties, additionalProperties } = schema;
  const isObjectType = type === 'object' || (Array.isArray(type) && type.includes('object'));
  return additionalProperties === true || (isObjectType && properties === undefined);
}
