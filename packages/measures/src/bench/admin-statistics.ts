/** Statistics, networks, contests, audiences and payments of the administration on a large installation (aim: p95 of at most 50 ms each). */
import { Agent, request as send } from 'node:http';
import { closePasswordHasher, hashPassword } from '../../../../src/core/password-hasher.ts';
import { startWorker } from './child-process.ts';
import { Cleanup } from './cleanup.ts';
import { CREDENTIAL_ENVIRONMENT, makeToken, signTokens } from './credentials.ts';
import type { OutsideAnswer, OutsideOrder } from './outside-server.ts';
import { openKept, type ScratchDatabase } from './scratch-database.ts';
import { BENCH_PASSWORD } from './seed-data.ts';
import { startService } from './service.ts';
import { LatencyCounter, percentileMs } from './statistics.ts';
import { type Caller, type MeasuredRequest, type SeededIds, statisticsRequests } from './statistics-requests.ts';
import { ADMINISTRATORS, landmarks, type StatisticsSize, statisticsSeed } from './statistics-seed.ts';
import { table } from './verdict.ts';

interface Times {
  p50Ms: number;
  p95Ms: number;
}

export interface AdminStatisticsResult extends StatisticsSize {
  title: string;
  /** The very first request: what is cached afterwards is not cached yet. */
  firstMs: number;
  /** One reader, and two at the same time. */
  one: Times;
  two: Times;
  /** Of the greatest answer. */
  bytes: number;
  failures: string[];
}

export interface StatisticsRun {
  quick: boolean;
  /** A database that stays; null = one that is dropped. */
  keep: string | null;
  /** Parts of titles that are measured; empty = all. */
  match: readonly string[];
}

/** Requests of each measurement; an administrator may send 10 a minute to the whole network, and there are 400. */
const REQUESTS = 60;
/** A measurement of slow requests ends after this time, with at least so many. */
const LIMIT_MS = 6_000;
const LEAST = 8;
const PANEL_KEY = 'benchmark-panel-key';
const AIM_MS = 50;

export async function measureAdminStatistics(
  serverUrl: string,
  size: StatisticsSize,
  { quick, keep, match }: StatisticsRun,
  progress: (text: string) => void,
): Promise<AdminStatisticsResult[]> {
  const cleanup = new Cleanup();
  try {
    const opened = await openKept(keep, 'postgres', serverUrl);
    const database = cleanup.add(opened.database, (scratch) => scratch.drop());
    const outside = cleanup.add(startWorker<OutsideOrder, OutsideAnswer>('outside-server.ts'), (worker) => worker.stop());
    const { panelUrl } = await outside.ask({ start: { panelKey: PANEL_KEY } });
    const environment = {
      ...database.environment,
      ...CREDENTIAL_ENVIRONMENT,
      SANDBOX: 'on',
      VPNPANEL_API_URL: panelUrl,
      VPNPANEL_API_KEY: PANEL_KEY,
      MAINTENANCE_AUTO_ENABLE: 'false',
    };
    if (opened.isNew) await fill(database, environment, size, progress);
    const service = cleanup.add(await startService(environment), (instance) => instance.stop());
    const ids = await database.withSql((run) => readIds(run, size));
    const tokens = await signTokens(Array.from({ length: ADMINISTRATORS }, (_, index) => index + 1));
    const apiKey = await makeToken(service.url, 'benchmark');
    let turn = 0;
    const headersOf = (as: Caller): Record<string, string> => {
      turn += 1;
      if (as === 'token') return { 'x-api-key': apiKey };
      // Of ten users the third to sixth have an active subscription.
      const id = as === 'user' ? 2 + 10 * (turn % (ADMINISTRATORS / 10)) : 1 + (turn % ADMINISTRATORS);
      return { authorization: `Bearer ${tokens.get(id)}` };
    };
    const agent = cleanup.add(new Agent({ keepAlive: true }), async (connections) => connections.destroy());
    const results: AdminStatisticsResult[] = [];
    const wanted = statisticsRequests(ids).filter(
      ({ title }) => match.length === 0 || match.some((part) => title.includes(part)),
    );
    for (const measured of wanted) {
      const result = await measure(service.url, agent, measured, headersOf, quick ? LEAST : REQUESTS);
      results.push({ ...size, ...result });
      progress(rowOf(results.at(-1)!).join('  '));
    }
    return results;
  } finally {
    await cleanup.run();
  }
}

async function fill(
  database: ScratchDatabase,
  environment: Record<string, string>,
  size: StatisticsSize,
  progress: (text: string) => void,
): Promise<void> {
  const from = performance.now();
  progress(`tables and test data: ${size.users} users, ${size.transactions} transactions`);
  const first = await startService(environment);
  await first.stop();
  const passwordHash = await hashPassword(BENCH_PASSWORD);
  await closePasswordHasher();
  await database.withSql(async (run) => {
    for (const statement of statisticsSeed(size, passwordHash)) {
      const startedAt = performance.now();
      await run(statement);
      const seconds = (performance.now() - startedAt) / 1_000;
      if (seconds > 10) progress(`${seconds.toFixed(0)} s: ${statement.trim().slice(0, 60).replaceAll('\n', ' ')}`);
    }
  });
  progress(`filled in ${((performance.now() - from) / 1_000).toFixed(0)} s`);
}

type Run = (text: string) => Promise<Record<string, unknown>[]>;

async function readIds(run: Run, size: StatisticsSize): Promise<SeededIds> {
  const [row] = await run(
    `SELECT (SELECT min(id) FROM advertising_campaigns) AS campaign, (SELECT min(id) FROM referral_contests) AS contest,
       (SELECT min(id) FROM contest_rounds) AS round, (SELECT min(id) FROM contest_templates) AS template, (SELECT min(id) FROM tariffs) AS tariff`,
  );
  return {
    ...landmarks(size),
    users: size.users,
    firstCampaign: Number(row!.campaign),
    firstContest: Number(row!.contest),
    attemptedRound: Number(row!.round),
    template: Number(row!.template),
    tariff: Number(row!.tariff),
  };
}

async function measure(
  url: string,
  agent: Agent,
  { title, as, requests }: MeasuredRequest,
  headersOf: (as: Caller) => Record<string, string>,
  count: number,
): Promise<Omit<AdminStatisticsResult, keyof StatisticsSize>> {
  const failures = new Set<string>();
  let next = 0;
  let bytes = 0;
  const ask = async (): Promise<number> => {
    const planned = requests[next++ % requests.length]!;
    const answer = await timed(url + planned.path, agent, headersOf(as), planned.body);
    bytes = Math.max(bytes, answer.bytes);
    if (answer.status !== 200) failures.add(`${answer.status} ${planned.path} ${answer.text}`);
    return answer.ms;
  };
  const round = async (readers: number): Promise<Times> => {
    const counter = new LatencyCounter();
    const until = performance.now() + LIMIT_MS;
    await Promise.all(
      Array.from({ length: readers }, async () => {
        for (let sent = 0; sent < count && (sent < LEAST || performance.now() < until); sent += 1) counter.add(await ask());
      }),
    );
    const buckets = counter.buckets();
    return { p50Ms: percentileMs(buckets, 0.5), p95Ms: percentileMs(buckets, 0.95) };
  };
  const firstMs = await ask();
  // Plans and connections are those of a service that has been running.
  for (let warmUp = 0; warmUp < 4; warmUp += 1) await ask();
  const one = await round(1);
  return { title, firstMs, one, two: await round(2), bytes, failures: [...failures].slice(0, 3) };
}

interface Answer {
  status: number;
  ms: number;
  bytes: number;
  /** The beginning, of an answer other than 200. */
  text: string;
}

function timed(url: string, agent: Agent, headers: Record<string, string>, body: unknown): Promise<Answer> {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const options = {
      agent,
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    };
    const outgoing = send(url, options, (response) => {
      let [bytes, text] = [0, ''];
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (response.statusCode !== 200) text = `${text}${chunk}`.slice(0, 200);
      });
      response.on('end', () => resolve({ status: response.statusCode!, ms: performance.now() - startedAt, bytes, text }));
      response.on('error', reject);
    });
    outgoing.on('error', reject);
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const HEAD = ['Request', 'p50', 'p95', 'two: p50', 'p95', 'first', 'KiB', ''];

function rowOf({ title, one, two, firstMs, bytes, failures }: AdminStatisticsResult): string[] {
  const ms = (value: number) => value.toFixed(1);
  const isMissed = one.p95Ms > AIM_MS;
  const mark = failures.length > 0 ? 'FAILED' : isMissed ? 'MISSED' : '';
  return [title, ms(one.p50Ms), ms(one.p95Ms), ms(two.p50Ms), ms(two.p95Ms), ms(firstMs), (bytes / 1_024).toFixed(0), mark];
}

/** Milliseconds, as Markdown. */
export const adminStatisticsTable = (results: readonly AdminStatisticsResult[]): string => table(HEAD, results.map(rowOf));
