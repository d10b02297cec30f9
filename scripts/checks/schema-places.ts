import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { documentedPath, proceduresOf } from '../../src/rest/route-table.ts';
import { listFiles, readFiles } from './source-files.ts';

/** Finds the file in which a part of the document is written. */
export interface SchemaPlaces {
  /** The file of a component, by its name in the document. */
  ofComponent(name: string): string;
  /** The router of an operation (`METHOD /path`) and the schema files that it imports from its folder. */
  ofOperation(id: string): string[];
}

/** Where the components of errors are written, which no `id` of a schema names. */
const ERROR_SCHEMAS = 'src/rest/error-schemas.ts';

/** @param root the checkout; its routers are imported, so it must be the one that runs */
export async function findSchemaPlaces(root: string): Promise<SchemaPlaces> {
  const files = readFiles(root, listFiles(root, 'src/routers'));
  const components = new Map(files.flatMap(({ path, text }) => namesIn(text).map((name): [string, string] => [name, path])));
  const operations = new Map<string, string[]>();
  for (const { path, text } of files.filter((file) => file.path.endsWith('.router.ts'))) {
    const schemas = [...text.matchAll(/from '\.\/([\w-]+\.schemas\.ts)'/g)].map(([, name]) => join(path, '..', name!));
    for (const id of await operationsOf(join(root, path))) operations.set(id, [path, ...schemas]);
  }
  return {
    // A component that differs between requests and answers is two components; the second is named after the first.
    ofComponent: (name) => components.get(name) ?? components.get(name.replace(/Output$/, '')) ?? ERROR_SCHEMAS,
    ofOperation: (id) => operations.get(id) ?? [],
  };
}

/** The `id`s in a file: a text, or a constant of the file and a text behind it. */
function namesIn(text: string): string[] {
  const constants = new Map([...text.matchAll(/^const (\w+) = '(\w+)';$/gm)].map(([, name, value]) => [name!, value!]));
  return [
    ...[...text.matchAll(/\bid: '(\w+)'/g)].map(([, name]) => name!),
    ...[...text.matchAll(/\bid: `\$\{(\w+)\}(\w*)`/g)].map(([, constant, rest]) => `${constants.get(constant!)}${rest}`),
  ];
}

async function operationsOf(file: string): Promise<string[]> {
  const module = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  return Object.values(module)
    .filter(isRouter)
    .flatMap((router) => proceduresOf(router).map(([, , { openapi }]) => `${openapi.method} ${documentedPath(openapi.path)}`));
}

type Router = Parameters<typeof proceduresOf>[0];

function isRouter(value: unknown): value is Router {
  return typeof value === 'object' && value !== null && '_def' in value && (value._def as { router?: unknown }).router === true;
}

/**
 * The line that a gap of `DescriptionGaps.undescribed` is printed as: what has no description, and the file to edit.
 * @param gap for example `property TicketResponse.title` or `parameter GET /tickets.limit`
 */
export function gapMessage(gap: string, places: SchemaPlaces): string {
  const [, kind, owner] = /^(property|parameter) ([A-Z]+ \/[^.]*|\w+)\./.exec(gap) ?? [];
  if (gap.startsWith('operation '))
    return `without a description: ${gap}, at its procedure in ${places.ofOperation(gap.slice('operation '.length))[0]}`;
  if (owner === undefined) return `without a description: ${gap}, in ${TEXTS[gap.split(' ')[0]!] ?? 'src/rest/descriptions'}`;
  const files = owner.includes(' ') ? places.ofOperation(owner).join(' or ') : places.ofComponent(owner);
  return `without a description: ${gap}, a ${kind === 'property' ? 'field' : 'parameter'} of a schema in ${files}`;
}

const TEXTS: Readonly<Record<string, string>> = {
  tag: 'src/rest/descriptions/tag-descriptions.ts',
};
