/** A replicated PostgreSQL loses its primary in several ways while two instances move money. */
import { proveAnswers, proveInstances, renderAnswers, renderErrors } from './answer-proof.ts';
import { proveSockets, proveWebhook, readLastEvent, waitForSockets, waitForWebhook } from './event-proof.ts';
import { FaultLog } from './fault-log.ts';
import { type Fixture, openFixture, subscribeWebhook } from './fixture.ts';
import { startMoneyLoad } from './money-load.ts';
import { proveMoney, readMoneyBefore, waitForCallbacks } from './money-proof.ts';
import type { DrillOptions } from './options.ts';
import { type DrillReport, textTable } from './report.ts';
import { createRandom } from './seeded-random.ts';
import { renderSockets } from './socket-table.ts';
import { openStand, type Stand } from './stand.ts';
import { openWatchers, startCutting } from './watchers.ts';
import { startWebhookReceiver } from './webhook-receiver.ts';
import { WriteBook } from './write-book.ts';

type FailoverOptions = Extract<DrillOptions, { drill: 'failover' }>;

const HOOKED_TYPES = ['payment.completed'];
const CLIENTS = { balance: 8, purchase: 4, callback: 3, read: 4 };
const PAUSE_MS = 25;
const PAYMENTS = 1_000;
const USERS = 300;
const CABINET_SOCKETS = 6;
/** Waits for what is still open after the last fault; deliveries and jobs that met it are repeated after minutes. */
const SETTLE_MS = 600_000;
const WRITE_LIMIT_MS = 120_000;

export async function runFailoverDrill(
  options: FailoverOptions,
  report: DrillReport,
  progress: (text: string) => void,
): Promise<void> {
  progress('the stand');
  const stand = await openStand(options.stand, options.folder);
  try {
    progress('tables, test data, two instances');
    const fixture = await openFixture({
      serverUrl: stand.primaryUrl,
      instances: 2,
      users: USERS,
      payments: PAYMENTS,
      poolSize: 20,
      drill: 'failover',
    });
    try {
      await runOnFixture(fixture, stand, options, report, progress);
    } finally {
      await fixture.close();
    }
  } finally {
    await stand.close();
  }
}

async function runOnFixture(
  fixture: Fixture,
  stand: Stand,
  options: FailoverOptions,
  report: DrillReport,
  progress: (text: string) => void,
): Promise<void> {
  const random = createRandom(options.seed);
  const receiver = await startWebhookReceiver();
  for (const eventType of HOOKED_TYPES) await subscribeWebhook(fixture, eventType, receiver.url);
  const watchedUsers = fixture.userIds.slice(0, CABINET_SOCKETS);
  const watchers = await openWatchers(fixture, random, { feedSockets: 2, users: watchedUsers });
  try {
    const before = await fixture.database.withSql(readMoneyBefore);
    const lastEvent = await readLastEvent(fixture.database);
    const book = new WriteBook();
    const urls = fixture.instances.map((instance) => instance.url);
    const load = startMoneyLoad(fixture, book, random, { urls, clients: CLIENTS, pauseMs: PAUSE_MS, watchedUsers });
    const stopCutting = startCutting(watchers, createRandom(options.seed + 1));
    const faults = await runFaults(stand, book, options, progress).finally(stopCutting);
    progress('the rest of the callbacks, the end of the load');
    await load.stop(WRITE_LIMIT_MS, SETTLE_MS);
    await waitForCallbacks(fixture.database, SETTLE_MS);
    progress('webhooks and sockets');
    const webhookMs = await waitForWebhook(fixture.database, receiver, HOOKED_TYPES, lastEvent, SETTLE_MS);
    await waitForSockets(fixture.database, watchers, lastEvent, 30_000);
    await proveMoney(fixture.database, before, book, report);
    faults.prove(report);
    proveAnswers(book, report);
    proveInstances(fixture, report);
    await proveSockets(fixture.database, watchers, { after: lastEvent, mayLose: true }, report);
    await proveWebhook(fixture.database, receiver, HOOKED_TYPES, lastEvent, report);
    console.log(
      [
        textTable(FaultLog.HEAD, faults.rows()),
        renderAnswers(book),
        renderSockets(watchers),
        renderErrors(fixture),
        `The last webhook arrived ${(webhookMs / 1_000).toFixed(0)} s after the end of the load.`,
      ].join('\n\n'),
    );
  } finally {
    for (const { socket } of watchers) socket.stop();
    await receiver.close();
  }
}

async function runFaults(
  stand: Stand,
  book: WriteBook,
  options: FailoverOptions,
  progress: (text: string) => void,
): Promise<FaultLog> {
  const faults = new FaultLog(book, options.writes);
  const run = async (name: string, ...command: [string, ...string[]]): Promise<void> => {
    progress(name);
    await faults.run(name, async () => {
      const output = await stand.command(...command);
      const wholeMs = await stand.recover();
      return `stand whole ${(wholeMs / 1_000).toFixed(1)} s later; it said: ${lastWords(output)}`;
    });
  };
  progress('steady');
  await faults.steady();
  await run('kill-primary', 'kill-primary');
  await run('kill-node', 'kill-node');
  await run('switchover', 'switchover');
  await run(`pause-primary ${options.pauseSeconds}`, 'pause-primary', String(options.pauseSeconds));
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
