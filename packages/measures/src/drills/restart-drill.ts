/** Both instances behind a balancer are restarted one after the other while clients send requests that nobody repeats. */
import { setTimeout as wait } from 'node:timers/promises';
import { findDrillServer } from '../bench/scratch-database.ts';
import { proveInstances, renderErrors } from './answer-proof.ts';
import { type Balancer, findBalancer, startBalancer } from './balancer.ts';
import { proveSockets, readLastEvent, waitForSockets } from './event-proof.ts';
import { FaultLog } from './fault-log.ts';
import { type Fixture, openFixture } from './fixture.ts';
import { proveMoney, readMoneyBefore } from './money-proof.ts';
import { descriptionOf } from './movement-check.ts';
import type { DrillOptions } from './options.ts';
import { countsText, type DrillReport, textTable } from './report.ts';
import { type Answer, createRequester } from './requester.ts';
import { createRandom, type SeededRandom } from './seeded-random.ts';
import { renderSockets } from './socket-table.ts';
import { openWatchers } from './watchers.ts';
import { WriteBook } from './write-book.ts';

type RestartOptions = Omit<Extract<DrillOptions, { drill: 'restart' }>, 'drill'>;

const CLIENTS = 20;
const PAUSE_MS = 60;
const DRAIN_MS = 3_000;
const ANSWER_LIMIT_MS = 30_000;
const SETTLE_MS = 30_000;

interface Traffic {
  failures: string[];
  statuses: Map<number, number>;
  sent: number;
  /** Sent while an instance was being restarted. */
  sentDuringRestarts: number;
}

/**
 * @param server the PostgreSQL to use; null = that of the environment
 * @returns false when HAProxy or PostgreSQL is missing and the drill was left out
 */
export async function runRestartDrill(
  options: RestartOptions,
  report: DrillReport,
  progress: (text: string) => void,
  server: string | null = null,
): Promise<boolean> {
  const program = findBalancer();
  if (program === null) {
    console.log('Left out: HAProxy is not installed (apt-get install haproxy).');
    return false;
  }
  const serverUrl = server ?? (await findDrillServer());
  if (serverUrl === null) return false;
  progress('tables, test data, two instances behind HAProxy');
  const environment = { SHUTDOWN_DRAIN_MS: String(DRAIN_MS) };
  const fixture = await openFixture({
    serverUrl,
    instances: 2,
    users: 200,
    payments: 0,
    poolSize: 10,
    drill: 'restart',
    environment,
  });
  try {
    const ports = fixture.instances.map((instance) => instance.port);
    const balancer = await startBalancer(program, ports, fixture.logFolder);
    try {
      await runBehind(balancer, fixture, options, report, progress);
    } finally {
      await balancer.stop();
    }
  } finally {
    await fixture.close();
  }
  return true;
}

async function runBehind(
  balancer: Balancer,
  fixture: Fixture,
  options: RestartOptions,
  report: DrillReport,
  progress: (text: string) => void,
): Promise<void> {
  const random = createRandom(options.seed);
  const watchers = await openWatchers(fixture, random, {
    feedSockets: 4,
    users: fixture.userIds.slice(0, 4),
    urls: [balancer.url],
  });
  try {
    const before = await fixture.database.withSql(readMoneyBefore);
    const after = await readLastEvent(fixture.database);
    const book = new WriteBook();
    let isRestarting = true;
    const faults = new FaultLog(book, options.writes);
    const restarts = restartAll(fixture, faults, progress).finally(() => {
      isRestarting = false;
    });
    const traffic = await sendRequests(balancer.url, fixture, book, random, options.requests, {
      isGoingOn: () => isRestarting,
      faults,
    });
    await restarts;
    faults.prove(report);
    await waitForSockets(fixture.database, watchers, after, SETTLE_MS);
    report.add(
      'no request failed',
      `${traffic.failures.length} of ${traffic.sent} failed; ${traffic.sentDuringRestarts} were sent during the restarts`,
      traffic.failures,
    );
    report.addMeasured({
      drill: 'rolling restart',
      name: 'requests that failed',
      measured: `${traffic.failures.length} of ${traffic.sent}, ${traffic.sentDuringRestarts} of them during the restarts`,
      wanted: '0',
      isMet: traffic.failures.length === 0,
    });
    proveInstances(fixture, report);
    await proveMoney(fixture.database, before, book, report);
    await proveSockets(fixture.database, watchers, { after, mayLose: false }, report);
    console.log(
      [
        textTable(FaultLog.HEAD, faults.rows()),
        `Answers by status (0 = none): ${countsText(traffic.statuses)}`,
        renderSockets(watchers),
        renderErrors(fixture),
      ].join('\n\n'),
    );
  } finally {
    for (const { socket } of watchers) socket.stop();
  }
}

async function restartAll(fixture: Fixture, faults: FaultLog, progress: (text: string) => void): Promise<void> {
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
  await faults.steady();
  for (const instance of fixture.instances) {
    progress(`restart of ${instance.name}`);
    await faults.run(`restart of ${instance.name}`, async () => {
      const from = performance.now();
      const code = await instance.stop();
      const endedMs = performance.now() - from;
      await instance.start();
      const readyMs = performance.now() - from - endedMs;
      // As the balancer asks: it must have seen the instance ready before the next one goes.
      await wait(1_000);
      return `ended after ${seconds(endedMs)} with exit code ${code}, ready again after ${seconds(readyMs)}`;
    });
  }
}

/** Clients with connections that stay open; each request is sent once. */
async function sendRequests(
  url: string,
  fixture: Fixture,
  book: WriteBook,
  random: SeededRandom,
  requests: number,
  { isGoingOn, faults }: { isGoingOn: () => boolean; faults: FaultLog },
): Promise<Traffic> {
  const requester = createRequester({ connections: CLIENTS, limitMs: ANSWER_LIMIT_MS });
  const traffic: Traffic = { failures: [], statuses: new Map(), sent: 0, sentDuringRestarts: 0 };
  const operator = { 'x-api-key': fixture.apiToken, 'content-type': 'application/json' };
  const count = (what: string, answer: Answer): void => {
    traffic.statuses.set(answer.status, (traffic.statuses.get(answer.status) ?? 0) + 1);
    if (answer.status === 200) return;
    traffic.failures.push(`${new Date().toISOString()} ${what}: ${answer.status} ${answer.problem ?? answer.body.slice(0, 200)}`);
  };
  const client = async (): Promise<void> => {
    while (traffic.sent < requests || isGoingOn()) {
      traffic.sent += 1;
      if (faults.isUnderWay) traffic.sentDuringRestarts += 1;
      const userId = random.pick(fixture.userIds);
      if (random.next() < 0.5) {
        count('GET /users/{id}', await requester.send({ method: 'GET', url: `${url}/users/${userId}`, headers: operator }));
      } else {
        const write = book.begin('balance', userId, random.between(1, 5_000));
        const body = JSON.stringify({ amount_kopeks: write.amountKopeks, description: descriptionOf(write) });
        const headers = { ...operator, 'idempotency-key': write.key };
        const answer = await requester.send({ method: 'POST', url: `${url}/users/${userId}/balance`, headers, body });
        write.tries += 1;
        write.isAcknowledged = answer.status === 200;
        if (write.isAcknowledged) book.successes.push(performance.now());
        count('POST /users/{id}/balance', answer);
      }
      await wait(PAUSE_MS);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  requester.close();
  return traffic;
}
