/**
 * Lints the API document with redocly, generates clients from it with openapi-typescript, @hey-api/openapi-ts and orval, and compiles
 * them under `strict` with programs that use them (spec 10 K2). The tools are those of `packages/document-check`; they need no network.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildServiceDocument } from '../src/rest/service-document.ts';

const root = join(import.meta.dirname, '..');
const tools = join(root, 'packages', 'document-check');

/** Programs that use what was generated; they compile only if the update of a user and a refusal have types with names. */
const PROGRAMS = {
  'with-types.ts': `import type { components, paths } from './api.js';
type Reply = paths['/users/{user_id}']['get']['responses']['200']['content']['application/json'];
type Body = NonNullable<paths['/users/{user_id}/balance']['post']['requestBody']>['content']['application/json'];
export const balanceOf = (user: Reply): number => user.balance_kopeks;
export const topUp: Body = { amount_kopeks: 100 };
export const refusal: components['schemas']['HTTPError'] = { detail: { code: 'user_not_found', message: 'User not found' } };
export const change: components['schemas']['UserUpdateRequest'] = { language: 'en' };
`,
  'with-hey-api.ts': `import { webUsersUpdate } from './hey-api/sdk.gen.js';
import type { UserUpdateRequest } from './hey-api/types.gen.js';
const body: UserUpdateRequest = { language: 'en' };
export async function languageOf(userId: number): Promise<string | undefined> {
  const { data } = await webUsersUpdate({ path: { user_id: userId }, body });
  return data?.language;
}
`,
  'with-orval.ts': `import { type UserUpdateRequest, webUsersUpdate } from './orval.js';
const body: UserUpdateRequest = { language: 'en' };
export async function languageOf(userId: number): Promise<string | undefined> {
  const answer = await webUsersUpdate(userId, body);
  return answer.status === 200 ? answer.data.language : undefined;
}
`,
};

const COMPILER = { strict: true, noEmit: true, module: 'nodenext', types: [], lib: ['es2023', 'dom', 'dom.iterable'] };

const folder = await mkdtemp(join(tmpdir(), 'document-'));
const document = join(folder, 'openapi.json');
await writeFile(document, JSON.stringify(buildServiceDocument().document));
for (const [name, program] of Object.entries(PROGRAMS)) await writeFile(join(folder, name), program);
await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: COMPILER, include: ['*.ts'] }));
run('redocly', ['lint', document, '--config', join(tools, 'redocly.yaml'), '--max-problems', '20']);
// Without the option, what has a default is required in requests too.
run('openapi-typescript', [document, '--output', join(folder, 'api.d.ts'), '--default-non-nullable', 'false']);
run('openapi-ts', ['--input', document, '--output', join(folder, 'hey-api'), '--logs', folder]);
run('orval', ['--input', document, '--output', join(folder, 'orval.ts'), '--client', 'fetch']);
run('tsc', ['-p', folder]);
await rm(folder, { recursive: true });
console.log('The document passes the lint, and the clients that three generators make of it compile.');

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
  const output = result.error
    ? `${name} cannot be run (${result.error.message}): run npm ci`
    : `${result.stdout}${result.stderr}`;
  if (result.status === 0 && !/You have \d+ warning/.test(output)) return;
  console.error(output);
  process.exit(1);
}
