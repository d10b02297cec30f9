/** Proves from `domain_events` that each receiver got each event of its audience exactly once, in the order of each user. */
import { setTimeout as wait } from 'node:timers/promises';
import { eventIdOf } from '../../../../src/realtime/feed-client.ts';
import type { ScratchDatabase } from '../bench/scratch-database.ts';
import { type EventRow, eventIdentity, socketIdentity, userOf } from './event-identity.ts';
import { compareOccurrences } from './exactly-once.ts';
import { findDisorder, type OrderedPlace } from './order-check.ts';
import type { DrillReport } from './report.ts';
import type { ResumingSocket } from './resuming-socket.ts';
import type { WebhookReceiver } from './webhook-receiver.ts';

/** A socket with what it is to get. */
export interface Watcher {
  socket: ResumingSocket;
  /** Set on `/cabinet/ws`. */
  userId: number | null;
}

export interface EventProofOptions {
  /** The last event before the drill. */
  after: number;
  /** Place of an event in the order of its user; null = it has none. Its id unless given. */
  positionOf?: (row: EventRow) => number | null;
  /** Whether an event that is not in the database may have arrived: the cluster may lose what it never confirmed. */
  mayLose: boolean;
}

interface SocketCounts {
  /** Frames that were due. */
  expected: number;
  missing: number;
  doubled: number;
  /** Not in the database: lost with a primary. */
  unknown: number;
  reconnects: number;
}

/** Longer than the service waits before it reads again what it missed. */
const QUIET_MS = 15_000;

type AudienceRow = EventRow & { audience: string };

export async function readLastEvent(database: ScratchDatabase): Promise<number> {
  const rows = await database.withSql((run) => run('SELECT coalesce(max(id), 0) AS id FROM domain_events'));
  return Number(rows[0]!.id);
}

/** Events after `after`, in the order of their ids. */
async function readEvents(database: ScratchDatabase, after: number): Promise<AudienceRow[]> {
  const rows = await database.withSql((run) =>
    run(`SELECT id, type, payload, audience, user_id, created_at FROM domain_events WHERE id > ${after} ORDER BY id`),
  );
  return rows.map((row) => ({
    id: Number(row.id),
    type: String(row.type),
    payload: row.payload as Record<string, unknown>,
    audience: String(row.audience),
    userId: row.user_id === null ? null : Number(row.user_id),
    eventId: eventIdOf({ id: Number(row.id), createdAt: row.created_at as Date }),
  }));
}

/**
 * Waits until every socket has as many events as it is to get. Ends earlier when nothing has arrived for `QUIET_MS` although all are
 * connected: what is missing then does not come any more.
 */
export async function waitForSockets(
  database: ScratchDatabase,
  watchers: readonly Watcher[],
  after: number,
  limitMs: number,
): Promise<void> {
  const until = performance.now() + limitMs;
  const expected = expectedOf(await readEvents(database, after));
  const received = () => watchers.reduce((sum, { socket }) => sum + socket.record.events.length, 0);
  let last = { count: received(), at: performance.now() };
  while (performance.now() < until) {
    const isOpen = watchers.every(({ socket }) => socket.isOpen());
    const isComplete = watchers.every((watcher) => watcher.socket.record.events.length >= expected(watcher).length);
    if (isOpen && isComplete) break;
    if (!isOpen || received() !== last.count) last = { count: received(), at: performance.now() };
    else if (performance.now() - last.at > QUIET_MS) break;
    await wait(200);
  }
  // What is sent twice comes later than what is sent once.
  await wait(1_000);
}

/** @returns counts over all sockets */
export async function proveSockets(
  database: ScratchDatabase,
  watchers: readonly Watcher[],
  options: EventProofOptions,
  report: DrillReport,
): Promise<SocketCounts> {
  const expected = expectedOf(await readEvents(database, options.after));
  const positionOf = options.positionOf ?? ((row: EventRow) => row.id);
  const total: SocketCounts = { expected: 0, missing: 0, doubled: 0, unknown: 0, reconnects: 0 };
  for (const feed of ['ws', 'cabinet'] as const) {
    const mine = watchers.filter((watcher) => watcher.socket.feed === feed);
    const examples: string[] = [];
    const disorders: string[] = [];
    const counts = { expected: 0, missing: 0, doubled: 0, unknown: 0, reconnects: 0 };
    for (const watcher of mine) {
      const rows = expected(watcher);
      const { name, record } = watcher.socket;
      const identities = new Map(rows.map((row) => [row.id, socketIdentity(feed, row)]));
      const { missing, doubled, unknown } = compareOccurrences(identities.values(), record.events);
      counts.expected += rows.length;
      counts.missing += missing.length;
      counts.doubled += doubled.length;
      counts.unknown += unknown.length;
      counts.reconnects += record.reconnects;
      const idOf = new Map([...identities].map(([id, identity]) => [identity, id]));
      examples.push(...missing.map((identity) => `${name} never got event ${idOf.get(identity)} (${identity})`));
      examples.push(...doubled.map((identity) => `${name} got event ${idOf.get(identity)} again (${identity})`));
      if (!options.mayLose) examples.push(...unknown.map((identity) => `${name} got ${identity}, which is not in the database`));
      for (const { group, identity, earlier } of findDisorder(record.events, placesOf(feed, rows, positionOf)))
        disorders.push(`${name}, user ${group}: event ${idOf.get(identity)} after event ${idOf.get(earlier)}`);
    }
    const path = feed === 'ws' ? '/ws' : '/cabinet/ws';
    report.add(
      `${path}: each event exactly once`,
      `${mine.length} sockets, ${counts.reconnects} reconnects, ${counts.expected} expected, ${counts.missing} missing, ` +
        `${counts.doubled} doubled, ${counts.unknown} not in the database`,
      examples,
    );
    report.add(`${path}: in order for each user`, `${disorders.length} out of order`, disorders);
    for (const name of ['expected', 'missing', 'doubled', 'unknown', 'reconnects'] as const) total[name] += counts[name];
  }
  return total;
}

/** @param eventTypes what the webhooks of the receiver subscribe to, one type each. @returns counts of deliveries */
export async function proveWebhook(
  database: ScratchDatabase,
  receiver: WebhookReceiver,
  eventTypes: readonly string[],
  after: number,
  report: DrillReport,
): Promise<{ expected: number; missing: number; doubled: number }> {
  const rows = hookedOf(await readEvents(database, after), eventTypes);
  const expected = rows.map((row) => eventIdentity('ws', row.type, row.payload));
  const { missing, doubled, unknown } = compareOccurrences(expected, receiver.deliveries.values());
  const states = await database.withSql((run) =>
    run('SELECT status, count(*) AS n FROM webhook_deliveries GROUP BY 1 ORDER BY 1'),
  );
  const stored = states.map((row) => `${row.status} ${row.n}`).join(', ');
  report.add(
    `webhooks of ${eventTypes.join(', ')}: each event once`,
    `${rows.length} expected, ${receiver.deliveries.size} deliveries, ${missing.length} missing, ${doubled.length} doubled, ` +
      `${unknown.length} not in the database, ${receiver.refused} refused, ${receiver.repeats} repeats of a delivery id, stored as: ${stored}`,
    [
      ...missing.map((identity) => `never delivered: ${identity}`),
      ...doubled.map((identity) => `delivered with two ids: ${identity}`),
    ],
  );
  return { expected: rows.length, missing: missing.length, doubled: doubled.length };
}

/**
 * Waits until the receiver has accepted as many deliveries as there are events, at most `limitMs`. @returns milliseconds that it took
 */
export async function waitForWebhook(
  database: ScratchDatabase,
  receiver: WebhookReceiver,
  eventTypes: readonly string[],
  after: number,
  limitMs: number,
): Promise<number> {
  const startedAt = performance.now();
  // What was paid in a fault and never reported is credited by the service's own questions, also after the load (spec 10 F2).
  const isWaiting = async () => receiver.deliveries.size < hookedOf(await readEvents(database, after), eventTypes).length;
  while (performance.now() - startedAt < limitMs && (await isWaiting())) await wait(1_000);
  return performance.now() - startedAt;
}

function hookedOf(rows: readonly AudienceRow[], eventTypes: readonly string[]): AudienceRow[] {
  return rows.filter((row) => row.audience === 'feed' && eventTypes.includes(row.type));
}

function expectedOf(rows: readonly AudienceRow[]): (watcher: Watcher) => readonly AudienceRow[] {
  const feed = rows.filter((row) => row.audience === 'feed');
  const byUser = Map.groupBy(
    rows.filter((row) => row.audience === 'user'),
    (row) => row.userId,
  );
  return ({ userId }) => (userId === null ? feed : (byUser.get(userId) ?? []));
}

/** Events that cannot be distinguished have no place. */
function placesOf(
  feed: 'ws' | 'cabinet',
  rows: readonly EventRow[],
  positionOf: (row: EventRow) => number | null,
): Map<string, OrderedPlace> {
  const places = new Map<string, OrderedPlace>();
  const repeated = new Set<string>();
  for (const row of rows) {
    const userId = userOf(row);
    const position = positionOf(row);
    if (userId === null || position === null) continue;
    const identity = socketIdentity(feed, row);
    if (places.has(identity)) repeated.add(identity);
    places.set(identity, { group: String(userId), position });
  }
  for (const identity of repeated) places.delete(identity);
  return places;
}
