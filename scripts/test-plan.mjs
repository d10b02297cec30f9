// Which tests run where: read by `npm test`, `npm run test:quick` and `npm run test:hunt`. docs/testing.md explains it.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './prepare.mjs';

/** Folders of the tests that send SQL. */
export const ON_A_DATABASE = ['tests/domain/', 'tests/api/', 'tests/contract/', 'tests/realtime/'];
/** Requests that are refused before any SQL of an operation: on one database only, the server where there is one, because it is faster. */
export const BEFORE_ANY_SQL = ['tests/protocol/'];

/**
 * Files and folders whose subject differs between the two databases, with the difference: all of them run on both. Every other file runs on
 * PostgreSQL and, one in `ONE_FILE_IN`, on the embedded database. `npm run test:all` runs everything on both.
 */
export const DIFFERS = [
  ['tests/domain/core/', 'drivers, transactions, migrations, triggers, notices and errors of the database'],
  ['tests/domain/backups/', 'COPY and its text, snapshots, sequences, types of values'],
  ['tests/api/backups.test.ts', 'locks of the session, restore into the open database'],
  ['tests/domain/jobs/', 'the job queue: scripts of several statements, claims of jobs'],
  ['tests/domain/ops/', 'vacuum, long statements outside of transactions, health of the connection'],
  ['tests/domain/media/', 'the purge, whose work is long and has a lock of its own'],
  ['tests/domain/insight/', 'days and months in a time zone, sums as numbers'],
  ['tests/domain/settings/', 'values as JSON'],
  ['tests/domain/audience/', 'conditions that are put together at run time'],
  ['tests/domain/ledger/', 'deferred constraints, amounts as big integers, triggers of the balance'],
  ['tests/domain/users/', 'search with collation, lists by timestamps'],
  ['tests/domain/webhooks/', 'jobs sent within a transaction'],
  ['tests/realtime/feeds.test.ts', 'events without notices of the database'],
  ['tests/realtime/resume.test.ts', 'order of the events, read from the table'],
  ['tests/api/database-away.test.ts', 'errors of a database that is away'],
  ['tests/api/request-times.test.ts', 'timestamps of a request, to the microsecond'],
];
/** One of so many of the other files runs on the embedded database, too. */
const ONE_FILE_IN = 8;

/** Paths of the test files below these folders or of these names, with slashes, relative to the root. */
export function testFilesOf(paths) {
  return paths
    .flatMap((path) => (path.endsWith('/') ? filesBelow(path) : [path].filter((file) => existsSync(join(root, file)))))
    .filter((path) => path.endsWith('.test.ts') && !path.endsWith('.iso.test.ts'))
    .sort();
}

function filesBelow(folder) {
  const names = readdirSync(join(root, folder), { recursive: true });
  return names.map((name) => `${folder}${name.replaceAll('\\', '/')}`);
}

/** Every file on the subject of a difference, and a sample of the others that this seed chooses. */
export function filesForBothDatabases(seed) {
  const differing = new Set(testFilesOf(DIFFERS.map(([path]) => path)));
  // The large matrices already are samples, and the same cases have run on the server.
  const others = testFilesOf(ON_A_DATABASE).filter((path) => !differing.has(path) && !path.startsWith('tests/contract/'));
  const rank = (path) => createHash('sha1').update(`${seed} ${path}`).digest('hex');
  const sample = [...others].sort((a, b) => (rank(a) < rank(b) ? -1 : 1)).slice(0, Math.ceil(others.length / ONE_FILE_IN));
  return { differing: [...differing], sample: sample.sort() };
}
