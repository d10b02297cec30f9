import type { AdminActor, UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal } from '../../core/errors.ts';
import {
  countUnread,
  findRecipient,
  type Inbox,
  listNotifications,
  markRead,
  type TicketNotification,
} from './notification-repo.ts';
import type { Slice } from './repo.ts';

export const notificationNotFound = refusal('notification_not_found', 404, 'Notification not found');
const notAnAdminNotification = refusal('not_an_admin_notification', 403, 'This is not an admin notification');

/** A user's inbox is their own; administrators share one. */
type Reader = UserActor | AdminActor;

const inboxOf = (actor: Reader): Inbox => (actor.kind === 'user' ? { kind: 'user', userId: actor.userId } : { kind: 'admin' });

/** Newest first; the count includes all unread rows, not only those of the page (spec 05 section 2). */
export async function listTicketNotifications(
  app: App,
  actor: Reader,
  query: Slice & { unreadOnly: boolean },
): Promise<{ items: TicketNotification[]; unreadCount: number }> {
  const inbox = inboxOf(actor);
  const [items, unreadCount] = await Promise.all([listNotifications(app.db, inbox, query), countUnread(app.db, inbox)]);
  return { items, unreadCount };
}

export function countUnreadNotifications(app: App, actor: Reader): Promise<number> {
  return countUnread(app.db, inboxOf(actor));
}

/**
 * Marks one row read; a repeated call keeps the first time.
 * @throws AppError 404 'Notification not found', also for another user's row; 403 when an administrator names a user's row
 */
export async function readNotification(app: App, actor: Reader, id: number): Promise<void> {
  const inbox = inboxOf(actor);
  const recipient = await findRecipient(app.db, id);
  // A user must not learn that another user's row exists.
  const isForeign = inbox.kind === 'user' && (recipient?.isForAdmin || recipient?.userId !== inbox.userId);
  if (!recipient || isForeign) throw notificationNotFound();
  if (inbox.kind === 'admin' && !recipient.isForAdmin) throw notAnAdminNotification();
  await mark(app, inbox, { id });
}

/** @returns rows that were unread */
export function readAllNotifications(app: App, actor: Reader): Promise<number> {
  return mark(app, inboxOf(actor), 'all');
}

/** An unknown ticket has no rows. @returns rows that were unread */
export function readTicketNotifications(app: App, actor: Reader, ticketId: number): Promise<number> {
  return mark(app, inboxOf(actor), { ticketId });
}

function mark(app: App, inbox: Inbox, which: Parameters<typeof markRead>[2]): Promise<number> {
  return inTransaction(app, async (t) => {
    const unread = await markRead(t.db, inbox, which, t.clock.now());
    t.audit?.record({ before: { unread }, after: { unread: 0 } });
    return unread;
  });
}
