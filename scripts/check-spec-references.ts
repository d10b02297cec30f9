/**
 * Resolves every citation of the specification (docs/spec/README.md) in code, tests, documents and the specification itself.
 * Run by `npm run check:spec` and CI; prints each unresolved one as `file:line` and exits 1.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkCitations } from './spec-references/citations.ts';
import { readSpecFile } from './spec-references/specification.ts';

const root = join(import.meta.dirname, '..');
const SPEC_FOLDER = 'docs/spec';
const FOLDERS = ['src', 'tests', 'scripts', 'packages', 'docs', 'prisma', 'examples', '.ci'];
const FILES = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  '.env.example',
  'vitest.config.ts',
  'prisma.config.ts',
];
/** What is generated or installed, and the files that show citations as examples. */
const SKIPPED = [
  ...['generated', 'node_modules', 'dist'],
  ...['docs/spec/README.md', 'tests/unit/spec-references', 'scripts/spec-references'],
  // The replaced migrations as released: they are known by their checksums, so their comments cannot be corrected.
  'tests/fixtures/upgrade',
  'tests/fixtures/import-source',
];
const READ = /\.(?:ts|tsx|mjs|prisma|sql|md|sh|yaml|py)$|^\.ci\//;

function listFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (SKIPPED.includes(entry.name) || SKIPPED.includes(path)) return [];
    if (entry.isDirectory()) return listFiles(path);
    return READ.test(path) ? [path] : [];
  });
}

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const numberOf = (path: string) =>
  path.startsWith(`${SPEC_FOLDER}/`) ? /^(\d\d[a-z]?)-/.exec(path.slice(SPEC_FOLDER.length + 1))?.[1] : undefined;

const present = readdirSync(root);
const paths = [
  ...FOLDERS.filter((folder) => present.includes(folder)).flatMap(listFiles),
  ...FILES.filter((file) => present.includes(file)),
];
const specification = new Map(
  paths.flatMap((path) => {
    const number = numberOf(path);
    return number === undefined ? [] : [[number, readSpecFile(number, read(path))] as const];
  }),
);

let resolved = 0;
const problems: string[] = [];
for (const path of paths) {
  const home = specification.get(numberOf(path) ?? '');
  const check = checkCitations(read(path), specification, { isMarkdown: path.endsWith('.md'), ...(home && { home }) });
  resolved += check.resolved;
  problems.push(...check.problems.map(({ line, citation, problem }) => `${path}:${line}: "${citation}": ${problem}`));
}
if (problems.length > 0) {
  console.error(problems.join('\n'));
  console.error(`\n${problems.length} citations of the specification do not resolve (forms: docs/spec/README.md).`);
  process.exit(1);
}
console.log(`Citations of the specification: ${resolved}, all resolve.`);
