import type { Actor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import type { Changes } from '../../core/changes.ts';
import { refusal } from '../../core/errors.ts';
import { isRowId } from '../../core/row-id.ts';
import { userNotFound } from '../identity/errors.ts';
import { type EventFilter, findEvent, insertEvent, listEvents, type RecordedEvent, referencesOf } from './repo.ts';

export const subscriptionNotFound = refusal('subscription_not_found', 404, 'Subscription not found');
export const transactionNotFound = refusal('transaction_not_found', 404, 'Transaction not found');

export type NewEvent = Pick<RecordedEvent, 'eventType' | 'userId' | 'extra'> &
  Changes<{
    subscriptionId: number;
    transactionId: number;
    amountKopeks: number;
    currency: string;
    message: string;
    /** Null or absent = now. */
    occurredAt: Date;
  }>;

/**
 * Adds a row to the dashboard feed; nothing is emitted (spec 05 section 9.2).
 * @throws AppError 404 `User not found`, `Subscription not found`, `Transaction not found`: the latter two also when they belong
 * to another user
 */
export async function recordEvent(app: App, _actor: Actor, event: NewEvent): Promise<RecordedEvent> {
  const { userId, subscriptionId, transactionId } = event;
  const found = isRowId(userId)
    ? await referencesOf(app.db, userId, rowIdOrNull(subscriptionId), rowIdOrNull(transactionId))
    : null;
  if (!found) throw userNotFound();
  if (subscriptionId != null && !found.hasSubscription) throw subscriptionNotFound();
  if (transactionId != null && !found.hasTransaction) throw transactionNotFound();
  const id = await appendEvent(app, { ...event, message: event.message?.trim() || null });
  return (await findEvent(app.db, id))!;
}

/**
 * Adds a row to the dashboard feed for a user, subscription and transaction that the caller has just read; nothing is checked or emitted.
 * @returns the id of the row
 */
export function appendEvent(t: App, event: NewEvent): Promise<number> {
  const now = t.clock.now();
  return insertEvent(t.db, { ...event, occurredAt: event.occurredAt ?? now }, now);
}

/** The dashboard feed, newest first. */
export function readEvents(app: App, filter: EventFilter): Promise<{ items: RecordedEvent[]; total: number }> {
  return listEvents(app.db, filter);
}

function rowIdOrNull(id: number | null | undefined): number | null {
  return id != null && isRowId(id) ? id : null;
}
