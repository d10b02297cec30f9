import type { App } from '../../core/app.ts';
import type { MessengerUpdate } from '../messaging/ports.ts';

export const DELETE_BUTTON = 'ban_notify:delete';

/** The pressed button under a message about a ban. */
export interface DeletePress {
  queryId: string;
  chatId: number | null;
  messageId: number | null;
}

/** Queues the pressed button under a message about a ban; the job handles it after the messenger has its answer. Ignores other updates. */
export async function receiveBanNoticeUpdate(app: App, update: MessengerUpdate): Promise<void> {
  if (update.kind !== 'callback' || update.data !== DELETE_BUTTON) return;
  const { queryId, chatId, messageId } = update;
  await app.jobs.send('bans.delete-notice', { queryId, chatId, messageId });
}

/** Deletes the message (job `bans.delete-notice`). That the messenger refuses it, as for an old message, changes nothing. */
export async function deleteNotice(app: App, { queryId, chatId, messageId }: DeletePress): Promise<void> {
  const { messenger } = app.ports;
  const quietly = (done: Promise<unknown>) => done.catch((error) => app.log.debug({ err: error }, 'a press was not answered'));
  await quietly(messenger.answerCallback(queryId));
  if (chatId !== null && messageId !== null) await quietly(messenger.deleteMessage(chatId, messageId));
}
