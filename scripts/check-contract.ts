/**
 * Fails for every operation, parameter, field and tag without a description (and names the file), for texts that nothing uses, for texts that
 * more than three unlike fields have (scripts/repeated-texts.json lists the reviewed ones), for texts that speak of null where no null is allowed and for bodies
 * without an example of real values. Then compares the served document with the published contract: all that its `diff.mjs` compares, and the names of components.
 *   npm run check:contract            needs ../shared/contract; without it (a clone alone) it says so and passes
 *   npm run check:contract -- --write FILE    writes the document only
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OpenApiDocument, OpenApiOperation } from '../src/rest/openapi-document.ts';
import { buildServiceDocument } from '../src/rest/service-document.ts';
import { findFalseNulls, findRepeatedTexts, type RepeatedText } from './checks/field-texts.ts';
import { findSchemaPlaces, gapMessage } from './checks/schema-places.ts';
import { projectRoot } from './checks/source-files.ts';

const { document: described, gaps } = buildServiceDocument();
const document = JSON.stringify(described);
const writeTo = process.argv[process.argv.indexOf('--write') + 1];
if (process.argv.includes('--write') && writeTo) {
  await writeFile(writeTo, document);
  process.exit(0);
}
if (gaps.undescribed.length + gaps.unused.length > 0) {
  const places = await findSchemaPlaces(projectRoot);
  for (const gap of gaps.undescribed) console.error(gapMessage(gap, places));
  for (const key of gaps.unused) console.error(`a text for nothing: ${key}`);
  console.error("\nA field and a parameter are described at the field of their zod schema: `.describe('…')`, called last.");
  process.exit(1);
}
const repeated = findRepeatedTexts(described);
const keyOf = ({ name, text }: RepeatedText): string => `${name ?? '*'}: ${text}`;
const reviewed = JSON.parse(await readFile(join(import.meta.dirname, 'repeated-texts.json'), 'utf8')) as string[];
const unreviewed = repeated.filter((found) => found.isDefault || !reviewed.includes(keyOf(found)));
const wrongTexts = [
  ...unreviewed.map(
    (found) => `${found.isDefault ? 'a default of a common name' : 'used by more than three unlike fields'}: ${keyOf(found)}`,
  ),
  ...findFalseNulls(described).map((field) => `says when it is null, and is never null: ${field}`),
  ...reviewed
    .filter((key) => !repeated.some((found) => keyOf(found) === key))
    .map((key) => `no longer repeated, to be taken out of scripts/repeated-texts.json: ${key}`),
];
if (wrongTexts.length > 0) {
  console.error(`${wrongTexts.join('\n')}\n
Say of each field what it is: what the items are, what is counted, which states there are, unit, range, when null. A text that is true
and sufficient in all of its places is entered in scripts/repeated-texts.json as \`name: text\`, or \`*: text\` of different names.`);
  process.exit(1);
}
const placeholders = bodies(described).filter(
  ({ example }) => example === undefined || /"string|"x+"/.test(JSON.stringify(example)),
);
if (placeholders.length > 0) {
  console.error(`${placeholders.map(({ operation }) => operation).join('\n')}\n
${placeholders.length} bodies have no example, or one with placeholders: \`.meta({ example })\` of the schema gives it.`);
  process.exit(1);
}
const shared = join(import.meta.dirname, '..', '..', 'shared', 'contract');
if (!existsSync(join(shared, 'diff.mjs'))) {
  console.log('Left out: the contract is not beside this checkout.');
  process.exit(0);
}
const contract = JSON.parse(await readFile(join(shared, 'openapi.json'), 'utf8')) as OpenApiDocument;
const folder = await mkdtemp(join(tmpdir(), 'contract-'));
const file = join(folder, 'openapi.json');
await writeFile(file, document);
// It ends by process.exit, which cuts the output to a pipe; a file gets everything.
const output = await open(join(folder, 'diff.txt'), 'w');
const { status } = spawnSync(process.execPath, [join(shared, 'diff.mjs'), file, '--all', '--min', '1'], {
  stdio: ['ignore', output.fd, 'inherit'],
});
await output.close();
const report = (await readFile(join(folder, 'diff.txt'), 'utf8')).trim();
await rm(folder, { recursive: true });
const names = differentNames(contract, described);
if (status !== 0 || names.length > 0) {
  console.error([report, ...names].join('\n'));
  process.exit(1);
}
console.log(report.split('\n').at(-1));
console.log('Every component of the contract is published, and bodies and answers refer to them by the same names.');

interface Body {
  operation: string;
  component: string | undefined;
  example: unknown;
}

/** The JSON bodies of requests with the components that they refer to. */
function bodies({ paths }: OpenApiDocument): Body[] {
  return operationsOf(paths).flatMap(([operation, { requestBody }]) => {
    const media = requestBody?.content['application/json'];
    return media === undefined ? [] : [{ operation, component: referred(media.schema), example: media.example }];
  });
}

/** `METHOD /path` with the operation; parameters of the path without their names, which differ between documents. */
function operationsOf(paths: OpenApiDocument['paths']): [string, OpenApiOperation][] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, OpenApiOperation] => [
      `${method.toUpperCase()} ${path.replace(/\{[^}]*\}/g, '{}').replace(/(.)\/$/, '$1')}`,
      operation,
    ]),
  );
}

function referred(schema: unknown): string | undefined {
  const { $ref } = (schema ?? {}) as { $ref?: string };
  return $ref?.split('/').at(-1);
}

/** The component of the successful JSON answer. */
function answered({ responses }: OpenApiOperation): string | undefined {
  const success = Object.entries(responses).find(([code]) => code.startsWith('2'))?.[1];
  const content = success?.content as Record<string, { schema?: unknown }> | undefined;
  return referred(content?.['application/json']?.schema);
}

function differentNames(wanted: OpenApiDocument, served: OpenApiDocument): string[] {
  const missing = Object.keys(wanted.components.schemas).filter((name) => served.components.schemas[name] === undefined);
  const operations = new Map(operationsOf(served.paths));
  const servedBodies = new Map(bodies(served).map((body) => [body.operation, body.component]));
  return [
    ...missing.map((name) => `component missing: ${name}`),
    ...bodies(wanted)
      .filter(({ operation, component }) => component !== undefined && servedBodies.get(operation) !== component)
      .map(({ operation, component }) => `${operation}: the body is ${servedBodies.get(operation)}, not ${component}`),
    ...operationsOf(wanted.paths).flatMap(([id, operation]) => {
      const wantedName = answered(operation);
      const servedOperation = operations.get(id);
      const servedName = servedOperation && answered(servedOperation);
      return wantedName === undefined || wantedName === servedName
        ? []
        : [`${id}: the answer is ${servedName}, not ${wantedName}`];
    }),
  ];
}
