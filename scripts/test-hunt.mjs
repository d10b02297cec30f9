// npm run test:hunt: repeats the suite in random order on a busy machine for an hour, then prints what was not stable, with the seeds that
// repeat it. Exit code 1 if anything failed.
//   npm run test:hunt -- --minutes=10 --busy=8 --free=20 --project=race
//     busy   processes that compute meanwhile
//     free   connections that the tests may use; all others of the server are taken. Left out: the server's own limit
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureBuilt, ensureGenerated, ensureInstalled, root, run, runtime } from './prepare.mjs';
import { freeConnections, reachableServer } from './reachable-server.mjs';
import { BEFORE_ANY_SQL, ON_A_DATABASE, testFilesOf, workersOn } from './test-plan.mjs';

const given = Object.fromEntries(process.argv.slice(2).map((word) => word.replace(/^--/, '').split('=')));
const minutes = Number(given.minutes ?? 60);
const busy = Number(given.busy ?? 8);
/** Files of one round: a run ends between two rounds, and each test of the project `system` takes minutes. */
const filesARound = (project) => (project === 'system' ? 3 : 25);

await ensureInstalled();
await ensureGenerated();
await ensureBuilt();
const serverUrl = await reachableServer();

const isIsolated = (path) => path.endsWith('.iso.test.ts');
const service = testFilesOf([...ON_A_DATABASE, ...BEFORE_ANY_SQL]);
/** By project and database; a pass goes through all of them. */
const suites = [
  { project: 'unit', url: '', files: testFilesOf(['tests/unit/']).filter((path) => !isIsolated(path)) },
  { project: 'service', url: '', files: service },
  ...(serverUrl
    ? [
        { project: 'service', url: serverUrl, files: service },
        { project: 'race', url: serverUrl, files: testFilesOf(['tests/race/']) },
      ]
    : []),
  { project: 'system', url: serverUrl ?? '', files: testFilesOf(['tests/system/']) },
].filter(({ project }) => given.project === undefined || given.project === project);
if (suites.length === 0) throw new Error(`no project ${given.project} can run here`);

const deadline = performance.now() + minutes * 60_000;
const load = Array.from({ length: busy }, () => spawn(process.execPath, ['-e', 'for (;;) Math.random();'], { stdio: 'ignore' }));
const endLoad = () => {
  for (const child of load) child.kill('SIGKILL');
};
process.on('exit', endLoad);
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    // What was found so far is not lost when the hour is cut short.
    summarize();
    process.exit(130);
  });
}
const release = given.free === undefined || !serverUrl ? async () => undefined : await leaveFree(serverUrl, Number(given.free));
const workers = await workersOn(serverUrl);

const failures = new Map();
let rounds = 0;
let passes = 0;
while (performance.now() < deadline) {
  const rest = shuffled(suites.flatMap(chunks));
  while (rest.length > 0 && performance.now() < deadline) await round(rest.pop());
  if (rest.length === 0) passes += 1;
}
endLoad();
await release();
summarize();
process.exit(failures.size === 0 ? 0 : 1);

function summarize() {
  console.log(`\n${rounds} rounds, ${passes} whole passes, ${busy} busy processes, ${minutes} minutes.`);
  for (const [line, repeats] of failures) console.log(`NOT STABLE ${line}\n  ${repeats.length} times; repeat: ${repeats[0]}`);
  if (failures.size === 0) console.log('Everything was stable.');
}

async function round({ project, url, files }) {
  const seed = randomInt(2 ** 31);
  const list = join(root, 'node_modules', '.cache', `hunt-${process.pid}.txt`);
  await mkdir(join(list, '..'), { recursive: true });
  const env = {
    TEST_SEED: String(seed),
    PROPERTY_SEED: String(seed),
    TEST_SHUFFLE_FILES: '1',
    TEST_DATABASE_URL: url,
    FAILURE_LIST: list,
    ...workers,
  };
  const reporters = ['--reporter=dot', `--reporter=${join(root, 'scripts', 'failure-list.mjs')}`];
  console.log(
    `\n=== ${project} on ${url === '' ? 'the embedded database' : 'PostgreSQL'}, ${files.length} files, seed ${seed} ===`,
  );
  const words = ['run', ...reporters, '--project', project, ...files];
  const code = await run(runtime(), [join(root, 'node_modules', 'vitest', 'vitest.mjs'), ...words], { env });
  const lines = (await readFile(list, 'utf8').catch(() => '')).split('\n').filter(Boolean);
  await rm(list, { force: true });
  rounds += 1;
  if (code !== 0 && lines.length === 0) lines.push(`[${project}] the run ended with ${code}`);
  const repeat = `TEST_SEED=${seed} PROPERTY_SEED=${seed} TEST_SHUFFLE_FILES=1 TEST_DATABASE_URL=${url} npm test -- --project ${project} ${files.join(' ')}`;
  for (const line of lines) {
    console.log(`NOT STABLE ${line}`);
    failures.set(line, [...(failures.get(line) ?? []), repeat]);
  }
}

function chunks({ files, ...suite }) {
  const order = shuffled(files);
  const size = filesARound(suite.project);
  const starts = Array.from({ length: Math.ceil(order.length / size) }, (_, index) => index * size);
  return starts.map((start) => ({ ...suite, files: order.slice(start, start + size) }));
}

function shuffled(list) {
  const order = [...list];
  for (let last = order.length - 1; last > 0; last--) {
    const other = randomInt(last + 1);
    [order[last], order[other]] = [order[other], order[last]];
  }
  return order;
}

/** Occupies all connections of the server but this many. @returns a function that ends them */
async function leaveFree(url, free) {
  const { default: pg } = await import('pg');
  const open = async () => {
    const client = new pg.Client({ connectionString: url, application_name: 'test-hunt' });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  };
  const all = await freeConnections(url);
  const taken = [];
  while (taken.length <= all - free) taken.push(await open());
  return () => Promise.all(taken.map((client) => client.end()));
}
