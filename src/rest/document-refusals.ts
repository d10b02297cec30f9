/**
 * Writes the refusals that tests observed into the document: status, machine code, example (`descriptions/refusals.json`, made by
 * `npm run refusals`). What the guard of an area refuses is the same for all its operations and is in shared responses.
 */
import type { OperationMeta } from '../routers/operation-meta.ts';
import type { OpenApiDocument } from './openapi-document.ts';
import type { JsonSchema } from './openapi-schemas.ts';

export interface DocumentedRefusal {
  status: number;
  code: string;
  /** As in the body; `<n>` and `<id>` are placeholders of values that vary. */
  detail: unknown;
}

export interface DocumentedRefusals {
  /** Guard (`guardOf`) -> its refusals. */
  areas: Readonly<Record<string, readonly DocumentedRefusal[]>>;
  /** `METHOD /path` -> refusals of the operation. */
  operations: Readonly<Record<string, readonly DocumentedRefusal[]>>;
}

/** Placeholders of the builder, which the observed refusals replace. */
const GENERIC = ['401', '403', '404'];

const HEADERS_TOO_LARGE = { description: 'The headers of the request have more than 16 KiB' };

const MEANINGS: Readonly<Record<number, string>> = {
  202: 'Not yet',
  400: 'Refused by a rule',
  401: 'Credential missing or not valid',
  402: 'The balance does not suffice',
  403: 'Not allowed',
  404: 'Not found',
  409: 'Conflict',
  410: 'Expired',
  413: 'Too large',
  415: 'Wrong media type',
  422: 'A value is not valid',
  429: 'Too many requests',
  502: 'An outside system failed',
  503: 'Not available at present',
  504: 'An outside system did not answer in time',
};

/** @throws Error on an entry of an operation that the document does not have */
export function documentRefusals(document: OpenApiDocument, refusals: DocumentedRefusals): void {
  const shared: Record<string, JsonSchema> = {};
  const left = new Set(Object.keys(refusals.operations));
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const key = `${method.toUpperCase()} ${path}`;
      left.delete(key);
      const area = guardOf(path, { auth: operation['x-auth'], credential: operation['x-credential'] });
      const ofArea = refusals.areas[area] ?? [];
      const ofOperation = refusals.operations[key] ?? [];
      for (const status of GENERIC) delete operation.responses[status];
      for (const status of new Set([...ofArea, ...ofOperation].map((refusal) => refusal.status))) {
        const observed = [...ofArea, ...ofOperation].filter((refusal) => refusal.status === status);
        const isShared = status !== 422 && ofOperation.every((refusal) => refusal.status !== status);
        if (isShared) shared[`${area}_${status}`] ??= responseOf(status, observed);
        operation.responses[status] = isShared
          ? { $ref: `#/components/responses/${area}_${status}` }
          : responseOf(status, observed, operation.responses[status]);
      }
      // Refusals that every operation can answer, health probes included.
      if (!Object.keys(operation.responses).some((status) => status.startsWith('4')))
        operation.responses['431'] = HEADERS_TOO_LARGE;
    }
  }
  if (left.size > 0) throw new Error(`Refusals of unknown operations: ${[...left].join(', ')}`);
  document.components.responses = shared;
}

/** The guard of an operation: its part of the interface and its credential, of which signed launch data is one. */
export function guardOf(path: string, { auth = 'NONE', credential }: OperationMeta): string {
  if (credential === 'initData') return 'miniapp_INIT_DATA';
  return `${path.startsWith('/cabinet') ? 'cabinet' : 'web'}_${auth}`;
}

function responseOf(status: number, refusals: readonly DocumentedRefusal[], validation?: JsonSchema): JsonSchema {
  const codes = [...new Set(refusals.map((refusal) => refusal.code))].map((code) => `\`${code}\``);
  const error = { $ref: '#/components/schemas/HTTPError' };
  const schema = validation ? { anyOf: [{ $ref: '#/components/schemas/HTTPValidationError' }, error] } : error;
  const examples = Object.fromEntries(refusals.map(({ code, detail }) => [code, { value: { detail } }]));
  return {
    description: `${MEANINGS[status] ?? `Status ${status}`}: ${codes.join(', ')}`,
    content: { 'application/json': { schema, examples } },
  };
}
