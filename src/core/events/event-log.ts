import { columns } from '../db/columns.ts';
import type { SqlRunner } from '../db/db.ts';
import type { DeliveredEvent } from './event-bus.ts';
import {
  type ClientPosition,
  contains,
  type EventPosition,
  type EventSnapshot,
  isSameSnapshot,
  positionTexts,
} from './event-position.ts';
import type { Audience, DomainEvent } from './event-recorder.ts';

const EVENT = columns('DomainEventRow', ['id', 'type', 'payload', 'audience', 'userId', 'createdAt', 'transactionNumber']);

/** An event as it is stored. */
export interface StoredEvent extends DomainEvent {
  transactionNumber: number;
}

/**
 * Which events a reader wants: every one, those of one audience, or what a user's sockets show. `staff` events are the same for each
 * administrator.
 */
export type EventScope =
  | { of: 'all' }
  | { of: 'audience'; audience: Audience }
  | { of: 'user'; userId: number; receivesStaffEvents: boolean };

export function isInScope(scope: EventScope, event: Pick<StoredEvent, 'audience' | 'userId'>): boolean {
  switch (scope.of) {
    case 'all':
      return true;
    case 'audience':
      return event.audience === scope.audience;
    case 'user':
      return event.audience === 'user' ? event.userId === scope.userId : scope.receivesStaffEvents && event.audience === 'staff';
  }
}

/** The snapshot of the statement that contains this, as text. */
const SNAPSHOT = 'pg_current_snapshot()::text AS snapshot, event_timeline() AS timeline';

interface SnapshotRow {
  snapshot: string;
  timeline: number;
}

/** The present snapshot. @throws when the server is a standby */
export async function readSnapshot(sql: SqlRunner): Promise<EventSnapshot> {
  const [row] = await sql<SnapshotRow>(`SELECT ${SNAPSHOT}`);
  return snapshotOf(row!);
}

/** A number that tells this database from others: of other servers, and of the same server under whatever name. */
export async function readDatabaseNumber(sql: SqlRunner): Promise<number> {
  const [row] = await sql<{ number: number }>('SELECT database_number() AS number');
  return row!.number;
}

/** As `event_transaction_number()` counts, in prisma/sql/events.sql. */
const NUMBERS_OF_A_TIMELINE = 2 ** 42;

/** @param row.snapshot `xmin:xmax:running,running` */
function snapshotOf({ snapshot, timeline }: SnapshotRow): EventSnapshot {
  const [, next, running] = snapshot.split(':');
  const numberOf = (id: string) => timeline * NUMBERS_OF_A_TIMELINE + Number(id);
  return { next: numberOf(next!), running: running ? running.split(',').map(numberOf) : [] };
}

export interface NewEvents {
  /** By id; all of them unless `isCut`. */
  events: StoredEvent[];
  /** The snapshot in which they were read. */
  snapshot: EventSnapshot;
  /** There are more than `limit`. */
  isCut: boolean;
}

/**
 * Events that were committed after `since`, by the index of transaction numbers, however many events there are in all (spec 08 S4).
 * @param below leaves out transactions from this number on; null = none
 */
export async function readNewEvents(
  sql: SqlRunner,
  since: EventSnapshot,
  options: { scope: EventScope; limit: number; below: number | null },
): Promise<NewEvents> {
  const values: unknown[] = [since.next, since.running, options.limit + 1, options.below ?? Number.MAX_SAFE_INTEGER];
  const parts = conditionsOf(options.scope, values).flatMap((condition) => [
    // The order makes the planner use the index for any number of rows.
    `(SELECT * FROM domain_events WHERE transaction_number >= $1::bigint AND transaction_number < $4::bigint${condition}
      ORDER BY transaction_number LIMIT $3::int)`,
    `(SELECT * FROM domain_events WHERE transaction_number = ANY ($2::bigint[])${condition} ORDER BY transaction_number LIMIT $3::int)`,
  ]);
  const rows = await sql<SnapshotRow & (StoredEvent | { id: null })>(
    `SELECT now.snapshot, now.timeline, ${EVENT.of('e')} FROM (SELECT ${SNAPSHOT}) now LEFT JOIN LATERAL (${parts.join(' UNION ALL ')}) e ON true`,
    values,
  );
  const events = rows.flatMap(({ snapshot: _snapshot, timeline: _timeline, ...event }) => (event.id === null ? [] : [event]));
  return { events: byId(events), snapshot: snapshotOf(rows[0]!), isCut: events.length > options.limit };
}

/** @returns conditions of which a row fulfils one at most, each beginning with AND */
function conditionsOf(scope: EventScope, values: unknown[]): string[] {
  switch (scope.of) {
    case 'all':
      return [''];
    case 'audience':
      return [` AND audience = $${values.push(scope.audience)}`];
    case 'user': {
      const userCondition = ` AND audience = 'user' AND user_id = $${values.push(scope.userId)}::int`;
      return scope.receivesStaffEvents ? [userCondition, " AND audience = 'staff'"] : [userCondition];
    }
  }
}

/** The lowest and the highest id of the events after `since`: the range in which a long list of them is read page by page. */
export async function readIdRange(
  sql: SqlRunner,
  since: EventSnapshot,
  scope: EventScope,
): Promise<{ first: number; last: number } | null> {
  const values: unknown[] = [since.next, since.running];
  // OFFSET 0: otherwise the planner reads ids from the lowest one on until it meets a row that fulfils the condition.
  const parts = conditionsOf(scope, values).map(
    (condition) => `(SELECT id FROM domain_events
       WHERE (transaction_number >= $1::bigint OR transaction_number = ANY ($2::bigint[]))${condition} OFFSET 0)`,
  );
  const [row] = await sql<{ first: number | null; last: number | null }>(
    `SELECT min(id) AS first, max(id) AS last FROM (${parts.join(' UNION ALL ')}) e`,
    values,
  );
  return row?.first == null || row.last === null ? null : { first: row.first, last: row.last };
}

/** A page of events by id, those of every transaction that is committed by now. */
export async function readPage(
  sql: SqlRunner,
  afterId: number,
  lastId: number,
  options: { scope: EventScope; limit: number },
): Promise<StoredEvent[]> {
  const values: unknown[] = [afterId, lastId, options.limit];
  const parts = conditionsOf(options.scope, values).map(
    (condition) =>
      `(SELECT * FROM domain_events WHERE id > $1::bigint AND id <= $2::bigint${condition} ORDER BY id LIMIT $3::int)`,
  );
  return sql<StoredEvent>(`SELECT ${EVENT.of('e')} FROM (${parts.join(' UNION ALL ')}) e ORDER BY id LIMIT $3::int`, values);
}

/** Events of a round, see `EventPosition`. */
export function isOfRound(event: StoredEvent, base: EventSnapshot, target: EventSnapshot): boolean {
  return contains(target, event.transactionNumber) && !contains(base, event.transactionNumber);
}

function byId(events: StoredEvent[]): StoredEvent[] {
  return events.sort((a, b) => a.id - b.id);
}

/**
 * Marks events as settled that came from another server by a dump: their numbers are of that server, and every reader would take those
 * above the present ones for new. One statement: what is visible to its snapshot and was written here has a lower number.
 * @returns how many
 */
export async function settleForeignEvents(sql: SqlRunner): Promise<number> {
  const rows = await sql(
    `UPDATE domain_events SET transaction_number = 0 WHERE transaction_number >=
       (SELECT event_timeline() * ${NUMBERS_OF_A_TIMELINE} + pg_snapshot_xmax(pg_current_snapshot())::text::bigint)
     RETURNING 1 AS settled`,
  );
  return rows.length;
}

/**
 * Whether the database was brought back to an earlier point in time since `since`: the first event of a timeline begun meanwhile is that of
 * a restore (docs/point-in-time-recovery.md). A client may then have received events that do not exist any more. A failover writes no such
 * event.
 * @param until a snapshot of the present timeline
 */
export async function wasBroughtBack(sql: SqlRunner, since: EventSnapshot, until: EventSnapshot): Promise<boolean> {
  const timelineOf = ({ next }: EventSnapshot) => Math.floor(next / NUMBERS_OF_A_TIMELINE);
  if (timelineOf(since) >= timelineOf(until)) return false;
  const rows = await sql(
    `SELECT 1 AS found FROM generate_series($1::bigint, $2::bigint) timeline, LATERAL (
       SELECT type FROM domain_events WHERE transaction_number >= timeline * ${NUMBERS_OF_A_TIMELINE}
         AND transaction_number < (timeline + 1) * ${NUMBERS_OF_A_TIMELINE} ORDER BY transaction_number, id LIMIT 1) first
     WHERE first.type = $3`,
    [timelineOf(since) + 1, timelineOf(until), DATABASE_RESTORED],
  );
  return rows.length > 0;
}

/** A page waits in memory while its client reads, so it is not larger than what may wait for a client that receives live events. */
const PAGE = 500;

/** A part of a round: the events with ids above `afterId`, up to and including `throughId`. */
interface Part {
  base: EventSnapshot;
  target: EventSnapshot;
  afterId: number;
  throughId: number;
}

/**
 * Reads what a client missed: the events after the position `from` that are delivered at the position `until`, in pages and in the order
 * in which they were, or could have been, delivered live (spec 08 S6). Their positions are as old as `from`: the events that a client has not
 * received when it leaves in between are deleted as early as those after `from`.
 * @param until a position of this instance that is not before `from`
 */
export async function* replayEvents(
  sql: SqlRunner,
  { position: from, ...origin }: ClientPosition,
  until: EventPosition,
  scope: EventScope,
): AsyncGenerator<DeliveredEvent[]> {
  for (const part of partsBetween(from, until)) {
    if (isSameSnapshot(part.base, part.target)) continue;
    const textAfter = positionTexts(part, origin);
    for await (const events of readPart(sql, part, scope)) {
      if (events.length > 0) yield events.map((event) => ({ ...event, positionText: textAfter(event.id) }));
    }
  }
}

function partsBetween(from: EventPosition, until: EventPosition): Part[] {
  if (isSameSnapshot(from.base, until.base) && isSameSnapshot(from.target, until.target)) {
    return [{ base: from.base, target: from.target, afterId: from.throughId, throughId: until.throughId }];
  }
  const everything = { afterId: 0, throughId: Number.MAX_SAFE_INTEGER };
  return [
    { ...everything, base: from.base, target: from.target, afterId: from.throughId },
    { ...everything, base: from.target, target: until.base },
    { ...everything, base: until.base, target: until.target, throughId: until.throughId },
  ];
}

async function* readPart(sql: SqlRunner, part: Part, scope: EventScope): AsyncGenerator<StoredEvent[]> {
  const { base, target, afterId, throughId } = part;
  const isWanted = (event: StoredEvent) => event.id > afterId && event.id <= throughId && isOfRound(event, base, target);
  const found = await readNewEvents(sql, base, { scope, limit: PAGE, below: target.next });
  if (!found.isCut) {
    yield found.events.filter(isWanted);
    return;
  }
  const ids = await readIdRange(sql, base, scope);
  if (ids === null) return;
  const lastId = Math.min(ids.last, throughId);
  for (let readThrough = Math.max(ids.first - 1, afterId); ; ) {
    const page = await readPage(sql, readThrough, lastId, { scope, limit: PAGE });
    yield page.filter(isWanted);
    if (page.length < PAGE) return;
    readThrough = page.at(-1)!.id;
  }
}

declare module './event-recorder.ts' {
  interface EventTypes {
    /** For the instances: all data was replaced or changed by a restore, so nothing that was read before counts. */
    [DATABASE_RESTORED]: EventType<Record<string, never>, 'instance'>;
  }
}

export const DATABASE_RESTORED = 'database.restored';
