import type { Changes } from '../../core/changes.ts';
import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import { fullName } from '../identity/rules.ts';
import type { NewEvent } from './record-event.ts';

const EVENT = columns('SubscriptionEvent', [
  ...(['id', 'eventType', 'userId', 'subscriptionId', 'transactionId', 'amountKopeks', 'currency', 'message'] as const),
  ...(['occurredAt', 'createdAt', 'extra'] as const),
]);

/** A row of the dashboard feed with its user; kopeks. */
export type RecordedEvent = RowOf<typeof EVENT> & {
  userFullName: string;
  userUsername: string | null;
  userMessengerId: number | null;
};

/** One page; a filter that is null or absent filters nothing. */
export type EventFilter = { limit: number; offset: number } & Changes<{
  /** Any of these; empty = all. */
  eventType: readonly string[];
  userId: number;
}>;

type EventRow = Omit<RecordedEvent, 'userFullName'> & {
  firstName: string | null;
  lastName: string | null;
  email: string | null;
};

const SELECT_EVENT = `SELECT ${EVENT.of('e')}, u.username AS user_username, u.messenger_id AS user_messenger_id,
  u.first_name, u.last_name, u.email`;

function toEvent({ firstName, lastName, email, ...event }: EventRow): RecordedEvent {
  const { userId: id, userUsername: username, userMessengerId: messengerId, extra } = event;
  return {
    ...event,
    userFullName: fullName({ id, firstName, lastName, username, messengerId, email }),
    extra:
      event.eventType === 'promocode_activation' ? { balance_before_kopeks: null, balance_after_kopeks: null, ...extra } : extra,
  };
}

/** Which of the named rows exist and belong to the user; null when the user does not exist. */
export async function referencesOf(
  db: Db,
  userId: number,
  subscriptionId: number | null,
  transactionId: number | null,
): Promise<{ hasSubscription: boolean; hasTransaction: boolean } | null> {
  const [row] = await db.sql<{ hasSubscription: boolean; hasTransaction: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM subscriptions s WHERE s.id = $2::int AND s.user_id = u.id) AS has_subscription,
       EXISTS (SELECT 1 FROM transactions x WHERE x.id = $3::int AND x.user_id = u.id AND NOT x.is_internal) AS has_transaction
     FROM users u WHERE u.id = $1::int`,
    [userId, subscriptionId, transactionId],
  );
  return row ?? null;
}

/** @returns the id of the new row */
export async function insertEvent(db: Db, event: NewEvent & { occurredAt: Date }, now: Date): Promise<number> {
  const data = { ...event, extra: event.extra as Prisma.InputJsonObject, createdAt: now };
  const { id } = await db.prisma.subscriptionEvent.create({ data, select: { id: true } });
  return id;
}

export async function findEvent(db: Db, id: number): Promise<RecordedEvent | null> {
  const [row] = await db.sql<EventRow>(
    `${SELECT_EVENT} FROM subscription_events e JOIN users u ON u.id = e.user_id WHERE e.id = $1::int`,
    [id],
  );
  return row ? toEvent(row) : null;
}

/**
 * Newest first; the page is cut before users are joined. The statements have only the filters that are set, so that each combination gets
 * its own plan.
 */
export async function listEvents(db: Db, filter: EventFilter): Promise<{ items: RecordedEvent[]; total: number }> {
  const values: unknown[] = [];
  const conditions: string[] = [];
  if (filter.eventType?.length) conditions.push(`event_type = ANY($${values.push(filter.eventType)}::text[])`);
  if (filter.userId != null) conditions.push(`user_id = $${values.push(filter.userId)}::bigint`);
  const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
  const [count] = await db.sql<{ total: number }>(`SELECT count(*)::int AS total FROM subscription_events ${where}`, values);
  const page = `LIMIT $${values.length + 1}::int OFFSET $${values.length + 2}::bigint`;
  const rows = await db.sql<EventRow>(
    `${SELECT_EVENT} FROM (SELECT ${EVENT.of()} FROM subscription_events ${where} ORDER BY occurred_at DESC, id DESC ${page}) e
       JOIN users u ON u.id = e.user_id ORDER BY e.occurred_at DESC, e.id DESC`,
    [...values, filter.limit, filter.offset],
  );
  return { items: rows.map(toEvent), total: count!.total };
}
