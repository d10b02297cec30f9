/** The OpenAPI 3.1 document of a router: what trpc-to-openapi maps, and the layer of what it cannot say. */
import type { AnyTRPCRouter } from '@trpc/server';
import { generateOpenApiDocument, type SecuritySchemeObject } from 'trpc-to-openapi';
import type { OperationAuth, OperationMeta } from '../routers/operation-meta.ts';
import { completeOperations, correctSchemas } from './document-layer.ts';
import { ERROR_SCHEMAS } from './error-schemas.ts';
import { buildRouteTable, operationsOf, proceduresOf, type RestRoute } from './route-table.ts';
import { viewOf } from './router-view.ts';

export type JsonSchema = { [key: string]: unknown };

export interface OpenApiInfo {
  title: string;
  version: string;
  description?: string;
  license?: { name: string; identifier?: string };
}

export interface OpenApiDocument {
  openapi: '3.1.0';
  info: OpenApiInfo;
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
  'x-token-scope'?: string;
  'x-credential'?: OperationMeta['credential'];
}

/**
 * Costs a second and 100 MiB for hundreds of operations, so that the service reads what `scripts/openapi.ts` wrote (`served-document.ts`).
 * @returns the document with the routes of its operations
 * @throws Error on inputs that cannot be served and on two schemas of one name
 */
export function buildOpenApiDocument(
  router: AnyTRPCRouter,
  info: OpenApiInfo,
): { document: OpenApiDocument; routes: RestRoute[] } {
  const generated = generateOpenApiDocument(viewOf(router), {
    ...info,
    baseUrl: '/',
    tags: [...new Set(proceduresOf(router).map(([, , { openapi }]) => openapi.tags[0]))],
    securitySchemes: SECURITY_SCHEMES,
  });
  const document = correctSchemas(generated as unknown as OpenApiDocument);
  for (const [name, schema] of Object.entries(ERROR_SCHEMAS)) {
    if (document.components.schemas[name] !== undefined) throw new Error(`The schema name ${name} is taken`);
    document.components.schemas[name] = structuredClone(schema);
  }
  const routes = buildRouteTable(router, operationsOf(document));
  completeOperations(document, routes);
  return { document, routes };
}

const SECURITY_SCHEMES: Record<string, SecuritySchemeObject> = {
  ApiKeyHeader: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
  ApiKeyBearer: { type: 'http', scheme: 'bearer', description: 'The API token as a bearer token' },
  CabinetJwt: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'Access token of the cabinet' },
};
