// `prisma generate` without the download of the schema engine, which `generate` does not use: any executable passes the check.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { shrinkPrismaClient } from './shrink-prisma-client.mjs';

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
if (result.status === 0) {
  const client = join(root, 'src', 'generated', 'prisma');
  refuseUnknownFields(join(client, 'internal', 'prismaNamespace.ts'));
  shrinkPrismaClient(client);
  await import('./generate-rows.mjs');
}
process.exitCode = result.status ?? 1;

/**
 * Prisma's types accept a field in `data` that the model does not have, and the query fails when it runs. This makes it a compile error,
 * so that a renamed field is found at each write.
 * @param {string} file of the generated client, changed in place
 */
function refuseUnknownFields(file) {
  const original = '  [key in keyof T]: key extends keyof U ? T[key] : never\n} &\n  (T extends SelectAndInclude';
  const text = readFileSync(file, 'utf8');
  if (!text.includes(original))
    throw new Error(`SelectSubset of the generated Prisma client has another form: adjust ${import.meta.filename}`);
  const checked = original.replace(
    'T[key] :',
    "(key extends 'data' | 'create' | 'update' ? KnownFields<T[key], U[key]> : T[key]) :",
  );
  writeFileSync(
    file,
    `${text.replace(original, checked)}
type FieldsOf<U> = U extends readonly unknown[] ? never : U extends unknown ? keyof U : never
type KnownFields<T, U> = T extends readonly unknown[]
  ? { [index in keyof T]: KnownFields<T[index], U> }
  : T extends object
    ? { [field in keyof T]: field extends FieldsOf<U> ? T[field] : never }
    : T
`,
  );
}
