import type { App } from '../../core/app.ts';
import { refusal } from '../../core/errors.ts';
import { checkMessengerText } from '../content/chat-texts/chat-menu.ts';
import { visibleText, withAllowedAttributes } from '../messaging/messenger-html.ts';
import type { Language } from '../messaging/texts.ts';
import type { PinnedMessage } from './types.ts';

export const messageNotFound = refusal('pinned_message_not_found', 404, 'Pinned message not found');
export const nothingToSend = refusal('pinned_message_empty', 400, 'Either content or media must be provided');

/** The text as it is stored: without attributes that only a browser would follow. */
export const storedContent = (app: App, content: string): string => withAllowedAttributes(content, app.ports.messenger.markup);

/**
 * Refuses what the messenger would refuse when the message is sent (spec 05 section 4). A text that shows nothing counts as none.
 * @param language of the refusal; null = Russian
 * @throws AppError 400 `pinned_message_empty` | `messenger_html` | `message_too_long` | `caption_too_long`
 */
export function checkSendable(
  app: App,
  { content, mediaFileId }: Pick<PinnedMessage, 'content' | 'mediaFileId'>,
  language: Language | null,
): void {
  const isCaption = mediaFileId !== null;
  if (!isCaption && content.trim() === '') throw nothingToSend();
  checkMessengerText(app, content, language, { isCaption });
  if (!isCaption && visibleText(content, app.ports.messenger.markup).trim() === '') throw nothingToSend();
}
