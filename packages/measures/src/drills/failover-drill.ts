/** A replicated PostgreSQL loses its primary in several ways while two instances move money. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { proveAnswers, proveInstances, renderAnswers, renderErrors } from './answer-proof.ts';
import { proveSockets, proveWebhook, readLastEvent, waitForSockets, waitForWebhook } from './event-proof.ts';
import { FaultLog } from './fault-log.ts';
import { type Fixture, openFixture, subscribeWebhook } from './fixture.ts';
import { type Hammer, startHammer } from './hammer-process.ts';
import { proveMoney, readMoneyBefore, waitForCallbacks } from './money-proof.ts';
import { type DrillOptions, type FailoverFault, LOSING_FAULT } from './options.ts';
import { type PrimaryWatch, primaryGap, watchPrimary } from './primary-watch.ts';
import { allReadyAfterMs, type ReadinessWatch, readyWithin, watchReadiness } from './readiness-watch.ts';
import { type DrillReport, textTable } from './report.ts';
import { createRandom } from './seeded-random.ts';
import { renderSockets } from './socket-table.ts';
import { openStand, type Stand } from './stand.ts';
import { openWatchers, startCutting } from './watchers.ts';
import { startWebhookReceiver } from './webhook-receiver.ts';

type FailoverOptions = Omit<Extract<DrillOptions, { drill: 'failover' }>, 'drill' | 'stand' | 'folder'>;
type Show = (text: string) => void;

const HOOKED_TYPES = ['payment.completed'];
const CLIENTS = { balance: 8, purchase: 4, callback: 3, read: 4 };
const PAUSE_MS = 25;
const USERS = 300;
const CABINET_SOCKETS = 6;
/** Waits for what is still open after the last fault; deliveries and jobs that met it are repeated after minutes. */
const SETTLE_MS = 600_000;
const WRITE_LIMIT_MS = 120_000;
/** Wanted by issue 30 and spec 08 S2. */
const WRITES_AGAIN_MS = 5_000;
const READY_AGAIN_MS = 2_000;
/** What an instance may take to notice that the primary is gone (spec 10 D5). */
const NOTICE_MS = 1_000;

export async function runFailoverDrill(
  { stand: script, folder, ...options }: Extract<DrillOptions, { drill: 'failover' }>,
  report: DrillReport,
  progress: Show,
  show: Show = console.log,
): Promise<void> {
  progress('the stand');
  const stand = await openStand(script, folder, standOf(options.faults));
  try {
    await runFailover(stand, options, report, progress, show);
  } finally {
    await stand.close();
  }
}

/** @returns the environment of a stand on which these faults show something */
export function standOf(faults: readonly FailoverFault[]): Record<string, string> {
  return faults.includes(LOSING_FAULT) ? { STAND_SYNCHRONOUS: 'false' } : {};
}

/** The same on a stand that runs. */
export async function runFailover(
  stand: Stand,
  options: FailoverOptions,
  report: DrillReport,
  progress: Show,
  show: Show,
): Promise<void> {
  progress('tables, test data, two instances');
  const through = (url: string) => pooled(stand, url);
  const fixture = await openFixture({
    serverUrl: stand.primaryUrl,
    instances: 2,
    users: USERS,
    payments: options.payments,
    poolSize: 20,
    drill: 'failover',
    ...(options.isPooled ? { through } : {}),
  });
  try {
    await runOnFixture(fixture, stand, options, report, progress, show);
  } finally {
    await fixture.close();
  }
}

/** @returns the environment of an instance that reaches the database by the pooler of the stand */
function pooled(stand: Stand, direct: string): Record<string, string> {
  if (stand.poolerUrl === null) throw new Error('the stand has no pooler');
  const url = new URL(direct);
  url.host = new URL(stand.poolerUrl).host;
  return { DATABASE_URL: url.href, DATABASE_DIRECT_URL: direct, DATABASE_POOLER: 'transaction' };
}

async function runOnFixture(
  fixture: Fixture,
  stand: Stand,
  options: FailoverOptions,
  report: DrillReport,
  progress: Show,
  show: Show,
): Promise<void> {
  const random = createRandom(options.seed);
  const receiver = await startWebhookReceiver();
  for (const eventType of HOOKED_TYPES) await subscribeWebhook(fixture, eventType, receiver.url);
  const watchedUsers = fixture.userIds.slice(0, CABINET_SOCKETS);
  const watchers = await openWatchers(fixture, random, { feedSockets: 2, users: watchedUsers });
  const primary = watchPrimary(stand.nodes, fixture.database.url!);
  const readiness = watchReadiness(fixture.instances);
  let hammer: Hammer | null = null;
  try {
    const before = await fixture.database.withSql(readMoneyBefore);
    const lastEvent = await readLastEvent(fixture.database);
    const urls = fixture.instances.map((instance) => instance.url);
    hammer = await startHammer(fixture, {
      seed: options.seed,
      load: { urls, clients: CLIENTS, pauseMs: PAUSE_MS, watchedUsers },
      stop: { limitMs: WRITE_LIMIT_MS, callbacksMs: SETTLE_MS },
    });
    const { book } = hammer;
    const stopCutting = startCutting(watchers, createRandom(options.seed + 1));
    const faults = await runFaults(stand, hammer, options, progress).finally(stopCutting);
    progress('the rest of the callbacks, the end of the load');
    await hammer.stop();
    await waitForCallbacks(fixture.database, SETTLE_MS);
    progress('webhooks and sockets');
    const webhookMs = await waitForWebhook(fixture.database, receiver, HOOKED_TYPES, lastEvent, SETTLE_MS);
    await waitForSockets(fixture.database, watchers, lastEvent, 30_000);
    const mayLose = options.faults.includes(LOSING_FAULT);
    const money = await proveMoney(fixture.database, before, book, report, { mayLose });
    faults.prove(report);
    const serviceFaults = proveAnswers(book, report);
    proveInstances(fixture, report);
    const frames = await proveSockets(fixture.database, watchers, { after: lastEvent, mayLose: true }, report);
    const hooks = await proveWebhook(fixture.database, receiver, HOOKED_TYPES, lastEvent, report);
    const observed = { faults: faults.faults, primary: primary.changes, reached: primary.reached, readiness: readiness.samples };
    await writeFile(join(fixture.logFolder, 'observed.json'), JSON.stringify(observed));
    addRecovery(faults, book, primary, readiness, report);
    const addCount = (name: string, bad: number, of: string) =>
      report.addMeasured({ drill: 'all of them', name, measured: `${bad} of ${of}`, wanted: '0', isMet: bad === 0 });
    if (!mayLose) addCount('acknowledged writes that were lost', money.lost, `${money.acknowledged}`);
    addCount('writes that were made twice', money.doubled, `${money.acknowledged}`);
    addCount('answers of 500 and above, except 503', serviceFaults, `${book.total(() => true)} answers`);
    if (mayLose) addLoss(money, frames.unknown, report);
    addCount('frames missing', frames.missing, `${frames.expected} over ${frames.reconnects} reconnects`);
    addCount('frames doubled', frames.doubled, `${frames.expected}`);
    addCount('webhooks missing or doubled', hooks.missing + hooks.doubled, `${hooks.expected}`);
    show(
      [
        textTable(FaultLog.HEAD, faults.rows()),
        renderAnswers(book),
        renderSockets(watchers),
        renderErrors(fixture),
        `The last webhook arrived ${(webhookMs / 1_000).toFixed(0)} s after the end of the load.`,
      ].join('\n\n'),
    );
  } finally {
    await hammer?.end();
    await Promise.all([primary.close(), readiness.close()]);
    for (const { socket } of watchers) socket.stop();
    await receiver.close();
  }
}

/** Without a loss no id is used again, and the drill shows nothing. */
function addLoss(money: { lost: number; acknowledged: number }, lostFrames: number, report: DrillReport): void {
  const measured = `${money.lost} of ${money.acknowledged} acknowledged writes, ${lostFrames} frames`;
  const isLost = money.lost > 0 && lostFrames > 0;
  report.addMeasured({ drill: 'all of them', name: 'lost by the cluster', measured, wanted: '> 0', isMet: isLost });
  report.add('the cluster lost writes and events', measured, isLost ? [] : ['nothing was lost']);
}

/** For each fault how soon there was service again, counted from the new primary. */
function addRecovery(
  faults: FaultLog,
  book: Hammer['book'],
  primary: PrimaryWatch,
  readiness: ReadinessWatch,
  report: DrillReport,
): void {
  const inSeconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
  for (const { name, from, to } of faults.faults) {
    const gap = primaryGap(primary.changes, from, to);
    if (gap === null) continue;
    const add = (title: string, ms: number, limitMs: number) =>
      report.addMeasured({
        drill: name,
        name: title,
        measured: inSeconds(ms),
        wanted: `<= ${inSeconds(limitMs)}`,
        isMet: ms <= limitMs,
      });
    const { foundAt } = gap;
    const reachedAt = primary.reached.find((at) => at >= foundAt) ?? Number.POSITIVE_INFINITY;
    const written = book.successes.find((at) => at >= foundAt) ?? Number.POSITIVE_INFINITY;
    add('writes again after the new primary', written - foundAt, WRITES_AGAIN_MS);
    add('ready again after its address leads to it', allReadyAfterMs(readiness.samples, reachedAt), READY_AGAIN_MS);
    const ready = readyWithin(readiness.samples, gap.lostAt + NOTICE_MS, foundAt);
    const measured = `${ready} in ${inSeconds(foundAt - gap.lostAt)}, and ${inSeconds(reachedAt - foundAt)} until its address leads to it`;
    report.addMeasured({ drill: name, name: 'ready without a primary', measured, wanted: '0', isMet: ready === 0 });
  }
}

async function runFaults(
  stand: Stand,
  hammer: Hammer,
  options: FailoverOptions,
  progress: (text: string) => void,
): Promise<FaultLog> {
  const faults = new FaultLog(hammer.book, options.writes);
  const command = async (...words: [string, ...string[]]): Promise<string> => {
    const output = await stand.command(...words);
    const wholeMs = await stand.recover();
    return `stand whole ${(wholeMs / 1_000).toFixed(1)} s later; it said: ${lastWords(output)}`;
  };
  const disturb: Record<FailoverFault, () => Promise<string>> = {
    'kill-primary': () => command('kill-primary'),
    'kill-node': () => command('kill-node'),
    switchover: () => command('switchover'),
    'pause-primary': () => command('pause-primary', String(options.pauseSeconds)),
    'lose-primary': () => command('lose-primary', String(options.pauseSeconds)),
    'kill-hammer': async () => `${await hammer.kill()} writes were not acknowledged, and were sent again`,
  };
  progress('steady');
  await faults.steady();
  for (const fault of options.faults) {
    const name = fault === 'pause-primary' || fault === LOSING_FAULT ? `${fault} ${options.pauseSeconds}` : fault;
    progress(name);
    await faults.run(name, disturb[fault]);
  }
  return faults;
}

/** The last line that is not a table. */
function lastWords(output: string): string {
  return (
    output
      .split('\n')
      .filter((line) => !/^[+|]/.test(line))
      .at(-1) ?? ''
  );
}
