/**
 * Prints what an installation of the service has on disk: the build, by kind of file, the package that `npx` installs, and the image, which is that package
 * without the fakes on Node and its libraries. Of what is built here; neither Docker nor a network is needed (`scripts/release/image.ts` builds the image).
 *   node scripts/on-runtime.mjs scripts/measure/sizes.ts [folder of a build, dist unless given]
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { table } from '../../packages/measures/src/bench/verdict.ts';
import { isPacked } from '../pack-service.ts';

const root = join(import.meta.dirname, '..', '..');
const build = join(root, process.argv[2] ?? 'dist');

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

const sizeOf = (files: readonly string[]) => files.reduce((sum, file) => sum + statSync(file).size, 0);
const mib = (bytes: number) => (bytes / 1024 ** 2).toFixed(1);

const built = filesBelow(build);
const kinds: readonly [string, (name: string) => boolean][] = [
  ['build: source maps', (name) => name.endsWith('.map')],
  ['build: viewers of the document', (name) => name.startsWith('docs')],
  ['build: fakes of outside systems', (name) => name.startsWith('sandbox')],
  ['build: code', (name) => name.endsWith('.js')],
  ['build: embedded database', (name) => /^(pglite|initdb)/.test(name)],
  ["build: Prisma's compiler, codecs, document, licences", () => true],
];
const named = built.map((file) => [file, relative(build, file).replaceAll('\\', '/')] as const);
const kindOf = (name: string) => kinds.find(([, matches]) => matches(name))![0];
const ofKind = Map.groupBy(named, ([, name]) => kindOf(name));
const sql = ['prisma/migrations', 'prisma/sql'].flatMap((folder) => filesBelow(join(root, folder)));
const packed = [...built.filter(isPacked), ...sql];
const inImage = packed.filter((file) => !relative(build, file).startsWith('sandbox'));

console.log(
  table(
    ['What', 'Files', 'MiB'],
    [
      ...kinds.map(([kind]) => [kind, (ofKind.get(kind) ?? []).map(([file]) => file)] as const),
      ['SQL', sql] as const,
      ['package', packed] as const,
      ['image above Node and its libraries', inImage] as const,
    ].map(([title, files]) => [title, String(files.length), mib(sizeOf(files))]),
  ),
);

const contents = JSON.parse(readFileSync(join(build, 'packages.json'), 'utf8')) as Record<string, string[]>;
console.log(`\nPackages in the code: ${new Set(Object.values(contents).flat()).size}`);
