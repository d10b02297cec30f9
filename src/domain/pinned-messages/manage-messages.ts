import type { App } from '../../core/app.ts';
import { givenFields } from '../../core/changes.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal } from '../../core/errors.ts';
import { stopSends } from '../mass-sends/control-sends.ts';
import type { Language } from '../messaging/texts.ts';
import { checkFileId, storedMedia } from './message-media.ts';
import {
  deactivateActive,
  deleteMessage,
  findActive,
  findMessage,
  listMessages,
  lockActivation,
  lockMessage,
  updateMessage,
} from './repo.ts';
import { checkSendable, messageNotFound, storedContent } from './rules.ts';
import type { PinnedChanges, PinnedMessage } from './types.ts';

export const pinnedMessageActive = refusal(
  'pinned_message_active',
  409,
  'Cannot delete active pinned message. Deactivate it first.',
);

/** Newest first (spec 05 section 4). */
export function listPinnedMessages(
  app: App,
  page: { limit: number; offset: number; activeOnly: boolean },
): Promise<{ items: PinnedMessage[]; total: number }> {
  return listMessages(app.db, page);
}

/** Null while none is active. */
export function readActiveMessage(app: App): Promise<PinnedMessage | null> {
  return findActive(app.db);
}

/** @throws AppError 404 'Pinned message not found' */
export async function readPinnedMessage(app: App, id: number): Promise<PinnedMessage> {
  const message = await findMessage(app.db, id);
  if (!message) throw messageNotFound();
  return message;
}

/**
 * Null and absent fields stay as they are, so a file can be replaced and not removed. Nothing is sent again.
 * @param language of a refusal; null = Russian
 * @throws ValidationError 422 | AppError 404 | AppError 400 what is left could not be sent
 */
export function updatePinnedMessage(
  app: App,
  id: number,
  changes: PinnedChanges,
  language: Language | null,
): Promise<PinnedMessage> {
  const { media, ...given } = givenFields(changes);
  if (media) checkFileId(media);
  return inTransaction(app, async (t) => {
    const before = await lockMessage(t.db, id);
    if (!before) throw messageNotFound();
    if (!media && Object.keys(given).length === 0) return before;
    const file = media ? await storedMedia(t, media) : {};
    const content = given.content === undefined ? before.content : storedContent(t, given.content);
    const after = { ...before, ...given, ...file, content, updatedAt: t.clock.now() };
    if (media || given.content !== undefined) checkSendable(t, after, language);
    await updateMessage(t.db, after);
    t.audit?.record({ before, after });
    return after;
  });
}

/** The pins in the chats stay. @returns the message, which is inactive then; null when none was active */
export function deactivateMessage(app: App): Promise<PinnedMessage | null> {
  return inTransaction(app, async (t) => {
    await lockActivation(t.db);
    const message = await deactivateActive(t.db, t.clock.now());
    if (message) t.audit?.record({ resourceId: message.id, before: { isActive: true }, after: { isActive: false } });
    return message;
  });
}

/**
 * Deletes a message and ends its broadcast; the pins in the chats stay.
 * @param mayBeActive otherwise an active message is refused
 * @throws AppError 404 | AppError 409 it is active
 */
export function deletePinnedMessage(app: App, id: number, { mayBeActive }: { mayBeActive: boolean }): Promise<void> {
  return inTransaction(app, async (t) => {
    const before = await lockMessage(t.db, id);
    if (!before) throw messageNotFound();
    if (before.isActive && !mayBeActive) throw pinnedMessageActive();
    await stopSends(t, 'pinned', id);
    await deleteMessage(t.db, id);
    t.audit?.record({ before, after: null });
  });
}
