/**
 * Writes the refusals that procedures declare (`refuses`) into the document: status, machine code, sample. What the guard of an area refuses
 * is the same for all its operations and is in shared responses.
 */
import { type DeclaredRefusal, shownDetail } from '../core/errors.ts';
import type { OperationMeta } from '../routers/operation-meta.ts';
import type { JsonSchema, OpenApiDocument } from './openapi-document.ts';

/** What is read of a route. */
export interface RefusingRoute {
  method: string;
  path: string;
  meta: Pick<OperationMeta, 'auth' | 'credential' | 'guardName' | 'refuses' | 'guardRefuses'>;
}

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

export function documentRefusals(document: OpenApiDocument, routes: readonly RefusingRoute[]): void {
  const shared: Record<string, JsonSchema> = {};
  for (const { method, path, meta } of routes) {
    const operation = document.paths[path]![method.toLowerCase()]!;
    const guard = guardOf(path, meta);
    const ofGuard = inOrder(meta.guardRefuses);
    const ofOperation = inOrder(meta.refuses);
    for (const status of new Set([...ofGuard, ...ofOperation].map((refusal) => refusal.status))) {
      const declared = [...ofGuard, ...ofOperation].filter((refusal) => refusal.status === status);
      const isShared = status !== 422 && ofOperation.every((refusal) => refusal.status !== status);
      if (isShared) shared[`${guard}_${status}`] ??= responseOf(status, declared);
      operation.responses[status] = isShared
        ? { $ref: `#/components/responses/${guard}_${status}` }
        : responseOf(status, declared, operation.responses[status]);
    }
    // Refusals that every operation can answer, health probes included.
    if (!Object.keys(operation.responses).some((status) => status.startsWith('4')))
      operation.responses['431'] = HEADERS_TOO_LARGE;
  }
  document.components.responses = shared;
}

function inOrder(declared: readonly DeclaredRefusal[] = []): DeclaredRefusal[] {
  return declared.toSorted((a, b) => a.status - b.status || (a.code < b.code ? -1 : 1));
}

/** The guard of an operation: its part of the interface and its credential, of which signed launch data is one. */
function guardOf(path: string, { auth = 'NONE', credential, guardName }: RefusingRoute['meta']): string {
  if (credential === 'initData') return 'miniapp_INIT_DATA';
  return `${path.startsWith('/cabinet') ? 'cabinet' : 'web'}_${auth}${guardName ? `_${guardName}` : ''}`;
}

function responseOf(status: number, refusals: readonly DeclaredRefusal[], validation?: JsonSchema): JsonSchema {
  const codes = [...new Set(refusals.map((refusal) => refusal.code))].map((code) => `\`${code}\``);
  const error = { $ref: '#/components/schemas/HTTPError' };
  const schema = validation ? { anyOf: [{ $ref: '#/components/schemas/HTTPValidationError' }, error] } : error;
  const examples = Object.fromEntries(refusals.map(({ code, detail }) => [code, { value: { detail: shownDetail(detail) } }]));
  return {
    description: `${MEANINGS[status] ?? `Status ${status}`}: ${codes.join(', ')}`,
    content: { 'application/json': { schema, examples } },
  };
}
