/** Memory of one instance in production mode: idle, under mixed load over 16 connections, and after a rest. */
import { setTimeout as wait } from 'node:timers/promises';
import { closePasswordHasher, hashPassword } from '../../../../src/core/password-hasher.ts';
import { processorSeconds, residentMiB } from './child-process.ts';
import { Cleanup } from './cleanup.ts';
import { CREDENTIAL_ENVIRONMENT, makeToken, signTokens } from './credentials.ts';
import { readFacts, startGenerator } from './lab.ts';
import type { LoadResult, PlannedRequest, RequestPlan } from './load-generator.ts';
import { logins } from './paths.ts';
import { createScratch, type ScratchDatabase } from './scratch-database.ts';
import { BENCH_PASSWORD, seedStatements } from './seed-data.ts';
import { type MeasuredService, startService } from './service.ts';
import { table, type Verdict, verdictOf, withUnit } from './verdict.ts';

interface MemoryReading {
  at: string;
  /** MiB, as all that follow. */
  resident: number;
  heapUsed: number;
  heapTotal: number;
  external: number;
  arrayBuffers: number;
}

export interface MemoryResult {
  readings: MemoryReading[];
  requests: number;
  requestsPerSecond: number;
  /** Processor time of the service, background work included, by its answered requests. */
  cpuMicros: number;
  failures: number;
  /** Status codes seen other than 2xx. */
  statuses: Record<string, number>;
}

export interface MemoryOptions {
  /** Of the mixed load. */
  minutes: number;
  /** Before the load. */
  idleSeconds: number;
  /** After the load. */
  restSeconds: number;
  /** Folder of the measured build, relative to the project; `dist` unless given, to compare two builds. */
  build: string;
}

const USERS = 5_000;
const MINUTE = 60;
/** Secrets of production must not look like examples; these protect a database that is dropped. */
const PRODUCTION = {
  ...CREDENTIAL_ENVIRONMENT,
  NODE_ENV: 'production',
  METRICS_TOKEN: 'loopback-metrics-loopback-metrics-loopback',
  WEB_API_TOKEN_HMAC_SECRET: 'loopback-tokens-loopback-tokens-loopback',
  // The limits of sign-in are by address: the load names many in the header of a proxy.
  CABINET_TRUSTED_PROXIES: '127.0.0.1',
};
const MARK = 'MEMORY ';
/** Answers SIGUSR2 with what only the process itself knows. */
const REPORTER = `process.on('SIGUSR2', () => console.error('${MARK}' + JSON.stringify(process.memoryUsage())))`;

export interface MixedLoad {
  service: MeasuredService;
  database: ScratchDatabase;
  /** Plans of the load, made when the service has been idle for long enough. */
  plans(): Promise<Load[]>;
}

/**
 * One instance in production mode on a new database with test data.
 * @param cleanup ends the instance and drops the database
 * @throws Error when the service does not get ready
 */
export async function openMixedLoad(
  serverUrl: string,
  build: string,
  cleanup: Pick<Cleanup, 'add'>,
  progress: (text: string) => void,
): Promise<MixedLoad> {
  const database = cleanup.add(await createScratch('postgres', serverUrl), (scratch) => scratch.drop());
  const environment = { ...database.environment, ...PRODUCTION };
  progress('tables and test data');
  await (await startService(environment)).stop();
  const passwordHash = await hashPassword(BENCH_PASSWORD);
  await closePasswordHasher();
  const facts = await database.withSql(async (run) => {
    const size = { users: USERS, transactions: USERS * 5, withLedger: true };
    for (const statement of seedStatements(size, passwordHash)) await run(statement);
    await run(`UPDATE admin_roles SET permissions = '["users:read", "stats:read", "sales_stats:read"]' WHERE name = 'Benchmark'`);
    return readFacts(run);
  });
  const nodeOptions = ['--import', `data:text/javascript,${encodeURIComponent(REPORTER)}`];
  const service = cleanup.add(await startService(environment, nodeOptions, build), (started) => started.stop());
  const plans = async () =>
    mixedLoad(await makeToken(service.url, 'memory'), await signTokens([...facts.userIds, facts.adminId]), facts);
  return { service, database, plans };
}

/** @throws Error when the service does not get ready */
export async function measureMemory(
  serverUrl: string,
  options: MemoryOptions,
  progress: (text: string) => void,
): Promise<MemoryResult> {
  const cleanup = new Cleanup();
  try {
    const { service, plans: planned } = await openMixedLoad(serverUrl, options.build, cleanup, progress);
    const readings: MemoryReading[] = [];
    const read = async (at: string) => {
      const reading = { at, ...(await readMemory(service)) };
      readings.push(reading);
      progress(`${at}: ${reading.resident.toFixed(0)} MiB`);
    };
    await read('after start');
    await wait(options.idleSeconds * 1000);
    await read(`idle ${options.idleSeconds} s`);

    const plans = await planned();
    const generators = plans.map(() => cleanup.add(startGenerator(), (worker) => worker.stop()));
    const results: LoadResult[] = [];
    const cpuBefore = processorSeconds(service.pid) ?? Number.NaN;
    for (let minute = 1; minute <= options.minutes; minute += 1) {
      const minuteOf = plans.map((plan, index) => generators[index]!.ask({ ...plan, url: service.url, seconds: MINUTE }));
      results.push(...(await Promise.all(minuteOf)));
      await read(`load ${minute} min`);
    }
    const cpu = (processorSeconds(service.pid) ?? Number.NaN) - cpuBefore;
    await wait(options.restSeconds * 1000);
    await read(`rest ${options.restSeconds} s`);
    const requests = results.reduce((sum, result) => sum + result.requests, 0);
    return {
      readings,
      requests,
      requestsPerSecond: requests / (options.minutes * MINUTE),
      cpuMicros: (cpu * 1e6) / Math.max(1, requests),
      failures: results.reduce((sum, result) => sum + result.failures, 0),
      statuses: sumOf(results.map((result) => result.statuses)),
    };
  } finally {
    await cleanup.run();
  }
}

async function readMemory(service: MeasuredService): Promise<Omit<MemoryReading, 'at'>> {
  const linesOf = () => service.log.filter((line) => line.startsWith(MARK));
  const before = linesOf().length;
  process.kill(service.pid, 'SIGUSR2');
  while (linesOf().length === before) await wait(20);
  const { heapUsed, heapTotal, external, arrayBuffers } = JSON.parse(linesOf().at(-1)!.slice(MARK.length)) as Record<
    string,
    number
  >;
  const mib = (bytes: number | undefined) => (bytes ?? Number.NaN) / 1024 ** 2;
  return {
    resident: residentMiB(service.pid) ?? Number.NaN,
    heapUsed: mib(heapUsed),
    heapTotal: mib(heapTotal),
    external: mib(external),
    arrayBuffers: mib(arrayBuffers),
  };
}

export type Load = { connections: number; rate?: number; requests: RequestPlan };

/** Sixteen connections: lists and single entries, statistics, writes, and a sign-in by password each second. */
function mixedLoad(
  token: string,
  tokens: ReadonlyMap<number, string>,
  facts: { userIds: readonly number[]; emails: readonly string[]; adminId: number },
): Load[] {
  const operator = { 'x-api-key': token, 'content-type': 'application/json' };
  const as = (id: number) => ({ authorization: `Bearer ${tokens.get(id)}` });
  const byToken = (paths: readonly string[]): PlannedRequest[] => paths.map((path) => ({ path, headers: operator }));
  const reads = facts.userIds
    .slice(0, 50)
    .flatMap((id) => [
      ...byToken([`/users/${id}`, ...WEB_LISTS]),
      ...CABINET_READS.map((path) => ({ path, headers: as(id) })),
      { path: '/cabinet/admin/users?limit=50', headers: as(facts.adminId) },
    ]);
  const statistics = [
    ...byToken(['/stats/overview', '/stats/full']),
    ...ADMIN_STATISTICS.map((path) => ({ path, headers: as(facts.adminId) })),
  ];
  const body = JSON.stringify({ amount_kopeks: 100, description: 'Benchmark' });
  const writes = facts.userIds.map((id) => ({ path: `/users/${id}/balance`, headers: operator, body }));
  return [
    { connections: 11, requests: { method: 'GET', items: reads } },
    { connections: 1, requests: { method: 'GET', items: statistics } },
    { connections: 3, requests: { method: 'POST', withKey: true, items: writes } },
    { connections: 1, rate: 1, requests: logins(facts.emails, '/cabinet/auth/email/login') },
  ];
}

const WEB_LISTS = [
  '/users?limit=50',
  '/users?limit=20&search=anna',
  '/transactions?limit=50',
  '/subscriptions?limit=50',
  '/tickets?limit=20',
  '/promo-codes?limit=20',
  '/servers',
  '/settings',
];
const CABINET_READS = ['/cabinet/auth/me', '/cabinet/balance', '/cabinet/balance/transactions', '/cabinet/subscription'];
const ADMIN_STATISTICS = [
  '/cabinet/admin/stats/dashboard',
  '/cabinet/admin/stats/sales/summary?days=30',
  '/cabinet/admin/stats/sales/renewals?days=90',
];

function sumOf(counts: readonly Record<string, number>[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const [name, count] of counts.flatMap(Object.entries)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

const AIMS = { idle: { atMost: 220 }, load: { atMost: 320 } };

export function memoryVerdicts(results: readonly MemoryResult[]): Verdict[] {
  const most = (readings: readonly MemoryReading[], kind: string) =>
    Math.max(...readings.filter(({ at }) => at.startsWith(kind)).map(({ resident }) => resident));
  return results.flatMap(({ readings }) => [
    verdictOf('memory, idle in production', most(readings, 'idle'), AIMS.idle, withUnit(0, ' MiB')),
    verdictOf('memory, during mixed load', most(readings, 'load'), AIMS.load, withUnit(0, ' MiB')),
  ]);
}

export function memoryFaults(results: readonly MemoryResult[]): string[] {
  return results
    .filter(({ failures }) => failures > 0)
    .map(({ failures, statuses }) => `memory: ${failures} failures ${JSON.stringify(statuses)}`);
}

export function memoryTable(result: MemoryResult): string {
  const columns = ['resident', 'heapUsed', 'heapTotal', 'external', 'arrayBuffers'] as const;
  const rows = result.readings.map((reading) => [reading.at, ...columns.map((column) => reading[column].toFixed(0))]);
  const { requests, requestsPerSecond, cpuMicros } = result;
  return `${table(['Memory, MiB', 'RSS', 'Heap used', 'Heap total', 'External', 'Array buffers'], rows)}

${requests} requests, ${requestsPerSecond.toFixed(0)}/s, ${cpuMicros.toFixed(0)} µs of processor time each`;
}
