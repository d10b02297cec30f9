// Which tests run where: read by `npm test`, `npm run test:quick` and `npm run test:hunt`. docs/testing.md explains it.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './prepare.mjs';
import { freeConnections } from './reachable-server.mjs';

/** Where 20 connections are free: the workers of each project, and how many a tested process may use. */
const FEW_CONNECTIONS = { SERVICE_WORKERS: '2', RACE_WORKERS: '1', SYSTEM_WORKERS: '1', SERVICE_POOL_SIZE: '5' };

/** Of a server where each round may have all its workers; two of races have used 65. */
const CONNECTIONS_OF_MANY_WORKERS = 90;

/** @returns as environment: the workers for which the free connections of this server are enough; without a server nothing */
export async function workersOn(url) {
  if (!url) return {};
  const isMany = (await freeConnections(url)) >= CONNECTIONS_OF_MANY_WORKERS;
  return isMany ? { SERVICE_WORKERS: '3', RACE_WORKERS: '2' } : FEW_CONNECTIONS;
}

/** Folders of the tests that send SQL. */
export const ON_A_DATABASE = ['tests/domain/', 'tests/api/', 'tests/contract/', 'tests/realtime/'];
/** Requests that are refused before any SQL of an operation: on one database only, the server where there is one, because it is faster. */
export const BEFORE_ANY_SQL = ['tests/protocol/'];

/**
 * Files and folders whose subject differs between the two databases, with the difference: all of them run on both. Every other file runs on
 * PostgreSQL, and a sample of them on the embedded database. Without a server, all of them run there.
 */
export const DIFFERS = [
  ['tests/domain/core/', 'drivers, transactions, migrations, triggers, notices and errors of the database'],
  ['tests/domain/backups/exact-values.test.ts', 'COPY and its text, types of values'],
  ['tests/domain/backups/round-trip.test.ts', 'snapshots, sequences, a whole restore'],
  ['tests/domain/backups/waiting-jobs.test.ts', 'the copy of the job queue'],
  ['tests/domain/jobs/', 'the job queue: scripts of several statements, claims of jobs'],
  ['tests/domain/ops/purge.test.ts', 'vacuum, long statements outside of transactions'],
  ['tests/domain/media/purge.test.ts', 'the purge, whose work is long and has a lock of its own'],
  ['tests/domain/insight/sales-stats.test.ts', 'days and months in a time zone, sums as numbers'],
  ['tests/domain/settings/', 'values as JSON'],
  ['tests/domain/audience/', 'conditions that are put together at run time'],
  ['tests/domain/ledger/', 'deferred constraints, amounts as big integers, triggers of the balance'],
  ['tests/domain/users/deep-pages.test.ts', 'search with collation, lists by timestamps'],
  ['tests/domain/webhooks/deliver-webhook.test.ts', 'jobs sent within a transaction'],
  ['tests/realtime/feeds.test.ts', 'events without notices of the database'],
  ['tests/api/database-away.test.ts', 'errors of a database that is away'],
  ['tests/api/request-times.test.ts', 'timestamps of a request, to the microsecond'],
];
/** One of so many of the other files runs on the embedded database, too: in `npm test`, and in `npm run test:all`. */
const ONE_FILE_IN = 128;
const ONE_FILE_IN_ALL = 12;
/** Of the files on a difference `npm test` runs one in so many, `npm run test:all` all of them. */
const ONE_DIFFERING_FILE_IN = 3;

/** Start and stop of the service: every run of `npm test`. */
const PROCESSES_ALWAYS = ['tests/system/start-stop.test.ts'];
/** Of the races, which run beside each other for minutes, one in so many. */
const ONE_RACE_IN = 6;
/** Of the other tests of processes, which are drills of a minute or more, one in so many. */
const ONE_DRILL_IN = 10;

/**
 * Long ones on subjects that seldom change, of each group files of about the same length: `npm run test:all` runs one in three of each group,
 * chosen by the seed, `-- --every` all. Their sum would be half of its time. Those of processes are not in `npm test`.
 */
const LONG_FILES = [
  ['tests/domain/import/'],
  // A replicated database is started and killed for minutes.
  ['tests/system/failover.test.ts', 'tests/system/import-command.test.ts', 'tests/system/import-kills.race.test.ts'],
  ['tests/system/panel-of-20000.test.ts', 'tests/system/point-in-time-recovery.test.ts', 'tests/system/backup-kill.race.test.ts'],
  [
    'tests/system/mass-send-kills.race.test.ts',
    'tests/system/pinned-message-kills.race.test.ts',
    'tests/system/db-move.race.test.ts',
  ],
  ['tests/system/demo.test.ts', 'tests/system/clock-jumps.test.ts'],
  ['tests/system/two-instances.test.ts', 'tests/system/rolling-restart.test.ts', 'tests/system/bad-partners.test.ts'],
];
const ONE_LONG_FILE_IN = 3;
/**
 * Of each group of the project `service` `npm test` runs one file in so many; all of the other folders, as those of the domain on money, access,
 * identity, subscriptions and the core.
 */
const SAMPLED_GROUPS = [
  // Whole databases are copied.
  { paths: ['tests/domain/import/'], oneIn: 8 },
  { paths: ['tests/domain/backups/'], oneIn: 8 },
  { paths: ['tests/api/'], oneIn: 3 },
  { paths: ['tests/realtime/'], oneIn: 3 },
  ...['provisioning', 'panel-events', 'broadcasts', 'pinned-messages', 'insight', 'referrals', 'engagement', 'promo', 'ops'].map(
    (name) => ({ paths: [`tests/domain/${name}/`], oneIn: 3 }),
  ),
];

/** Files that `npm run test:all` leaves out this time, or `npm test`. */
export function filesLeftOut(seed, { isWhole }) {
  const groups = isWhole ? LONG_FILES.map((paths) => ({ paths, oneIn: ONE_LONG_FILE_IN })) : SAMPLED_GROUPS;
  return groups.flatMap(({ paths, oneIn }) => {
    const files = testFilesOf(paths);
    const chosen = new Set(chosenBy(seed, files, oneIn));
    return files.filter((path) => !chosen.has(path));
  });
}

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

/** The files on the subject of a difference, for `npm test` a part of them, and a sample of the others that this seed chooses. */
export function filesForBothDatabases(seed, { isWhole = false } = {}) {
  const all = testFilesOf(DIFFERS.map(([path]) => path));
  const differing = new Set(all);
  // The cases of the large matrices are of operations, and run on the server.
  const others = testFilesOf(ON_A_DATABASE).filter((path) => !differing.has(path) && !path.startsWith('tests/contract/'));
  return {
    differing: isWhole ? all : chosenBy(seed, all, ONE_DIFFERING_FILE_IN),
    sample: chosenBy(seed, others, isWhole ? ONE_FILE_IN_ALL : ONE_FILE_IN),
  };
}

/** Tests of processes of one `npm test`: those that always run, and a sample of the others that this seed chooses. */
export function filesOfProcesses(seed) {
  const elsewhere = [...PROCESSES_ALWAYS, ...LONG_FILES.flat()];
  const others = testFilesOf(['tests/system/']).filter((path) => !elsewhere.includes(path));
  return [...PROCESSES_ALWAYS, ...chosenBy(seed, others, ONE_DRILL_IN)];
}

/** Races of one `npm test`, a sample that this seed chooses. */
export function filesOfRaces(seed) {
  return chosenBy(seed, testFilesOf(['tests/race/']), ONE_RACE_IN);
}

function chosenBy(seed, paths, oneIn) {
  const rank = (path) => createHash('sha1').update(`${seed} ${path}`).digest('hex');
  const ranked = [...paths].sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
  return ranked.slice(0, Math.ceil(paths.length / oneIn)).sort();
}
