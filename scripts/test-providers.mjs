// npm run test:providers: runs the tests of all payment providers and prints the table provider x case from their results. Exit code 1 when a
// case fails or was not run. The cases of several processes need a PostgreSQL server; without one they are left out, which the table says.
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureBuilt, ensureGenerated, ensureInstalled, root, run, runtime } from './prepare.mjs';
import { missingCases, printTable, tableOf } from './provider-table.mjs';
import { reachableServer } from './reachable-server.mjs';

const FILES = ['tests/domain/payments/providers/', 'tests/domain/payments/stars.test.ts', 'tests/unit/payments/vectors.test.ts'];
const RACES = ['tests/race/provider-callbacks.race.test.ts', 'tests/race/stars-payments.race.test.ts'];

await ensureInstalled();
await ensureGenerated();
await ensureBuilt();

const serverUrl = await reachableServer();
const folder = join(root, 'node_modules', '.cache');
const output = join(folder, 'provider-table.json');
await mkdir(folder, { recursive: true });
await rm(output, { force: true });
const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${output}`];
const files = serverUrl ? [...FILES, ...RACES] : FILES;
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const code = await run(runtime(), [vitest, 'run', ...reporters, ...files], { env: { TEST_DATABASE_URL: serverUrl ?? '' } });

const { testResults } = JSON.parse(await readFile(output, 'utf8'));
const table = tableOf(testResults, { hasRaces: serverUrl !== null });
printTable(table);
if (!serverUrl) console.log('Not run, because no PostgreSQL server can be reached: the cases marked with ?.');
const missing = missingCases(table);
for (const line of missing) console.log(`No test: ${line}`);
process.exit(code !== 0 || missing.length > 0 ? 1 : 0);
