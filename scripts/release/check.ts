/**
 * Everything that must hold before a version is released (docs/releases.md): goes on after a failure, and prints a table of the steps.
 *   npm run release:check
 *   npm run release:check -- --offline     without the question for known vulnerabilities, which needs the registry
 * Needs PostgreSQL (TEST_DATABASE_URL or DATABASE_URL), and for the image what scripts/release/image.ts names.
 */
import { spawn } from 'node:child_process';
import { findServer } from '../../packages/measures/src/bench/scratch-database.ts';
import { table } from '../../packages/measures/src/bench/verdict.ts';
import { projectRoot } from '../checks/source-files.ts';
import { versionProblems } from './versions.ts';

interface Outcome {
  isOk: boolean;
  output: string;
}

/** Of the output of a step. */
const SHOWN_LINES = 25;

const isOffline = process.argv.includes('--offline');
const server = await findServer(process.env);

const STEPS: readonly (readonly [name: string, run: () => Promise<Outcome>])[] = [
  ['versions, changelog and dumps agree', async () => outcomeOf(versionProblems(projectRoot))],
  ['working tree as committed', async () => outcomeOf((await run('git', ['status', '--porcelain'])).output.split('\n'))],
  ['build', () => npm('build')],
  ['client package', () => npm('check:client')],
  ['bill of materials', () => npm('sbom')],
  ...(isOffline ? [] : [['known vulnerabilities', () => npm('audit:production')] as const]),
  ['image', () => run('node', ['scripts/on-runtime.mjs', 'scripts/release/image.ts'])],
  ['upgrade of each kept dump', upgradeDumps],
];

const rows: string[][] = [];
for (const [name, check] of STEPS) {
  const startedAt = performance.now();
  const { isOk, output } = await check();
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  rows.push([name, isOk ? 'ok' : 'FAILED', `${seconds} s`]);
  console.log(
    `=== ${name}: ${isOk ? 'ok' : 'FAILED'} (${seconds} s)\n${output.trimEnd().split('\n').slice(-SHOWN_LINES).join('\n')}`,
  );
}
if (isOffline) rows.push(['known vulnerabilities', 'left out', '--offline']);
console.log(`\n${table(['Step', 'Result', 'Time'], rows)}`);
process.exit(rows.some(([, result]) => result === 'FAILED') ? 1 : 0);

function outcomeOf(problems: readonly string[]): Outcome {
  const lines = problems.filter((line) => line !== '');
  return { isOk: lines.length === 0, output: lines.join('\n') };
}

function npm(script: string): Promise<Outcome> {
  return run('npm', ['run', script]);
}

/** The test leaves itself out without a server, which is not enough here. */
async function upgradeDumps(): Promise<Outcome> {
  if (server === null)
    return { isOk: false, output: 'No PostgreSQL at TEST_DATABASE_URL or DATABASE_URL lets databases be made.' };
  return run('node', ['scripts/test.mjs', 'tests/system/release-upgrade.test.ts']);
}

function run(program: string, words: readonly string[]): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = spawn(program, words, { cwd: projectRoot, env: { ...process.env, TEST_DATABASE_URL: server ?? '' } });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (part: string) => {
        output += part;
      });
    child.on('error', (error) => resolve({ isOk: false, output: String(error) }));
    child.on('close', (code) => resolve({ isOk: code === 0, output }));
  });
}
