import type { OpenApiDocument } from '../../src/rest/openapi-document.ts';
import { buildRouteTable } from '../../src/rest/route-table.ts';
import { SERVICE_TITLE, servedDocument, servedOperations } from '../../src/rest/served-document.ts';
import { appRouter } from '../../src/routers/root.ts';

/** The document that the service serves, and the routes that it has by it; current by `document-setup.ts`. */
export const servedRoutes = buildRouteTable(appRouter, servedOperations());
export const documentOfService = frozen(JSON.parse(await servedDocument(SERVICE_TITLE))) as OpenApiDocument;

/** The files of a worker share the document: whoever writes into it fails. */
function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) for (const each of Object.values(Object.freeze(value))) frozen(each);
  return value;
}
