import type { Actor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { refuse } from '../../core/errors.ts';
import { isRowId } from '../../core/row-id.ts';
import { userNotFound } from '../identity/errors.ts';
import type { SubscriptionEventType } from '../subscriptions/types.ts';
import { type EventFilter, findEvent, insertEvent, listEvents, type RecordedEvent, referencesOf } from './repo.ts';

export { insertEvent, type RecordedEvent } from './repo.ts';

export interface NewEvent {
  eventType: SubscriptionEventType;
  userId: number;
  subscriptionId: number | null;
  transactionId: number | null;
  /** Kopeks. */
  amountKopeks: number | null;
  currency: string | null;
  message: string | null;
  /** Null = now. */
  occurredAt: Date | null;
  extra: Record<string, unknown>;
}

export interface EventPage {
  items: RecordedEvent[];
  total: number;
}

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
  if (subscriptionId !== null && !found.hasSubscription) throw refuse('subscription_not_found', 404, 'Subscription not found');
  if (transactionId !== null && !found.hasTransaction) throw refuse('transaction_not_found', 404, 'Transaction not found');
  const now = app.clock.now();
  const id = await insertEvent(
    app.db,
    { ...event, message: event.message?.trim() || null, occurredAt: event.occurredAt ?? now },
    now,
  );
  return (await findEvent(app.db, id))!;
}

/** The dashboard feed, newest first (spec 05 section 9.2). */
export function readEvents(app: App, filter: EventFilter): Promise<EventPage> {
  return listEvents(app.db, filter);
}

function rowIdOrNull(id: number | null): number | null {
  return id !== null && isRowId(id) ? id : null;
}
