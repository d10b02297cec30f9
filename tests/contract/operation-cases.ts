/** Bad requests derived from the served document: for every bound its two sides, for every type a wrong one. */

export interface JsonSchema {
  $ref?: string;
  type?: string | string[];
  anyOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  enum?: unknown[];
  const?: unknown;
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  default?: unknown;
}

interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  schema: JsonSchema;
}

export interface DocumentedOperation {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  tag: string;
  auth: string;
  parameters: Parameter[];
  body: JsonSchema | null;
  example: unknown;
  /** Path parameters that are whole numbers and name a stored thing. */
  idParameters: string[];
}

interface OpenApi {
  paths: Record<string, Record<string, Record<string, unknown>>>;
  components: { schemas: Record<string, JsonSchema> };
}

let components: OpenApi['components']['schemas'] = {};

export function operationsOf(document: OpenApi): DocumentedOperation[] {
  components = document.components.schemas;
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, raw]) => {
      const operation = raw as {
        tags: string[];
        'x-auth': string;
        parameters?: Parameter[];
        requestBody?: { content: Record<string, { schema: JsonSchema; example?: unknown }> };
      };
      const content = operation.requestBody?.content['application/json'];
      const parameters = operation.parameters ?? [];
      return {
        method: method.toUpperCase() as DocumentedOperation['method'],
        path,
        tag: operation.tags[0]!,
        auth: operation['x-auth'],
        parameters,
        body: content?.schema ?? null,
        // `signExamples` writes into it, and the document is shared by all files of a worker.
        example: structuredClone(content?.example),
        idParameters: parameters.filter((p) => p.in === 'path' && resolve(p.schema).type === 'integer').map((p) => p.name),
      };
    }),
  );
}

export function resolve(schema: JsonSchema): JsonSchema {
  let current = schema;
  while (current.$ref) current = components[current.$ref.split('/').at(-1)!]!;
  if (current.anyOf) {
    const real = current.anyOf.map(resolve).filter((option) => option.type !== 'null');
    return real.length === 1 ? real[0]! : { anyOf: real };
  }
  if (Array.isArray(current.type)) {
    const kinds = current.type.filter((kind) => kind !== 'null');
    return { ...current, type: kinds.length === 1 ? kinds[0]! : kinds };
  }
  return current;
}

/** Puts genuine signed data where an operation's example has made-up data: the caller of a mini-app operation is proved by its body. */
export function signExamples(operations: readonly DocumentedOperation[], initData: string): void {
  for (const operation of operations) {
    const example = operation.example as Record<string, unknown> | undefined;
    if (operation.tag !== 'miniapp' || !example) continue;
    for (const name of ['initData', 'init_data']) if (name in example) example[name] = initData;
  }
}

export function exampleBody(operation: DocumentedOperation): unknown {
  return operation.body === null ? undefined : operation.example;
}

/** The example with nothing but what must be there. */
export function minimalBody(operation: DocumentedOperation): unknown {
  if (operation.body === null) return undefined;
  const { properties, required = [] } = resolve(operation.body);
  if (!properties) return operation.example;
  const example = (operation.example ?? {}) as Record<string, unknown>;
  return Object.fromEntries(required.map((name) => [name, example[name]]));
}

/** Text parameters whose values come from a closed list that the schema leaves to the use case. */
const KNOWN_TEXTS: Record<string, string> = { method: 'yookassa' };

const OUR_WORD = /messenger|vpnpanel/;

/** Identifiers that the schema does not list. */
const IDENTIFIERS: Record<string, string> = {
  payment_method: 'messenger_stars',
  method_filter: 'messenger_stars',
  provider: 'messenger',
  sort_by: 'messenger_id',
  permissions: 'vpnpanel:read',
  resource: 'vpnpanel',
  category_key: 'VPNPANEL',
};

/** A value that the schema allows, with one of our words where it has one. */
function allowedValue(name: string, raw: JsonSchema, depth = 0): unknown {
  const schema = resolve(raw);
  const { enum: values, anyOf, pattern } = schema;
  if (schema.const !== undefined) return schema.const;
  if (values) return values.find((value) => OUR_WORD.test(String(value))) ?? values[0];
  if (anyOf) return allowedValue(name, anyOf[0]!, depth);
  if (pattern && OUR_WORD.test(pattern)) return OUR_WORD.exec(pattern)![0];
  if (schema.default !== undefined && schema.default !== null) return schema.default;
  switch (schema.type) {
    case 'integer':
    case 'number':
      return Math.min(Math.max(1, schema.minimum ?? 1), schema.maximum ?? 1);
    case 'boolean':
      return false;
    case 'array':
      return schema.items && depth < 3 ? [allowedValue(name, schema.items, depth + 1)] : [];
    case 'string':
      return IDENTIFIERS[name] ?? textOf(schema);
    default:
      return schema.properties && depth < 3 ? allFields(schema, depth + 1) : {};
  }
}

function textOf({ format, minLength = 0 }: JsonSchema): string {
  const known = { 'date-time': '2030-01-01T00:00:00Z', date: '2030-01-01', uuid: '00000000-0000-4000-8000-000000000000' };
  return known[format as keyof typeof known] ?? 'text'.padEnd(minLength, '.');
}

const allFields = ({ properties = {} }: JsonSchema, depth: number): Record<string, unknown> =>
  Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, allowedValue(name, schema, depth)]));

/** `body` with every field that the document has besides. */
export function wholeBody(operation: DocumentedOperation, body: unknown): unknown {
  const schema = operation.body === null ? {} : resolve(operation.body);
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body);
  return isObject && schema.properties ? { ...allFields(schema, 0), ...body } : body;
}

/** Every parameter of the query, without the question mark. */
export function wholeQuery({ parameters }: DocumentedOperation): string {
  const given = parameters.filter((parameter) => parameter.in === 'query');
  return given.map(({ name, schema }) => `${name}=${encodeURIComponent(String(allowedValue(name, schema)))}`).join('&');
}

/** The path with whole-number parameters set to `id` and texts to something harmless. */
export function pathFor(operation: DocumentedOperation, id: number): string {
  return operation.path.replace(/\{([^}]+)\}/g, (_match, name: string) => {
    const parameter = operation.parameters.find((candidate) => candidate.in === 'path' && candidate.name === name);
    const schema = resolve(parameter?.schema ?? {});
    if (schema.type === 'integer') return String(id);
    if (schema.format === 'uuid') return '00000000-0000-4000-8000-000000000000';
    return schema.enum ? String(schema.enum[0]) : (KNOWN_TEXTS[name] ?? 'unknown');
  });
}

export interface BadParameter {
  what: string;
  loc: string[];
  type: string;
  path?: string;
  query?: Record<string, string>;
}

export function badParameters(operation: DocumentedOperation): BadParameter[] {
  return operation.parameters.flatMap((parameter) => {
    if (parameter.in === 'header') return [];
    const schema = resolve(parameter.schema);
    const at = (text: string, type: string): BadParameter => ({
      what: `${parameter.in} ${parameter.name} = ${JSON.stringify(text)} is ${type}`,
      loc: [parameter.in, parameter.name],
      type,
      ...(parameter.in === 'query'
        ? { query: { [parameter.name]: text } }
        : { path: pathFor({ ...operation, path: operation.path.replace(`{${parameter.name}}`, text) }, 1) }),
    });
    const cases: BadParameter[] = [];
    if (schema.type === 'integer') {
      cases.push(at('abc', 'int_parsing'), at('1.5', 'int_parsing'));
      if (parameter.in === 'query') cases.push(at('', 'int_parsing'));
    }
    if (schema.type === 'boolean') cases.push(at('maybe', 'bool_parsing'));
    if (schema.enum && parameter.in === 'query')
      cases.push(at('no-such-word', schema.enum.length === 1 ? 'literal_error' : 'enum'));
    if (schema.format === 'date-time') cases.push(at('yesterday', 'datetime_from_date_parsing'));
    for (const [value, type] of beyond(schema)) cases.push(at(String(value), type));
    return cases;
  });
}

export interface BadBody {
  what: string;
  loc: string[];
  type: string;
  body: unknown;
  ctx?: Record<string, unknown>;
}

export function badBodies(operation: DocumentedOperation): BadBody[] {
  if (operation.body === null) return [];
  const schema = resolve(operation.body);
  const cases: BadBody[] = [{ what: 'a body that is no JSON', loc: ['body'], type: 'json_invalid', body: '{"a":' }];
  cases[0]!.loc = ['body', '5'];
  if (!schema.properties) return cases;
  const example = (operation.example ?? {}) as Record<string, unknown>;
  for (const [name, raw] of Object.entries(schema.properties)) {
    const field = resolve(raw);
    const put = (value: unknown, type: string, ctx?: Record<string, unknown>): BadBody => ({
      what: `${name} = ${JSON.stringify(value)?.slice(0, 40)} is ${type}`,
      loc: ['body', name],
      type,
      body: { ...example, [name]: value },
      ...(ctx ? { ctx } : {}),
    });
    if (schema.required?.includes(name)) {
      const { [name]: _left, ...rest } = example;
      cases.push({ what: `${name} left out is missing`, loc: ['body', name], type: 'missing', body: rest });
    }
    for (const [value, type, ctx] of beyond(field)) cases.push(put(value, type, ctx));
    const wrong = wrongType(field);
    if (wrong) cases.push(put(wrong[0], wrong[1]));
  }
  return cases;
}

/** Spec 10 R1: providers of sign-in and types of notifications are literals, which a schema does not show. */
const isLiteral = (values: readonly unknown[]): boolean => values.includes('google') || values.includes('referral_link_visit');

function wrongType(schema: JsonSchema): [unknown, string] | null {
  if (schema.enum) return ['no-such-word', schema.enum.length === 1 || isLiteral(schema.enum) ? 'literal_error' : 'enum'];
  if (schema.const !== undefined) return ['no-such-word', 'literal_error'];
  if (schema.anyOf) return null;
  switch (schema.type) {
    case 'integer':
      return ['seven', 'int_type'];
    case 'number':
      return ['seven', 'float_type'];
    case 'boolean':
      return ['perhaps', 'bool_type'];
    case 'string':
      return [{ not: 'a text' }, schema.format === 'date-time' ? 'datetime_type' : 'string_type'];
    case 'array':
      return ['not a list', 'list_type'];
    case 'object':
      // Not a text: some fields read one as the Russian of a text by locale.
      return [['not an object'], 'dict_type'];
    default:
      return null;
  }
}

/** Values just outside each bound, with the type and the context that the answer must carry. */
function beyond(schema: JsonSchema): [unknown, string, Record<string, unknown>?][] {
  const cases: [unknown, string, Record<string, unknown>?][] = [];
  const isSafe = (bound: number | undefined): bound is number => bound !== undefined && Math.abs(bound) < 2 ** 52;
  if (isSafe(schema.minimum)) cases.push([schema.minimum - 1, 'greater_than_equal', { ge: schema.minimum }]);
  if (isSafe(schema.maximum)) cases.push([schema.maximum + 1, 'less_than_equal', { le: schema.maximum }]);
  if (isSafe(schema.exclusiveMinimum)) cases.push([schema.exclusiveMinimum, 'greater_than', { gt: schema.exclusiveMinimum }]);
  if (isSafe(schema.exclusiveMaximum)) cases.push([schema.exclusiveMaximum, 'less_than', { lt: schema.exclusiveMaximum }]);
  if (schema.type === 'string' && !schema.format && !schema.enum) {
    if (schema.minLength) cases.push(['a'.repeat(schema.minLength - 1), 'string_too_short', { min_length: schema.minLength }]);
    if (schema.maxLength) cases.push(['a'.repeat(schema.maxLength + 1), 'string_too_long', { max_length: schema.maxLength }]);
  }
  if (schema.type === 'array' && schema.minItems) cases.push([[], 'too_short']);
  return cases;
}
