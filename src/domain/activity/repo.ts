import type { Db } from '../../core/db/db.ts';
import { fullName } from '../identity/rules.ts';
import type { NewEvent } from './record-event.ts';

/** A row of the dashboard feed with its user; kopeks. */
export interface RecordedEvent {
  id: number;
  eventType: string;
  userId: number;
  userFullName: string;
  userUsername: string | null;
  userMessengerId: number | null;
  subscriptionId: number | null;
  transactionId: number | null;
  amountKopeks: number | null;
  currency: string | null;
  message: string | null;
  occurredAt: Date;
  createdAt: Date;
  extra: Record<string, unknown>;
}

export interface EventFilter {
  /** Any of these; empty = all. */
  eventTypes: readonly string[];
  userId: number | null;
  limit: number;
  offset: number;
}

interface EventRow {
  id: number;
  eventType: string;
  userId: number;
  firstName: string | null;
  lastName: string | null;
  email: string | null;
  username: string | null;
  messengerId: number | null;
  subscriptionId: number | null;
  transactionId: number | null;
  amountKopeks: number | null;
  currency: string | null;
  message: string | null;
  occurredAt: Date;
  createdAt: Date;
  extra: Record<string, unknown>;
}

const COLUMNS = 'e.*, u.username, u.messenger_id, u.first_name, u.last_name, u.email';

function toEvent(row: EventRow): RecordedEvent {
  return {
    id: row.id,
    eventType: row.eventType,
    userId: row.userId,
    userFullName: fullName({
      id: row.userId,
      firstName: row.firstName,
      lastName: row.lastName,
      username: row.username,
      messengerId: row.messengerId,
      email: row.email,
    }),
    userUsername: row.username,
    userMessengerId: row.messengerId,
    subscriptionId: row.subscriptionId,
    transactionId: row.transactionId,
    amountKopeks: row.amountKopeks,
    currency: row.currency,
    message: row.message,
    occurredAt: row.occurredAt,
    createdAt: row.createdAt,
    extra:
      row.eventType === 'promocode_activation'
        ? { balance_before_kopeks: null, balance_after_kopeks: null, ...row.extra }
        : row.extra,
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
  return row ? { hasSubscription: row.hasSubscription, hasTransaction: row.hasTransaction } : null;
}

/** @returns the id of the new row */
export async function insertEvent(db: Db, event: NewEvent & { occurredAt: Date }, now: Date): Promise<number> {
  const [row] = await db.sql<{ id: number }>(
    `INSERT INTO subscription_events
       (event_type, user_id, subscription_id, transaction_id, amount_kopeks, currency, message, occurred_at, extra, created_at)
     VALUES ($1, $2::int, $3::int, $4::int, $5::bigint, $6, $7, $8::timestamptz, $9::jsonb, $10::timestamptz) RETURNING id`,
    [
      event.eventType,
      event.userId,
      event.subscriptionId,
      event.transactionId,
      event.amountKopeks,
      event.currency,
      event.message,
      event.occurredAt,
      JSON.stringify(event.extra),
      now,
    ],
  );
  return row!.id;
}

export async function findEvent(db: Db, id: number): Promise<RecordedEvent | null> {
  const [row] = await db.sql<EventRow>(
    `SELECT ${COLUMNS} FROM subscription_events e JOIN users u ON u.id = e.user_id WHERE e.id = $1::int`,
    [id],
  );
  return row ? toEvent(row) : null;
}

/**
 * Newest first; the page is cut before users are joined. Only the filters that are set stand in the statements, so that each has
 * a plan of its own.
 */
export async function listEvents(db: Db, filter: EventFilter): Promise<{ items: RecordedEvent[]; total: number }> {
  const values: unknown[] = [];
  const conditions: string[] = [];
  if (filter.eventTypes.length > 0) conditions.push(`event_type = ANY($${values.push(filter.eventTypes)}::text[])`);
  if (filter.userId !== null) conditions.push(`user_id = $${values.push(filter.userId)}::bigint`);
  const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
  const [count] = await db.sql<{ total: number }>(`SELECT count(*)::int AS total FROM subscription_events ${where}`, values);
  const page = `LIMIT $${values.length + 1}::int OFFSET $${values.length + 2}::bigint`;
  const rows = await db.sql<EventRow>(
    `SELECT ${COLUMNS} FROM (SELECT * FROM subscription_events ${where} ORDER BY occurred_at DESC, id DESC ${page}) e
       JOIN users u ON u.id = e.user_id ORDER BY e.occurred_at DESC, e.id DESC`,
    [...values, filter.limit, filter.offset],
  );
  return { items: rows.map(toEvent), total: count!.total };
}
