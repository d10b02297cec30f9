/**
 * Lints the API document with redocly, generates types of a client from it with openapi-typescript and compiles them.
 * The tools are those of `packages/document-check`; they need no network.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildRouteTable } from '../src/rest/route-table.ts';
import { buildServiceDocument } from '../src/rest/service-document.ts';
import { appRouter } from '../src/routers/root.ts';

const root = join(import.meta.dirname, '..');
const tools = join(root, 'packages', 'document-check');

/** A client that uses the generated types; it compiles only if they are usable. */
const CLIENT = `import type { components, paths } from './api.js';
type Reply = paths['/users/{user_id}']['get']['responses']['200']['content']['application/json'];
type Body = NonNullable<paths['/users/{user_id}/balance']['post']['requestBody']>['content']['application/json'];
export const balanceOf = (user: Reply): number => user.balance_kopeks;
export const topUp: Body = { amount_kopeks: 100 };
export const refusal: components['schemas']['HTTPError'] = { detail: { code: 'user_not_found', message: 'User not found' } };
`;

const COMPILER = { strict: true, noEmit: true, module: 'nodenext', types: [] };

const folder = await mkdtemp(join(tmpdir(), 'document-'));
const document = join(folder, 'openapi.json');
await writeFile(document, JSON.stringify(buildServiceDocument(buildRouteTable(appRouter)).document));
await writeFile(join(folder, 'client.ts'), CLIENT);
await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: COMPILER, include: ['*.ts'] }));
run('redocly', ['lint', document, '--config', join(tools, 'redocly.yaml'), '--max-problems', '20']);
run('openapi-typescript', [document, '--output', join(folder, 'api.d.ts')]);
run('tsc', ['-p', folder]);
await rm(folder, { recursive: true });
console.log('The document passes the lint, and a client generated from it compiles.');

/** Ends the program if the tool fails or warns. */
function run(name: string, words: string[]): void {
  const inRoot = join(root, 'node_modules', '.bin', name);
  const inTools = join(tools, 'node_modules', '.bin', name);
  const result = spawnSync(existsSync(inRoot) ? inRoot : inTools, words, {
    encoding: 'utf8',
    cwd: root,
    shell: process.platform === 'win32',
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  });
  const output = `${result.stdout}${result.stderr}`;
  if (result.status === 0 && !/You have \d+ warning/.test(output)) return;
  console.error(output);
  process.exit(1);
}
