/**
 * Prints what an installation of the service has on disk: the build, the packages of production, and the layers of the image above its base,
 * which is Debian with Node. Of what is installed here; neither Docker nor a network is needed.
 *   node scripts/on-runtime.mjs scripts/measure/sizes.ts [folder of a build, dist unless given]
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { table } from '../../packages/measures/src/bench/verdict.ts';

const root = join(import.meta.dirname, '..', '..');
const build = join(root, process.argv[2] ?? 'dist');

interface LockedPackage {
  dev?: boolean;
  optional?: boolean;
  devOptional?: boolean;
  link?: boolean;
}

/** What the Dockerfile removes from the packages. */
const REMOVED = /@prisma\/client\/runtime\/[^/]*\.wasm-base64\./;

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

const mib = (files: readonly string[]) => (files.reduce((sum, file) => sum + statSync(file).size, 0) / 1024 ** 2).toFixed(1);

/** As `npm ci --omit=dev --omit=optional` installs them. */
function productionPackages(): string[] {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as { packages: Record<string, LockedPackage> };
  return Object.entries(lock.packages)
    .filter(
      ([path, { dev, optional, devOptional, link }]) => /^node_modules\//.test(path) && !(dev || optional || devOptional || link),
    )
    .map(([path]) => path)
    .filter((path) => existsSync(join(root, path)));
}

const isNested = (file: string, folder: string) => relative(folder, file).split(/[/\\]/).includes('node_modules');
const packages = productionPackages();
const filesOf = new Map(
  packages.map((path) => {
    const folder = join(root, path);
    return [path, filesBelow(folder).filter((file) => !isNested(file, folder))];
  }),
);
const installed = [...filesOf.values()].flat();
const inImage = installed.filter((file) => !REMOVED.test(file.replaceAll('\\', '/')));
const built = filesBelow(build);
const maps = built.filter((file) => file.endsWith('.map'));
const viewers = built.filter((file) => relative(build, file).startsWith('docs'));
const code = built.filter((file) => !maps.includes(file) && !viewers.includes(file));
const sql = ['prisma/migrations', 'prisma/sql'].flatMap((folder) => filesBelow(join(root, folder)));

console.log(
  table(
    ['What', 'Files', 'MiB'],
    [
      ['build: code', code],
      ['build: source maps', maps],
      ['build: viewers of the document', viewers],
      [`packages of production (${packages.length})`, installed],
      ['image, layer of packages', inImage],
      ['image, layer of the build', built],
      ['image, layer of SQL', sql],
      ['image above its base', [...inImage, ...built, ...sql]],
    ].map(([title, files]) => [title as string, String(files!.length), mib(files as string[])]),
  ),
);
const largest = [...filesOf]
  .map(([path, files]) => [path, files.length, mib(files)] as const)
  .sort((a, b) => Number(b[2]) - Number(a[2]));
console.log(
  `\n${table(
    ['Largest packages', 'Files', 'MiB'],
    largest.slice(0, 12).map(([path, count, size]) => [path, String(count), size]),
  )}`,
);
const unwanted = packages.filter((path) => /\/(prisma|esbuild|vite|vitest|@subscription-service\/.*)$/.test(path));
if (unwanted.length > 0) throw new Error(`production has packages of the build: ${unwanted.join(', ')}`);
