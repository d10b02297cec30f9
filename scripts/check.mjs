// npm run check: everything that is checked without running a test, two at a time, with what each printed when it is over. Goes on after a
// failure, and names what failed at its end.
//   npm run check -- --all    also what takes minutes: the contract, the document, the client package, what nothing uses, the migrations
import { spawn } from 'node:child_process';
import { root } from './prepare.mjs';

/** Begun first: they are the longest. */
const LONG = ['check:types', 'check:style', 'check:sql'];
const QUICK = ['structure', 'words', 'tests', 'spec', 'catches', 'migrations', 'events', 'configuration', 'schema', 'licences'];
const OF_ALL = ['check:unused', 'check:client', 'check:contract', 'check:document', 'db:diff', 'measure:structure'];
const AT_ONCE = 2;

const waiting = [...LONG, ...(process.argv.includes('--all') ? OF_ALL : []), ...QUICK.map((name) => `check:${name}`)];
const failed = [];
await Promise.all(Array.from({ length: AT_ONCE }, checkWaiting));
for (const name of failed) console.log(`Failed: npm run ${name}`);
process.exit(failed.length > 0 ? 1 : 0);

async function checkWaiting() {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    const startedAt = performance.now();
    const { code, output } = await collected(name);
    if (code !== 0) failed.push(name);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
    console.log(`=== ${name}: ${code === 0 ? 'ok' : 'FAILED'} (${seconds} s)\n${output.trimEnd()}`);
  }
}

function collected(name) {
  return new Promise((resolve, reject) => {
    const child = spawn('npm', ['run', '--silent', name], { cwd: root, shell: process.platform === 'win32' });
    const parts = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => parts.push(part));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code: code ?? 1, output: Buffer.concat(parts).toString() }));
  });
}
