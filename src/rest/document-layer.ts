/**
 * What trpc-to-openapi and zod-openapi cannot say, added to the document that they have made: where a parameter is sent, the body without the
 * input around it, answers that may get further fields, credentials, permissions, `Idempotency-Key`, examples.
 */
import { accepts, acceptsAbsence } from '../core/zod-structure.ts';
import { type OperationAuth, tokenScopeOf } from '../routers/operation-meta.ts';
import type { JsonSchema, OpenApiDocument, OpenApiOperation } from './openapi-document.ts';
import { exampleOf } from './openapi-examples.ts';
import type { RestRoute } from './route-table.ts';
import { BODY } from './router-view.ts';
import type { WirePlan } from './wire-plan.ts';

type Components = OpenApiDocument['components']['schemas'];

const COMPONENT = '#/components/schemas/';

/** Keys of values, which are no schemas. */
const VALUES = new Set(['example', 'examples', 'default', 'const', 'enum']);

/** Corrects all schemas in place, and makes one component of the two that zod-openapi makes for requests and answers where they are equal then. */
export function correctSchemas(document: OpenApiDocument): OpenApiDocument {
  const walk = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return;
    for (const [key, value] of Object.entries(part)) if (!VALUES.has(key)) walk(value);
    if (!Array.isArray(part)) correct(part as JsonSchema);
  };
  document.components.schemas ??= {};
  walk(document.paths);
  walk(document.components.schemas);
  return joinEqual(document);
}

/** Formats that need no pattern; zod's expression for them does not help readers or generators. */
const SELF_EXPLAINING_FORMATS = new Set<unknown>(['date-time', 'date', 'time', 'uuid', 'email', 'uri', 'ipv4', 'ipv6']);

function correct(schema: JsonSchema): void {
  // `z.int()` means "a whole number"; the bounds of safe integers are not part of the interface.
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (SELF_EXPLAINING_FORMATS.has(schema.format)) delete schema.pattern;
  if (Array.isArray(schema.anyOf)) correctChoices(schema, schema.anyOf);
  // Answers may get further fields, and requests with further fields are not refused.
  if (schema.additionalProperties === false) delete schema.additionalProperties;
  // Beside a reference zod leaves what its component had before these corrections.
  if (schema.$ref !== undefined) delete schema.required;
  else if (Array.isArray(schema.required)) dropDefaulted(schema, schema);
}

/** What has a default in requests is not required, in answers neither. */
function dropDefaulted(schema: JsonSchema, sent: JsonSchema): void {
  const properties = sent.properties as Record<string, JsonSchema> | undefined;
  const required = (schema.required as string[] | undefined)?.filter((name) => properties?.[name]?.default === undefined);
  if (required?.length) schema.required = required;
  else delete schema.required;
}

function correctChoices(schema: JsonSchema, choices: readonly JsonSchema[]): void {
  // A value of any type includes null.
  if (choices.some((choice) => Object.keys(choice).length === 0)) delete schema.anyOf;
  // zod writes `type: ['integer', 'null']` itself, unless an integer has the bounds of safe integers.
  else if (choices.every((choice) => Object.keys(choice).join() === 'type')) {
    delete schema.anyOf;
    schema.type = choices.map(({ type }) => type);
  }
}

/** zod-openapi has compared before the corrections: what differs still stays two components, `Name` and `NameOutput`. */
function joinEqual(document: OpenApiDocument): OpenApiDocument {
  const { schemas } = document.components;
  const equal = new Set(Object.keys(schemas).filter((name) => schemas[`${name}Output`] !== undefined));
  const joined = (part: unknown): string =>
    JSON.stringify(part).replace(/"#\/components\/schemas\/(\w+)Output"/g, (text, name: string) =>
      equal.has(name) ? `"${COMPONENT}${name}"` : text,
    );
  for (const name of equal) dropDefaulted(schemas[`${name}Output`]!, schemas[name]!);
  for (let before = -1; before !== equal.size; ) {
    before = equal.size;
    for (const name of equal) if (joined(schemas[name]) !== joined(schemas[`${name}Output`])) equal.delete(name);
  }
  for (const name of equal) delete schemas[`${name}Output`];
  return JSON.parse(joined(document)) as OpenApiDocument;
}

/** Completes the operations of the document by the metadata and the plans of their routes. */
export function completeOperations(document: OpenApiDocument, routes: readonly RestRoute[]): void {
  for (const route of routes) {
    const operation = document.paths[route.path]![route.method.toLowerCase()]!;
    const { area, auth, permissions, credential } = route.meta;
    const parameters = parametersOf(route, operation.parameters ?? []);
    const body = shownBody(route, operation);
    Object.assign(operation, {
      parameters: parameters.length > 0 ? parameters : undefined,
      requestBody: body && bodyOf(route, body, parameters, document.components.schemas),
      security: SECURITY[auth ?? 'NONE'],
      responses: responsesOf(route, operation.responses),
      'x-area': area,
      'x-auth': auth,
      'x-permissions': permissions?.length ? permissions : undefined,
      'x-token-scope': auth === 'KEY' ? tokenScopeOf(route.meta, route.type) : undefined,
      'x-credential': credential,
    });
  }
}

const SECURITY: Record<OperationAuth, Record<string, string[]>[]> = {
  NONE: [],
  KEY: [{ ApiKeyHeader: [] }, { ApiKeyBearer: [] }],
  JWT: [{ CabinetJwt: [] }],
  JWT_ADMIN: [{ CabinetJwt: [] }],
};

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Makes a repeated request safe: the same key with the same body replays the first answer for 24 hours, with another body it is refused (422).',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

function parametersOf({ plan, meta }: RestRoute, shown: readonly JsonSchema[]): JsonSchema[] {
  const parameters = plan.fields
    .filter(({ source }) => source !== 'body')
    .map(({ name, source }) => {
      const found = shown.find((one) => one.name === name && (one.in === source || (one.in === 'header' && source === 'query')))!;
      const { description, ...schema } = found.schema as JsonSchema;
      const required = source === 'path' || found.required === true;
      return { name, in: source, required, ...(description === undefined ? {} : { description }), schema };
    });
  const isNamed = parameters.some((parameter) => parameter.in === 'header' && parameter.name === 'idempotency-key');
  return meta.idempotent && !isNamed ? [...parameters, IDEMPOTENCY_KEY] : parameters;
}

/** The schema of the body, of which the view makes a field of the input; of a DELETE that is a parameter. */
function shownBody({ plan }: RestRoute, { parameters, requestBody }: OpenApiOperation): JsonSchema | undefined {
  if (plan.body === 'none') return undefined;
  const [content] = Object.values(requestBody?.content ?? {});
  const parts = content?.schema.properties as Record<string, JsonSchema> | undefined;
  return parts?.[BODY] ?? (parameters?.find(({ name }) => name === BODY)?.schema as JsonSchema | undefined);
}

function bodyOf(
  { plan }: RestRoute,
  schema: JsonSchema,
  parameters: readonly JsonSchema[],
  components: Components,
): OpenApiOperation['requestBody'] {
  if (plan.multipart) {
    const file = plan.fields.find(({ key }) => key === plan.multipart?.fileKey);
    return { required: file !== undefined && !acceptsAbsence(file.schema), content: { 'multipart/form-data': { schema } } };
  }
  const example = exampleOf(schema, components);
  const isValid = isAccepted(plan, example, parameters, components);
  return { required: plan.bodyRequired, content: { 'application/json': isValid ? { schema, example } : { schema } } };
}

/** Examples must be valid, so the schemas check them (a pattern or a cross-field rule may refuse a generated value). */
function isAccepted(plan: WirePlan, body: unknown, parameters: readonly JsonSchema[], components: Components): boolean {
  const input: Record<string, unknown> = plan.body === 'fields' ? { ...(body as object) } : {};
  for (const { key, name, source } of plan.fields) {
    const parameter = parameters.find((one) => one.name === name && one.in === source);
    if (parameter) input[key] = exampleOf(parameter.schema as JsonSchema, components);
    else if (plan.body === 'whole') input[key] = body;
  }
  return plan.inputs.every((schema) => accepts(schema, input));
}

function responsesOf({ plan, meta }: RestRoute, { 200: success }: OpenApiOperation['responses']): OpenApiOperation['responses'] {
  const { reply = 'json', mediaType = 'application/octet-stream' } = meta.wire ?? {};
  const issues = { 'application/json': { schema: { $ref: `${COMPONENT}HTTPValidationError` } } };
  const refused: OpenApiOperation['responses'] =
    plan.fields.length > 0 ? { 422: { description: 'Validation failed', content: issues } } : {};
  if (reply === 'redirect') {
    const headers = { Location: { schema: { type: 'string', format: 'uri' } } };
    return { 302: { description: 'Redirect', headers }, ...refused };
  }
  if (reply === 'json') return { 200: success!, ...refused };
  const schema = mediaType.startsWith('text/') ? { type: 'string' } : { type: 'string', format: 'binary' };
  return { 200: { description: 'File', content: { [mediaType]: { schema } } }, ...refused };
}
