/** Events of several writers on several instances, while writers and instances are killed at random. */
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { endProcess, trackChild } from '../bench/child-process.ts';
import { findServer, type ScratchDatabase } from '../bench/scratch-database.ts';
import { proveInstances, renderAnswers, renderErrors } from './answer-proof.ts';
import { proveSockets, proveWebhook, readLastEvent, waitForSockets, waitForWebhook } from './event-proof.ts';
import { type Fixture, openFixture, subscribeWebhook } from './fixture.ts';
import { startKilling, type Victim } from './killing.ts';
import { startMoneyLoad } from './money-load.ts';
import { proveMoney, readMoneyBefore } from './money-proof.ts';
import type { DrillOptions } from './options.ts';
import { countsText, type DrillReport } from './report.ts';
import { createRandom } from './seeded-random.ts';
import { renderSockets } from './socket-table.ts';
import { openWatchers } from './watchers.ts';
import { startWebhookReceiver } from './webhook-receiver.ts';
import { WriteBook } from './write-book.ts';

type EventOptions = Extract<DrillOptions, { drill: 'events' }>;

const WRITERS = 3;
const INSTANCES = 3;
const USERS = 200;
const CABINET_SOCKETS = 8;
const CLIENTS = { balance: 12, purchase: 0, callback: 0, read: 0 };
/** A balance write makes one event of the feed and one of the user. */
const EVENTS_PER_WRITE = 2;
/** A tenth of the events has webhooks: of the debits, and of the events that writers call so. */
const HOOKED_TYPES = ['transaction.created', 'ticket.created'];
const DEBIT_SHARE = 0.2;
const REFUSED_SHARE = 0.02;
/** A delivery whose worker was killed is free again after its claim and the time limit of its job. */
const WEBHOOK_LIMIT_MS = 900_000;
const SOCKET_LIMIT_MS = 120_000;
const WRITE_LIMIT_MS = 120_000;

export async function runEventDrill(options: EventOptions, report: DrillReport, progress: (text: string) => void): Promise<void> {
  const serverUrl = await findServer(process.env);
  if (serverUrl === null) throw new Error('no PostgreSQL at TEST_DATABASE_URL or DATABASE_URL lets us make databases');
  progress(`tables, test data, ${INSTANCES} instances`);
  const fixture = await openFixture({
    serverUrl,
    instances: INSTANCES,
    users: USERS,
    payments: 0,
    poolSize: 10,
    drill: 'events',
  });
  try {
    await runOnFixture(fixture, options, report, progress);
  } finally {
    await fixture.close();
  }
}

async function runOnFixture(
  fixture: Fixture,
  options: EventOptions,
  report: DrillReport,
  progress: (text: string) => void,
): Promise<void> {
  const random = createRandom(options.seed);
  const receiver = await startWebhookReceiver(() => random.next() < REFUSED_SHARE);
  for (const eventType of HOOKED_TYPES) await subscribeWebhook(fixture, eventType, receiver.url);
  await fixture.database.withSql((run) =>
    run(
      'CREATE TABLE drill_numbers AS SELECT id AS user_id, 0 AS number FROM users; ALTER TABLE drill_numbers ADD PRIMARY KEY (user_id)',
    ),
  );
  const watchedUsers = fixture.userIds.slice(0, CABINET_SOCKETS);
  const watchers = await openWatchers(fixture, random, { feedSockets: 2, users: watchedUsers });
  const writers = Array.from({ length: WRITERS }, (_, index) => createWriter(fixture, options.seed + 1_000 * (index + 1), index));
  try {
    const before = await fixture.database.withSql(readMoneyBefore);
    const after = await readLastEvent(fixture.database);
    const book = new WriteBook();
    const startedAt = performance.now();
    progress('events');
    const urls = fixture.instances.map((instance) => instance.url);
    const balanceWrites = Math.ceil(options.count / 2 / EVENTS_PER_WRITE);
    const load = startMoneyLoad(fixture, book, random, {
      urls,
      clients: CLIENTS,
      pauseMs: 0,
      balanceWrites,
      debitShare: DEBIT_SHARE,
    });
    for (const writer of writers) await writer.start();
    const killing = startKilling([...fixture.instances, ...writers], createRandom(options.seed + 1));
    const written = writeUntil(fixture.database, after, options.count / 2, progress).then(() => {
      for (const writer of writers) writer.retire();
    });
    await Promise.all([load.balanceDone, written]);
    await killing.stop();
    for (const writer of writers) await writer.kill();
    await load.stop(WRITE_LIMIT_MS);
    const seconds = (performance.now() - startedAt) / 1_000;
    progress('webhooks and sockets');
    await waitForSockets(fixture.database, watchers, after, SOCKET_LIMIT_MS);
    const webhookMs = await waitForWebhook(fixture.database, receiver, HOOKED_TYPES, after, WEBHOOK_LIMIT_MS);
    await proveSockets(fixture.database, watchers, { after, mayLose: false }, report);
    await proveWebhook(fixture.database, receiver, HOOKED_TYPES, after, report);
    await proveMoney(fixture.database, before, book, report);
    proveInstances(fixture, report);
    const events = await countEvents(fixture.database, after, 'true');
    console.log(
      [
        `${events} events in ${seconds.toFixed(0)} s. Killed: ${countsText(killing.kills)}.`,
        renderAnswers(book),
        renderSockets(watchers),
        `The last webhook arrived ${(webhookMs / 1_000).toFixed(0)} s after the end of the load.`,
        renderErrors(fixture),
      ].join('\n\n'),
    );
  } finally {
    for (const writer of writers) await writer.kill();
    for (const { socket } of watchers) socket.stop();
    await receiver.close();
  }
}

interface Writer extends Victim {
  /** It is not started again. */
  retire(): void;
}

function createWriter(fixture: Fixture, seed: number, index: number): Writer {
  let child: ChildProcess | null = null;
  let starts = 0;
  let isRetired = false;
  const url = fixture.database.environment.DATABASE_URL!;
  // Those with sockets more often, so that these get many events.
  const watched = fixture.userIds.slice(0, CABINET_SOCKETS);
  const writtenUsers = [...fixture.userIds, ...Array.from({ length: 8 }, () => watched).flat()];
  return {
    name: `writer-${index + 1}`,
    start: async () => {
      if (isRetired) return;
      // Another sequence after each start: with the same one it would only repeat itself.
      const words = [url, String(seed + 10 * starts++), writtenUsers.join(',')];
      child = trackChild(
        fork(join(import.meta.dirname, 'event-writer.ts'), words, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] }),
      );
    },
    kill: async () => {
      if (child !== null) await endProcess(child, 'SIGKILL');
    },
    retire: () => {
      isRetired = true;
      child?.kill('SIGKILL');
    },
  };
}

/** Resolves when the writers have committed `count` events. */
async function writeUntil(
  database: ScratchDatabase,
  after: number,
  count: number,
  progress: (text: string) => void,
): Promise<void> {
  for (let round = 1; ; round += 1) {
    await wait(1_000);
    const written = await countEvents(database, after, "payload ? 'number'");
    if (round % 20 === 0) progress(`${await countEvents(database, after, 'true')} events, ${written} of them by writers`);
    if (written >= count) return;
  }
}

async function countEvents(database: ScratchDatabase, after: number, condition: string): Promise<number> {
  const rows = await database.withSql((run) =>
    run(`SELECT count(*) AS n FROM domain_events WHERE id > ${after} AND ${condition}`),
  );
  return Number(rows[0]!.n);
}
