/** The OpenAPI 3.1 document of the REST facade, made from the same routes that serve it. */
import { z } from 'zod';
import { VALIDATION_TYPES } from '../core/validation-messages.ts';
import { acceptsAbsence, type Schema } from '../core/zod-structure.ts';
import type { OperationAuth, OperationMeta } from '../routers/operation-meta.ts';
import { bodyJoinedInto } from '../routers/wire.ts';
import { exampleOf } from './openapi-examples.ts';
import { type JsonSchema, type SchemaCollector, schemaCollector } from './openapi-schemas.ts';
import type { RestRoute } from './route-table.ts';
import type { WireField } from './wire-plan.ts';

export interface OpenApiInfo {
  title: string;
  version: string;
  description?: string;
  license?: { name: string; identifier?: string };
  /** Base addresses; `/` when the document is served by the service. */
  servers?: readonly { url: string; description?: string }[];
}

export interface OpenApiDocument {
  openapi: '3.1.0';
  info: Omit<OpenApiInfo, 'servers'>;
  servers: readonly { url: string; description?: string }[];
  tags: { name: string; description?: string }[];
  paths: Record<string, Record<string, OpenApiOperation>>;
  components: {
    schemas: Record<string, JsonSchema>;
    securitySchemes: Record<string, JsonSchema>;
    responses?: Record<string, JsonSchema>;
  };
}

export interface OpenApiOperation {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  security: Record<string, string[]>[];
  parameters?: JsonSchema[];
  requestBody?: { required: boolean; content: Record<string, { schema: JsonSchema; example?: unknown }> };
  responses: Record<string, JsonSchema>;
  'x-area'?: string;
  'x-auth'?: OperationAuth;
  'x-permissions'?: readonly string[];
  'x-credential'?: OperationMeta['credential'];
}

const SECURITY: Record<OperationAuth, Record<string, string[]>[]> = {
  NONE: [],
  KEY: [{ ApiKeyHeader: [] }, { ApiKeyBearer: [] }],
  JWT: [{ CabinetJwt: [] }],
  JWT_ADMIN: [{ CabinetJwt: [] }],
};

/** Builds the whole document; takes some hundred milliseconds for hundreds of routes, so store the result. */
export function buildOpenApiDocument(routes: readonly RestRoute[], info: OpenApiInfo): OpenApiDocument {
  const { servers = [{ url: '/' }], ...about } = info;
  const collector = schemaCollector();
  const document: OpenApiDocument = {
    openapi: '3.1.0',
    info: about,
    servers,
    tags: [...new Set(routes.map((route) => route.meta.openapi.tags[0]))].map((name) => ({ name })),
    paths: {},
    components: { schemas: errorSchemas(), securitySchemes: securitySchemes() },
  };
  for (const route of routes) {
    document.paths[route.path] ??= {};
    document.paths[route.path]![route.method.toLowerCase()] = operationOf(route, collector);
  }
  return collector.finish(document);
}

function operationOf(route: RestRoute, collector: SchemaCollector): OpenApiOperation {
  const { openapi, description, area, auth, permissions, credential } = route.meta;
  const request = requestSchemas(route, collector);
  const operation: OpenApiOperation = {
    operationId: route.procedurePath.replaceAll('.', '_'),
    tags: [...openapi.tags],
    summary: openapi.summary,
    security: SECURITY[auth ?? 'NONE'],
    responses: responsesOf(route, collector),
  };
  if (description !== undefined) operation.description = description;
  const parameters = parametersOf(route, request);
  if (parameters.length > 0) operation.parameters = parameters;
  const body = bodyOf(route, request, collector);
  if (body) operation.requestBody = body;
  if (area) operation['x-area'] = area;
  if (auth) operation['x-auth'] = auth;
  if (permissions?.length) operation['x-permissions'] = permissions;
  if (credential) operation['x-credential'] = credential;
  return operation;
}

interface RequestSchemas {
  /** Input key -> schema as sent. */
  properties: Record<string, JsonSchema>;
  required: ReadonlySet<string>;
}

function requestSchemas(route: RestRoute, collector: SchemaCollector): RequestSchemas {
  const { fields } = route.plan;
  if (fields.length === 0) return { properties: {}, required: new Set() };
  const all = z.object(Object.fromEntries(fields.map((field) => [field.key, field.schema as z.ZodType])));
  const schema = collector.request(all, route.procedurePath);
  return {
    properties: schema.properties as Record<string, JsonSchema>,
    required: new Set((schema.required as string[] | undefined) ?? []),
  };
}

function parametersOf(route: RestRoute, request: RequestSchemas): JsonSchema[] {
  const parameters = route.plan.fields
    .filter((field) => field.source !== 'body')
    .map((field) => {
      const { description, ...schema } = request.properties[field.key] ?? {};
      const required = field.source === 'path' || request.required.has(field.key);
      return { name: field.name, in: field.source, required, ...(description === undefined ? {} : { description }), schema };
    });
  const named = parameters.some((parameter) => parameter.in === 'header' && parameter.name === 'idempotency-key');
  if (!route.meta.idempotent || named) return parameters;
  return [...parameters, IDEMPOTENCY_KEY];
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Makes a repeated request safe: the same key with the same body replays the first answer for 24 hours, with another body it is refused (422).',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

function bodyOf(route: RestRoute, request: RequestSchemas, collector: SchemaCollector): OpenApiOperation['requestBody'] {
  const { plan } = route;
  const fields = plan.fields.filter((field) => field.source === 'body');
  const first = fields[0];
  if (plan.body === 'none' || first === undefined) return undefined;
  if (plan.body === 'multipart') {
    const fileKey = plan.multipart?.fileKey ?? '';
    const schema = objectOf(fields, request);
    const properties = schema.properties as Record<string, JsonSchema>;
    const description = properties[fileKey]?.description;
    properties[fileKey] = { type: 'string', format: 'binary', ...(description === undefined ? {} : { description }) };
    const required = fields.some((field) => field.key === fileKey && !acceptsAbsence(field.schema));
    return { required, content: { 'multipart/form-data': { schema } } };
  }
  const schema = plan.body === 'whole' ? (request.properties[first.key] ?? {}) : bodyObject(route, fields, request, collector);
  const media: { schema: JsonSchema; example?: unknown } = { schema };
  const example = exampleOf(schema, collector.resolve);
  if (isAccepted(route, fields, example, request, collector)) media.example = example;
  return { required: plan.bodyRequired, content: { 'application/json': media } };
}

/** The schema of the body by its name: the input when the body is all of it, or the body that the input was joined from. */
function bodyObject(
  route: RestRoute,
  fields: readonly WireField[],
  request: RequestSchemas,
  collector: SchemaCollector,
): JsonSchema {
  const [input, ...others] = route.plan.inputs;
  if (input !== undefined && others.length === 0) {
    const body = fields.length === route.plan.fields.length ? input : bodyJoinedInto(input);
    if (body !== undefined) return collector.request(body, route.procedurePath);
  }
  return objectOf(fields, request);
}

function objectOf(fields: readonly WireField[], request: RequestSchemas): JsonSchema {
  const required = fields.filter((field) => request.required.has(field.key)).map((field) => field.name);
  const properties = Object.fromEntries(fields.map((field) => [field.name, request.properties[field.key] ?? {}]));
  return required.length > 0 ? { type: 'object', properties, required } : { type: 'object', properties };
}

/** Examples must be valid, so the schemas check them (a pattern or a cross-field rule may refuse a generated value). */
function isAccepted(
  route: RestRoute,
  bodyFields: readonly WireField[],
  example: unknown,
  request: RequestSchemas,
  collector: SchemaCollector,
): boolean {
  const input: Record<string, unknown> = {};
  for (const field of route.plan.fields) {
    if (field.source !== 'body') input[field.key] = exampleOf(request.properties[field.key] ?? {}, collector.resolve);
    else if (route.plan.body === 'whole') input[field.key] = example;
  }
  if (route.plan.body === 'fields' && bodyFields.length > 0) Object.assign(input, example);
  return route.plan.inputs.every((schema: Schema) => {
    try {
      return z.safeParse(schema, input).success;
    } catch {
      return false;
    }
  });
}

function responsesOf(route: RestRoute, collector: SchemaCollector): Record<string, JsonSchema> {
  const { auth = 'NONE', wire } = route.meta;
  const responses: Record<string, JsonSchema> = {};
  if (wire?.reply === 'redirect') {
    responses['302'] = { description: 'Redirect', headers: { Location: { schema: { type: 'string', format: 'uri' } } } };
  } else if (wire?.reply === 'file') {
    const { mediaType = 'application/octet-stream' } = wire;
    const schema = mediaType.startsWith('text/') ? { type: 'string' } : { type: 'string', format: 'binary' };
    responses['200'] = { description: 'File', content: { [mediaType]: { schema } } };
  } else {
    const schema = route.output ? collector.response(route.output, route.procedurePath) : {};
    responses['200'] = { description: 'Success', content: { 'application/json': { schema } } };
  }
  if (auth !== 'NONE') responses['401'] = failure('Missing or bad credential');
  if (auth !== 'NONE') responses['403'] = failure('Not allowed');
  if (route.plan.fields.some((field) => field.source === 'path')) responses['404'] = failure('Not found');
  if (route.plan.fields.length > 0) responses['422'] = failure('Validation failed', 'HTTPValidationError');
  return responses;
}

function failure(description: string, component = 'HTTPError'): JsonSchema {
  return { description, content: { 'application/json': { schema: { $ref: `#/components/schemas/${component}` } } } };
}

function errorSchemas(): Record<string, JsonSchema> {
  const machineReadable = {
    type: 'object',
    properties: {
      code: { type: 'string', description: 'Machine code of the refusal; stable, for programs.' },
      message: { type: 'string', description: 'Sentence for people, in the language of the request where one is known.' },
      error_code: { type: 'string', description: 'The same as `code`.' },
    },
    required: ['code', 'message'],
    additionalProperties: true,
  };
  const detail = {
    anyOf: [{ type: 'string' }, machineReadable],
    description: 'A sentence, or an object with a machine code.',
  };
  const issues = {
    type: 'array',
    items: { $ref: '#/components/schemas/HTTPValidationIssue' },
    description: 'One entry for each value that was refused.',
  };
  return {
    HTTPError: { type: 'object', properties: { detail }, required: ['detail'] },
    HTTPValidationError: { type: 'object', properties: { detail: issues }, required: ['detail'] },
    HTTPValidationIssue: {
      type: 'object',
      properties: {
        loc: {
          type: 'array',
          items: { type: 'string' },
          description:
            'Place of the value: `body`, `query`, `path`, `header` or `cookie`, then the path to the field; array indexes as text.',
        },
        msg: { type: 'string', description: 'Sentence for people that describes the problem.' },
        type: { type: 'string', enum: VALIDATION_TYPES, description: 'Machine code of the violated rule.' },
        input: { description: 'The value that was refused; null where it cannot be shown.' },
        ctx: {
          type: 'object',
          description: 'Bounds of the violated rule, for example `{"min_length": 3}`; absent where the rule has none.',
        },
      },
      required: ['loc', 'msg', 'type'],
    },
  };
}

function securitySchemes(): Record<string, JsonSchema> {
  return {
    ApiKeyHeader: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
    ApiKeyBearer: { type: 'http', scheme: 'bearer', description: 'The API token as a bearer token' },
    CabinetJwt: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'Access token of the cabinet' },
  };
}
