/** Answers of the database are lost, an instance is killed, and the clock of one instance is a day ahead, while clients move money. */
import { setTimeout as wait } from 'node:timers/promises';
import { findDrillServer } from '../bench/scratch-database.ts';
import { proveAnswers, proveInstances, renderAnswers, renderErrors } from './answer-proof.ts';
import { FaultLog } from './fault-log.ts';
import { type Fixture, openFixture } from './fixture.ts';
import { createInstance, type Instance, isReady } from './instance.ts';
import { startMoneyLoad } from './money-load.ts';
import { proveMoney, readMoneyBefore, waitForCallbacks } from './money-proof.ts';
import { descriptionOf } from './movement-check.ts';
import type { DrillOptions } from './options.ts';
import { type DrillReport, textTable } from './report.ts';
import { createRequester } from './requester.ts';
import { createRandom } from './seeded-random.ts';
import { type SilentProxy, startSilentProxy } from './silent-proxy.ts';
import { WriteBook } from './write-book.ts';

type SilenceOptions = Extract<DrillOptions, { drill: 'silence' }>;

const CLIENTS = { balance: 4, purchase: 1, callback: 2, read: 1 };
const PAUSE_MS = 100;
/** Paid at the fake provider from the beginning: those that the check after the outage credits get their callback, too, before the end. */
const PAYMENTS = 700;
const SETTLE_MS = 300_000;
const WRITE_LIMIT_MS = 180_000;
/** Wanted by spec 10 F1 and M6. */
const BACK_MS = 5_000;
const CREDIT_MS = 20_000;
/** One more than one process has in hand of one provider. */
const DELAYED = 4;
/** Less than the time limit of a request to a provider. */
const DELAY_LIMIT_MS = 5_000;
/** What is credited later than this was in hand of a process that was killed. */
const IN_HAND_MS = 8_000;
/** Acknowledged and not processed, or their payment is not credited. */
const OPEN_CALLBACKS = `FROM provider_callbacks callback
  JOIN payments payment ON payment.method = callback.provider AND payment.external_id = callback.external_id
  WHERE (callback.processed_at IS NULL OR payment.transaction_id IS NULL)`;
const DAY_MS = 86_400_000;
const REPEATED = 100;

/** @returns false when PostgreSQL is missing and the drill was left out */
export async function runSilenceDrill(
  options: SilenceOptions,
  report: DrillReport,
  progress: (text: string) => void,
): Promise<boolean> {
  const serverUrl = await findDrillServer();
  if (serverUrl === null) return false;
  progress('tables, test data, two instances behind a proxy');
  let proxy: SilentProxy | null = null;
  const through = async (url: string) => {
    proxy = await startSilentProxy(url);
    return { DATABASE_URL: proxy.url };
  };
  const fixture = await openFixture({
    serverUrl,
    instances: 2,
    users: 200,
    payments: PAYMENTS,
    poolSize: 8,
    drill: 'silence',
    through,
  });
  try {
    await runOnFixture(fixture, proxy!, options, report, progress);
  } finally {
    await fixture.close();
    await (proxy as SilentProxy | null)?.close();
  }
  return true;
}

async function runOnFixture(
  fixture: Fixture,
  proxy: SilentProxy,
  options: SilenceOptions,
  report: DrillReport,
  progress: (text: string) => void,
): Promise<void> {
  const before = await fixture.database.withSql(readMoneyBefore);
  const book = new WriteBook();
  const urls = fixture.instances.map(({ url }) => url);
  const load = startMoneyLoad(fixture, book, createRandom(options.seed), { urls, clients: CLIENTS, pauseMs: PAUSE_MS });
  const faults = new FaultLog(book, options.writes);
  progress('steady');
  await faults.steady();
  // First, as the check after a time without an instance credits what is paid without its callback.
  progress('kill -9 of instance-2');
  await faults.run('kill -9 of instance-2', () => killThem(fixture, [fixture.instances[1]!], report));
  progress('kill -9 of both instances');
  await faults.run('kill -9 of both', () => killThem(fixture, fixture.instances, report));
  progress(`silent for ${options.silentSeconds} s`);
  await faults.run(`silent for ${options.silentSeconds} s`, () => loseAnswers(fixture, proxy, book, faults, options, report));
  progress('the rest of the callbacks, the end of the load');
  await load.stop(WRITE_LIMIT_MS, SETTLE_MS);
  await waitForCallbacks(fixture.database, SETTLE_MS);
  const ahead = await aheadOfTime(fixture, book, report, progress);
  faults.prove(report);
  await proveMoney(fixture.database, before, book, report);
  proveAnswers(book, report);
  proveInstances(fixture, report);
  const rows = [...faults.rows(), ['clock a day ahead', '', '', '', '', '', ahead]];
  console.log([textTable(FaultLog.HEAD, rows), renderAnswers(book), renderErrors(fixture)].join('\n\n'));
}

/** Spec 10 F1 and D5. */
async function loseAnswers(
  fixture: Fixture,
  proxy: SilentProxy,
  book: WriteBook,
  faults: FaultLog,
  { silentSeconds }: SilenceOptions,
  report: DrillReport,
): Promise<string> {
  proxy.silence(true);
  await wait(2_000);
  const asked = performance.now();
  const replies = await Promise.all(fixture.instances.map(({ url }) => fetch(`${url}/readyz`)));
  const saidMs = performance.now() - asked;
  const lively = await Promise.all(fixture.instances.map(({ url }) => fetch(`${url}/livez`)));
  await wait(Math.max(0, silentSeconds * 1_000 - 2_000 - saidMs));
  const acknowledged = book.successes.length;
  proxy.silence(false);
  const whole = performance.now();
  const readyMs = await Promise.all(
    fixture.instances.map(async ({ url }) => {
      while (!(await isReady(url))) await wait(50);
      return performance.now() - whole;
    }),
  );
  await faults.waitForWrites(acknowledged + 1);
  const backMs = Math.max(...readyMs, book.successes[acknowledged]! - whole);
  const wrong = [
    ...replies.filter(({ status }) => status !== 503).map(({ url, status }) => `${url} ${status} while nothing answered`),
    ...lively.filter(({ status }) => status !== 200).map(({ url, status }) => `${url} ${status}`),
  ];
  report.add('/readyz is 503 and /livez 200 while answers are lost', `said after ${inSeconds(saidMs)}`, wrong);
  report.add(
    `all instances are back within ${BACK_MS / 1_000} s`,
    inSeconds(backMs),
    backMs > BACK_MS ? [`${inSeconds(backMs)}: ready ${readyMs.map(inSeconds).join(', ')}`] : [],
  );
  return `/readyz said 503 after ${inSeconds(saidMs)}; ready ${readyMs.map(inSeconds).join(' and ')} after the end, first write ${inSeconds(book.successes[acknowledged]! - whole)}`;
}

/** Spec 10 M6: callbacks that were acknowledged before a process is killed are credited soon after its restart, also those that it had in hand. */
async function killThem(fixture: Fixture, killed: readonly Instance[], report: DrillReport): Promise<string> {
  const delay = delayAnswers(fixture);
  await delay.reached(DELAYED);
  await Promise.all(killed.map((instance) => instance.kill()));
  const due = await fixture.database.withSql((run) => run(`SELECT callback.id ${OPEN_CALLBACKS}`));
  delay.end();
  const restarted = performance.now();
  const started = Promise.all(killed.map((instance) => instance.start())).then(() => performance.now() - restarted);
  const ids = due.map(({ id }) => Number(id));
  const left = async () =>
    fixture.database.withSql((run) => run(`SELECT callback.id ${OPEN_CALLBACKS} AND callback.id IN (${ids.join()})`));
  const creditedMs: number[] = [];
  while (creditedMs.length < ids.length && performance.now() - restarted < SETTLE_MS) {
    const open = (await left()).length;
    while (creditedMs.length < ids.length - open) creditedMs.push(performance.now() - restarted);
    await wait(100);
  }
  const readyMs = await started;
  const lastMs = creditedMs.length === ids.length ? creditedMs.at(-1)! : Number.POSITIVE_INFINITY;
  const late = creditedMs.filter((ms) => ms > CREDIT_MS).length + ids.length - creditedMs.length;
  report.add(
    `callbacks acknowledged before the kill -9 of ${killed.length} of 2 are credited within ${CREDIT_MS / 1_000} s of the restart`,
    `${ids.length} open at the kill, the last one after ${inSeconds(lastMs)}`,
    late > 0 || ids.length < DELAYED ? [`${late} of ${ids.length} late: ${creditedMs.map(inSeconds).join(', ')}`] : [],
  );
  const waited = creditedMs.filter((ms) => ms > IN_HAND_MS).length;
  return `${ids.length} callbacks open at the kill, ${waited} of them processed by another process later; credited ${inSeconds(lastMs)} after the restart at the latest, which was ready after ${inSeconds(readyMs)}`;
}

/** The fake provider answers nobody, so that callbacks are in hand of both instances: each asks about three at once. */
function delayAnswers(fixture: Fixture): { reached(count: number): Promise<void>; end(): void } {
  let delayed = 0;
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  fixture.provider.intercept(async () => {
    delayed += 1;
    await ended;
    return null;
  });
  return {
    reached: async (count) => {
      const until = performance.now() + DELAY_LIMIT_MS;
      while (delayed < count && performance.now() < until) await wait(10);
    },
    end: () => {
      fixture.provider.intercept(null);
      end();
    },
  };
}

/** The clock of the process says another time; every other clock is as it is. */
const SHIFTED_CLOCK = `const Real = Date; const by = ${DAY_MS};
globalThis.Date = class extends Real { constructor(...a) { if (a.length === 0) super(Real.now() + by); else super(...a); }
  static now() { return Real.now() + by; } };`;

/** Spec 10 F5: the only instance has a wrong clock, purges, and is sent keys that were acknowledged. @returns what it says of itself */
async function aheadOfTime(
  fixture: Fixture,
  book: WriteBook,
  report: DrillReport,
  progress: (text: string) => void,
): Promise<string> {
  progress('an instance whose clock is a day ahead');
  for (const instance of fixture.instances) await instance.stop();
  const loader = `--import=data:text/javascript,${encodeURIComponent(SHIFTED_CLOCK)}`;
  const instance = await createInstance('ahead', { ...fixture.environment, NODE_OPTIONS: loader }, fixture.logFolder);
  let said = '';
  try {
    await instance.start(async (url) => {
      said = await fetch(`${url}/readyz`).then(
        async (response) => `${response.status} ${((await response.json()) as { detail?: string }).detail ?? ''}`,
        () => '',
      );
      return said.includes('clock');
    });
    await purgeNow(fixture);
    const repeated = book.writes.filter(({ kind, isAcknowledged }) => kind === 'balance' && isAcknowledged).slice(0, REPEATED);
    const requester = createRequester({ connections: 4, limitMs: 30_000 });
    const refused: string[] = [];
    for (const write of repeated) {
      const { status, body } = await requester.send({
        method: 'POST',
        url: `${instance.url}/users/${write.userId}/balance`,
        headers: { 'x-api-key': fixture.apiToken, 'content-type': 'application/json', 'idempotency-key': write.key },
        body: JSON.stringify({ amount_kopeks: write.amountKopeks, description: descriptionOf(write) }),
      });
      if (status !== 200) refused.push(`${write.key}: ${status} ${body.slice(0, 200)}`);
    }
    requester.close();
    report.add('an instance whose clock is a day ahead is not ready', said, said.startsWith('503') ? [] : [said]);
    report.add('repeated keys are answered by it after a purge', `${repeated.length} repeated`, refused);
    return `"${said}"; ${repeated.length} acknowledged keys repeated after its purge`;
  } finally {
    await instance.stop();
    instance.close();
  }
}

async function purgeNow(fixture: Fixture): Promise<void> {
  const [sent] = await fixture.database.withSql(async (run) => {
    await run(`SELECT send_job('core.purge', '{}'::jsonb, 'drill', interval '0')::text AS sent`);
    return run(`SELECT max(created_on)::text AS at FROM jobs.job WHERE name = 'core.purge' AND singleton_key = 'drill'`);
  });
  const until = performance.now() + SETTLE_MS;
  for (;;) {
    const rows = await fixture.database.withSql((run) =>
      run(
        `SELECT 1 AS done FROM jobs.job WHERE name = 'core.purge' AND state = 'completed' AND created_on = '${String(sent!.at)}'`,
      ),
    );
    if (rows.length > 0) return;
    if (performance.now() > until) throw new Error('the purge did not end');
    await wait(200);
  }
}

function inSeconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
