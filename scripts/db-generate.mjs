// `prisma generate` without the download of the schema engine, which `generate` does not use: any executable passes the check.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const packageFile = createRequire(import.meta.url).resolve('prisma/package.json');
const result = spawnSync(process.execPath, [join(dirname(packageFile), 'build', 'index.js'), 'generate', '--no-hints'], {
  cwd: root,
  encoding: 'utf8',
  env: {
    ...process.env,
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
    CHECKPOINT_DISABLE: '1',
  },
});
if (result.status !== 0) process.stderr.write(`${result.stdout}\n${result.stderr}\n`);
if (result.status === 0) await import('./generate-rows.mjs');
process.exitCode = result.status ?? 1;
