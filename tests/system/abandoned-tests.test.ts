/** What a test that runs into its time-out leaves: a run of the test runner of its own, on tests that hang and tests that follow them. */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { serverUrl } from '../support/test-database.ts';

const root = join(import.meta.dirname, '..', '..');

interface Reported {
  testResults: { assertionResults: { title: string; status: string; failureMessages: string[] }[] }[];
}

async function resultsOn(databaseUrl: string) {
  const folder = await mkdtemp(join(tmpdir(), 'abandoned-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const report = join(folder, 'report.json');
  const words = [
    '--config',
    'tests/fixtures/abandoned/runner-config.ts',
    '--root',
    '.',
    '--reporter=json',
    `--outputFile=${report}`,
  ];
  const child = spawn(process.execPath, [join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...words], {
    cwd: root,
    // Not the name of this run, whose end drops databases, and not the template's, which may be of the other database.
    env: { PATH: process.env.PATH, TEST_DATABASE_URL: databaseUrl },
    stdio: 'ignore',
  });
  await new Promise((resolve) => child.on('exit', resolve));
  const { testResults } = JSON.parse(await readFile(report, 'utf8')) as Reported;
  return testResults.flatMap(({ assertionResults }) => assertionResults);
}

test.for([...(serverUrl ? [{ name: 'PostgreSQL', url: serverUrl }] : []), { name: 'the embedded database', url: '' }])(
  'a test that runs into its time-out fails alone, on $name',
  async ({ url }) => {
    const results = await resultsOn(url);
    const [hanging, following] = [/^hangs /, /^finds /].map((beginning) => results.filter(({ title }) => beginning.test(title)));
    expect(following!.map(({ title, status, failureMessages }) => [title, status, failureMessages])).toEqual([
      ['finds the table without a lock and the row unchanged', 'passed', []],
      ['finds no statement of an abandoned test', 'passed', []],
      ['finds no process of an abandoned test', 'passed', []],
    ]);
    // One hangs on a server only.
    expect(hanging!.filter(({ status }) => status === 'failed')).toHaveLength(url === '' ? 4 : 5);
  },
);
