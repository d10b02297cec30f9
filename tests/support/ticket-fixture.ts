import type { TokenActor, UserActor } from '../../src/core/actor.ts';
import type { App } from '../../src/core/app.ts';
import { openTicket } from '../../src/domain/tickets/write-ticket.ts';
import { aUser, unique } from './builders.ts';
import { type RecordedEvent, recordedEventsOf } from './recorded-events.ts';

/** Builders for tests of tickets, and readers of what a change has written. */

export const noFile = { mediaType: null, mediaFileId: null, mediaCaption: null };

export async function aPerson(app: App, fields: Parameters<typeof aUser>[1] = {}): Promise<UserActor & { messengerId: number }> {
  const user = await aUser(app, fields);
  return { kind: 'user', userId: user.id, messengerId: user.messengerId };
}

export const token: TokenActor = { kind: 'token', tokenId: 1, name: 'test' };

export function aTicket(app: App, actor: UserActor, fields: Partial<Parameters<typeof openTicket>[2]> = {}) {
  return openTicket(app, actor, { title: 'No connection', text: 'It stopped working today.', ...noFile, ...fields });
}

/** A file as an upload stores it. */
export async function aFile(app: App): Promise<string> {
  const fileId = `file-of-tests-${unique()}`;
  await app.db.sql(`INSERT INTO media_files (file_id, media_type, source) VALUES ($1, 'photo', 'upload') RETURNING file_id`, [
    fileId,
  ]);
  return fileId;
}

/** Events of a ticket, in order. */
export async function eventsOf(app: App, ticketId: number): Promise<RecordedEvent[]> {
  const events = await recordedEventsOf(app, null, { prefix: 'ticket.' });
  return events.filter(({ payload }) => 'ticket_id' in payload && payload.ticket_id === ticketId);
}

export interface Row {
  notificationType: string;
  isForAdmin: boolean;
  message: string;
  userId: number;
}

export function rowsOf(app: App, ticketId: number): Promise<Row[]> {
  return app.db.sql<Row>(
    'SELECT notification_type, is_for_admin, message, user_id FROM ticket_notifications WHERE ticket_id = $1::int ORDER BY id',
    [ticketId],
  );
}

export interface QueuedMessage {
  messengerId: number;
  html: string;
  threadId?: number;
  photoFileId?: string;
  buttons?: { text: string; callbackData: string }[][];
}

/** Queued messages to a chat, taken out of the queue. */
export async function takeMessages(app: App, chatId: number): Promise<QueuedMessage[]> {
  const rows = await app.db.sql<{ data: QueuedMessage }>(
    `DELETE FROM jobs.job WHERE name = 'messenger.send' AND (data->>'messengerId')::bigint = $1::bigint RETURNING data`,
    [chatId],
  );
  return rows.map(({ data }) => data);
}
