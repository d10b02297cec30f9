/**
 * Bundles server and command line with everything that they need into dist/: a few files instead of 14,000, so that an installation needs
 * no packages beside them (docs/decisions/bundled-dependencies.md). What is used rarely is in files of its own, which are read when it is.
 */
import { cp, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
// Always made again: the bundle must have the document of the sources that are bundled.
import './openapi.ts';
import { bundledLicences, packageFolderOf } from './bundled-licences.ts';

const root = join(import.meta.dirname, '..');
// Built in another folder and then exchanged, so that a failed build leaves the old one.
const fresh = join(root, `.dist-${process.pid}`);
const SANDBOX = '@subscription-service/sandbox/';
/** Packages that others try to load and work without; native code of the machine. */
const ABSENT = ['pg-native', 'bufferutil', 'utf-8-validate'];
/** Packages that are CommonJS have these names. Without an import, whose name could be that of one in the file. */
const COMMON_JS_NAMES = `const require = process.getBuiltinModule('module').createRequire(import.meta.url),
__filename = import.meta.filename, __dirname = import.meta.dirname;`;

/** The fakes are bundled by themselves, so that the image for production can leave out their folder. */
const fakes = new Set<string>();
const fakesApart: Plugin = {
  name: 'fakes-apart',
  setup: ({ onResolve }) =>
    onResolve({ filter: new RegExp(`^${SANDBOX}`) }, ({ path }) => {
      const name = path.slice(SANDBOX.length);
      fakes.add(name);
      return { path: `./sandbox/${name}.js`, external: true };
    }),
};

async function bundle(options: BuildOptions): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: root,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22.18',
    external: ABSENT,
    sourcemap: 'linked',
    sourcesContent: false,
    // Without comments and blanks, which V8 keeps in memory; a character outside of Latin-1, even in a comment, would double the text.
    // Names stay, for stacks; lines stay short, so that a position in a stack names a few statements even without the map.
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 160,
    charset: 'ascii',
    legalComments: 'none',
    chunkNames: 'chunk-[hash]',
    logLevel: 'warning',
    metafile: true,
    ...options,
  });
  return metafile!;
}

const service = await bundle({
  entryPoints: {
    server: 'src/server.ts',
    cli: 'src/cli.ts',
    'password-hasher.worker': 'src/core/password-hasher.worker.ts',
    'image-thread.worker': 'src/core/images/image-thread.worker.ts',
  },
  outdir: fresh,
  banner: { js: COMMON_JS_NAMES },
  plugins: [fakesApart],
});
const sandbox = await bundle({
  entryPoints: Object.fromEntries([...fakes].map((name) => [name, `packages/sandbox/src/${name}.ts`])),
  outdir: join(fresh, 'sandbox'),
});

const fileOf = createRequire(import.meta.url).resolve;
const besideBundle = [
  'src/generated/openapi.json',
  // Prisma's compiler of queries, beside the client that reads it.
  'src/generated/prisma/internal/query_compiler.wasm',
  // The embedded database.
  ...['pglite.wasm', 'pglite.data', 'initdb.wasm'].map((name) => join(dirname(fileOf('@electric-sql/pglite')), name)),
  // The codecs of images.
  join(dirname(fileOf('@silvia-odwyer/photon-node')), 'photon_rs_bg.wasm'),
];
for (const file of besideBundle) await cp(join(file.startsWith('src') ? root : '', file), join(fresh, basename(file)));
// The viewers of the API document.
const viewers = [
  'swagger-ui-dist/swagger-ui-bundle.js',
  'swagger-ui-dist/swagger-ui.css',
  'swagger-ui-dist/favicon-32x32.png',
  'redoc/bundles/redoc.standalone.js',
].map((name) => fileOf(name));
await mkdir(join(fresh, 'docs'));
for (const file of viewers) await cp(file, join(fresh, 'docs', basename(file)));

/** Folders of the packages of which something is in a file of the build, by the names of the files. */
function packagesOf({ outputs }: Metafile): [string, string[]][] {
  return Object.entries(outputs)
    .filter(([name]) => name.endsWith('.js'))
    .map(([name, { inputs }]) => {
      const used = Object.entries(inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0);
      return [basename(name), [...new Set(used.flatMap(([input]) => packageFolderOf(input) ?? []))].sort()];
    });
}
const used = packagesOf(service);
const folders = [
  ...[...used, ...packagesOf(sandbox)].flatMap(([, packages]) => packages),
  ...viewers.map((file) => packageFolderOf(file)!),
];
await writeFile(join(fresh, 'THIRD-PARTY-LICENSES'), await bundledLicences(root, new Set(folders)));
// What a process has loaded can be derived from the files that it has read (tests/system/memory.test.ts).
await writeFile(join(fresh, 'packages.json'), `${JSON.stringify(Object.fromEntries(used))}\n`);
await rm(join(root, 'dist'), { recursive: true, force: true });
await rename(fresh, join(root, 'dist'));
