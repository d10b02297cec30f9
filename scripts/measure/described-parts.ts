import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export interface DescribedParts {
  operations: number;
  undescribedOperations: number;
  undescribedParameters: number;
  undescribedFields: number;
}

interface DocumentPart {
  description?: string;
  parameters?: DocumentPart[];
  properties?: Record<string, DocumentPart>;
  items?: DocumentPart;
  anyOf?: DocumentPart[];
  additionalProperties?: DocumentPart | boolean;
  $ref?: string;
}

interface Document {
  paths: Record<string, Record<string, DocumentPart>>;
  components: { schemas: Record<string, DocumentPart> };
}

type Load = (path: string) => Promise<Record<string, unknown>>;

/** Counts in the document that a checkout serves; null where it cannot be built (its packages are not installed). */
export async function countDescribedParts(root: string): Promise<DescribedParts | null> {
  if (!existsSync(join(root, 'node_modules'))) return null;
  const load: Load = (path) => import(pathToFileURL(join(root, path)).href);
  const { buildRouteTable } = await load('src/rest/route-table.ts');
  const { appRouter } = await load('src/routers/root.ts');
  const routes = (buildRouteTable as (router: unknown) => unknown)(appRouter);
  const isDescribing = existsSync(join(root, 'src/rest/service-document.ts'));
  return countInDocument(isDescribing ? await servedDocument(load, routes) : await bareDocument(load, routes));
}

async function servedDocument(load: Load, routes: unknown): Promise<Document> {
  const { buildServiceDocument } = await load('src/rest/service-document.ts');
  return (buildServiceDocument as (routes: unknown) => { document: Document })(routes).document;
}

/** A checkout from before the document had texts of its own (`--root`). */
async function bareDocument(load: Load, routes: unknown): Promise<Document> {
  const { buildOpenApiDocument } = await load('src/rest/openapi-document.ts');
  return (buildOpenApiDocument as (routes: unknown, info: object) => Document)(routes, { title: 'Service', version: '0' });
}

const METHODS = new Set(['get', 'post', 'put', 'patch', 'delete', 'head', 'options']);

export function countInDocument(document: Document): DescribedParts {
  const operations = Object.values(document.paths).flatMap((path) =>
    Object.entries(path).flatMap(([method, operation]) => (METHODS.has(method) ? [operation] : [])),
  );
  const parameters = operations.flatMap((operation) => operation.parameters ?? []);
  const fields = Object.values(document.components.schemas).flatMap(fieldsOf);
  return {
    operations: operations.length,
    undescribedOperations: operations.filter(isUndescribed).length,
    undescribedParameters: parameters.filter(isUndescribed).length,
    undescribedFields: fields.filter(isUndescribed).length,
  };
}

/** The fields of a schema and of the objects inside of it. */
function fieldsOf(schema: DocumentPart): DocumentPart[] {
  const properties = Object.values(schema.properties ?? {});
  const more = typeof schema.additionalProperties === 'object' ? [schema.additionalProperties] : [];
  const inner = [...properties, ...(schema.items ? [schema.items] : []), ...(schema.anyOf ?? []), ...more];
  return [...properties, ...inner.flatMap(fieldsOf)];
}

const isUndescribed = (part: DocumentPart): boolean => part.description === undefined && part.$ref === undefined;
