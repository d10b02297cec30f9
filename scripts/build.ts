/** Bundles server and command line into dist/: one read of a few files at start instead of hundreds. Dependencies stay outside. */
import { cp, mkdir, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
// Always made again: the bundle must have the document of the sources that are bundled.
import './openapi.ts';

const root = join(import.meta.dirname, '..');
// Built in another folder and then exchanged, so that a failed build leaves the old one.
const fresh = join(root, `.dist-${process.pid}`);
await build({
  absWorkingDir: root,
  entryPoints: {
    server: 'src/server.ts',
    cli: 'src/cli.ts',
    'password-hasher.worker': 'src/core/password-hasher.worker.ts',
    'image-thread.worker': 'src/core/images/image-thread.worker.ts',
  },
  outdir: fresh,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22.18',
  packages: 'external',
  sourcemap: 'linked',
  // Without comments and blanks, which V8 keeps in memory; a character outside of Latin-1, even in a comment, would double the text.
  // Names stay, for stacks; lines stay short, so that a position in a stack names a few statements even without the map.
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 160,
  charset: 'ascii',
  chunkNames: 'chunk-[hash]',
  logLevel: 'warning',
});
await cp(join(root, 'src', 'generated', 'openapi.json'), join(fresh, 'openapi.json'));
// Prisma's compiler of queries, beside the client that reads it.
await cp(join(root, 'src/generated/prisma/internal/query_compiler.wasm'), join(fresh, 'query_compiler.wasm'));
// The viewers of the API document, so that an installation does not need their packages.
await mkdir(join(fresh, 'docs'));
for (const file of [
  'swagger-ui-dist/swagger-ui-bundle.js',
  'swagger-ui-dist/swagger-ui.css',
  'swagger-ui-dist/favicon-32x32.png',
  'redoc/bundles/redoc.standalone.js',
])
  await cp(createRequire(import.meta.url).resolve(file), join(fresh, 'docs', basename(file)));
await rm(join(root, 'dist'), { recursive: true, force: true });
await rename(fresh, join(root, 'dist'));
