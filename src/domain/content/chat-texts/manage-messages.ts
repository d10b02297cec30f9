import type { App } from '../../../core/app.ts';
import { type Changes, givenFields } from '../../../core/changes.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal } from '../../../core/errors.ts';
import { checkBounds } from '../../../core/field-bounds.ts';
import type { Language } from '../../messaging/texts.ts';
import { checkMessengerText, requireText } from './check-text.ts';
import { deleteMessageRow, insertMessage, listMessages, lockMessage, updateMessageRow } from './messages-repo.ts';
import type { TextList, TextPage, UserMessage } from './types.ts';

export const messageNotFound = refusal('user_message_not_found', 404, 'User message not found');

type MessageValues = Pick<UserMessage, 'messageText' | 'isActive' | 'sortOrder'>;

/** Newest first (spec 05 section 6). */
export function listUserMessages(app: App, page: TextPage & { includeInactive: boolean }): Promise<TextList<UserMessage>> {
  return listMessages(app.db, page);
}

/**
 * @param language of a refusal; null = Russian
 * @throws ValidationError 422 | AppError 400 the messenger would refuse the text
 */
export async function createUserMessage(app: App, draft: MessageValues, language: Language | null): Promise<UserMessage> {
  const messageText = requireMessageText(draft.messageText);
  checkBounds([{ name: 'sort_order', value: draft.sortOrder }]);
  checkMessengerText(app, messageText, language);
  const { isActive, sortOrder } = draft;
  const made = await insertMessage(app.db, { messageText, isActive, sortOrder }, app.clock.now());
  app.audit?.record({ resourceId: made.id, before: null, after: made });
  return made;
}

/**
 * Null and absent fields stay as they are.
 * @param language of a refusal; null = Russian
 * @throws ValidationError 422 | AppError 404 'User message not found' | AppError 400 the messenger would refuse the text
 */
export function updateUserMessage(
  app: App,
  id: number,
  changes: Changes<MessageValues>,
  language: Language | null,
): Promise<UserMessage> {
  const given = givenFields(changes);
  const text = given.messageText === undefined ? {} : { messageText: requireMessageText(given.messageText) };
  checkBounds([{ name: 'sort_order', value: given.sortOrder }]);
  return changeMessage(app, id, () => {
    if (text.messageText !== undefined) checkMessengerText(app, text.messageText, language);
    return { ...given, ...text };
  });
}

/** Switches a message on or off. @throws AppError 404 'User message not found' */
export function toggleUserMessage(app: App, id: number): Promise<UserMessage> {
  return changeMessage(app, id, ({ isActive }) => ({ isActive: !isActive }));
}

/** @throws AppError 404 'User message not found' */
export async function deleteUserMessage(app: App, id: number): Promise<void> {
  const before = await deleteMessageRow(app.db, id);
  if (!before) throw messageNotFound();
  app.audit?.record({ before, after: null });
}

function changeMessage(app: App, id: number, changesOf: (message: UserMessage) => Partial<MessageValues>): Promise<UserMessage> {
  return inTransaction(app, async (t) => {
    const before = await lockMessage(t.db, id);
    if (!before) throw messageNotFound();
    const changes = changesOf(before);
    if (Object.keys(changes).length === 0) return before;
    const after = { ...before, ...changes, updatedAt: t.clock.now() };
    await updateMessageRow(t.db, after);
    t.audit?.record({ before, after });
    return after;
  });
}

const requireMessageText = (raw: string) => requireText('message_text', raw, 'Message text cannot be empty');
