/**
 * Fills a new database through the service and keeps its dump with the facts that a later release must find again (docs/releases.md).
 *   npm run release:dump                                                of this checkout, by its version
 *   npm run release:dump -- --checkout FOLDER --version NAME            of another built checkout
 *   npm run release:dump -- --people N
 * Needs PostgreSQL (TEST_DATABASE_URL or DATABASE_URL; a database of its own is made and dropped) and pg_dump.
 */
import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import pg from 'pg';
import { createScratch, findServer } from '../../packages/measures/src/bench/scratch-database.ts';
import { type ServiceProcess, startServiceProcess } from '../../packages/measures/src/demo/service-process.ts';
import { projectRoot } from '../checks/source-files.ts';
import { askAll } from './asked-answers.ts';
import { RELEASE_ENVIRONMENT, type ReleaseFacts } from './release-facts.ts';
import { ADMINISTRATOR, makePast } from './release-past.ts';
import { readStoredFacts } from './stored-facts.ts';

const DAYS = 45;
const SEED = 1;

const { values } = parseArgs({
  options: { checkout: { type: 'string' }, version: { type: 'string' }, people: { type: 'string', default: '120' } },
});
const checkout = values.checkout ?? projectRoot;
const people = Number(values.people);
const version = values.version ?? JSON.parse(await readFile(join(checkout, 'package.json'), 'utf8')).version;
const server = await findServer(process.env);
if (server === null) throw new Error('No PostgreSQL at TEST_DATABASE_URL or DATABASE_URL lets databases be made');
const database = await createScratch('postgres', server);
const dataDir = database.environment.DATA_DIR!;
let service: ServiceProcess | null = null;
try {
  const environment = { ...database.environment, ...RELEASE_ENVIRONMENT };
  const isFilled = fill(environment);
  service = await startServiceProcess({ environment, dataDir, checkout });
  const { email, password } = ADMINISTRATOR;
  command(['admin', 'create', email, '--password', password], environment);
  const past = await makePast(service.url, service.apiToken!, people);
  const answers = await askAll(service.url, past.credentials, new Date().toISOString());
  await service.stop();
  const client = new pg.Client({ connectionString: database.url! });
  await client.connect();
  const stored = await readStoredFacts(client);
  await client.end();
  const dumpedAt = new Date().toISOString();
  const migrations = (await readdir(join(checkout, 'prisma', 'migrations'))).filter((name) => /^\d/.test(name)).sort();
  const facts: ReleaseFacts = { version, dumpedAt, lastMigration: migrations.at(-1)!, ...past, answers, stored };
  const folder = join(projectRoot, 'tests', 'releases', version);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'facts.json.gz'), gzipSync(JSON.stringify(facts), { level: 9 }));
  const dump = gzipSync(dumpOf(database.url!), { level: 9 });
  await writeFile(join(folder, 'dump.sql.gz'), dump);
  const { users, subscriptions, payments, transactions, domain_events: events } = stored.rows;
  console.log(JSON.stringify({ version, isFilled, bytes: dump.length, users, subscriptions, payments, transactions, events }));
} finally {
  await service?.kill();
  await database.drop();
}

/** Fills the database with the past of a sandbox. @returns false where the release has no such command */
function fill(environment: Record<string, string>): boolean {
  const words = ['sandbox', 'fill', '--users', String(people), '--days', String(DAYS), '--seed', String(SEED)];
  return command(words, environment);
}

/** @returns false where the release has no such command */
function command(words: readonly string[], environment: Record<string, string>): boolean {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(checkout, 'dist', 'cli.js'), ...words], {
    cwd: dataDir,
    encoding: 'utf8',
    env: { PATH: process.env.PATH ?? '', ...environment },
  });
  // 2 = not understood.
  if (status !== 0 && status !== 2) throw new Error(`${words.join(' ')}: ${stdout}${stderr}`);
  return status === 0;
}

/** As INSERT statements, so that a restore needs no program of PostgreSQL. */
function dumpOf(url: string): string {
  const options = ['--no-owner', '--no-privileges', '--rows-per-insert=500', `--dbname=${url}`];
  const { status, stdout, stderr } = spawnSync('pg_dump', options, { encoding: 'utf8', maxBuffer: 1 << 28 });
  if (status !== 0) throw new Error(`pg_dump: ${stderr}`);
  // Commands of psql, with which newer releases of pg_dump enclose the text.
  return stdout.replace(/^\\(?:un)?restrict .*\n/gm, '');
}
