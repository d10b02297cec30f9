/** Bundles server and command line into dist/: one read of a few files at start instead of hundreds. Dependencies stay outside. */
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';

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
  target: 'node22.15',
  packages: 'external',
  sourcemap: 'linked',
  chunkNames: 'chunk-[hash]',
  logLevel: 'warning',
});
await rm(join(root, 'dist'), { recursive: true, force: true });
await rename(fresh, join(root, 'dist'));
