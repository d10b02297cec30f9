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
  const { buildServiceDocument } = (await load('src/rest/service-document.ts')) as { buildServiceDocument: BuildDocument };
  return countInDocument(buildServiceDocument(...(buildServiceDocument.length === 0 ? [] : [await routesOf(load)])).document);
}

/** The routes are handed over in a checkout from before trpc-to-openapi made the document (`--root`). */
type BuildDocument = (...routes: unknown[]) => { document: Document };

async function routesOf(load: Load): Promise<unknown> {
  const { buildRouteTable } = await load('src/rest/route-table.ts');
  const { appRouter } = await load('src/routers/root.ts');
  return (buildRouteTable as (router: unknown) => unknown)(appRouter);
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
