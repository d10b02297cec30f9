import type { App } from '../../core/app.ts';
import { adminChat } from '../messaging/admin-chat.ts';
import { sendMessage } from '../messaging/send-message.ts';
import { htmlText, shorten, text } from '../messaging/texts.ts';

/**
 * Notifies the administrators' chat, topic of errors, that a webhook was disabled by its failures; in the transaction that disables it (spec
 * 06 section 14). @param isGone the receiver answered 410; else it has failed for days
 */
export async function notifyDisabled(t: App, webhookId: number, name: string, isGone: boolean): Promise<void> {
  const chat = adminChat(t, 'ADMIN_NOTIFICATIONS_ERRORS_TOPIC_ID');
  if (chat === null) return;
  const language = t.settings.get('DEFAULT_LANGUAGE');
  const reason = text(language, isGone ? 'messages.webhook_gone' : 'messages.webhook_failing');
  const html = htmlText(language, 'messages.webhook_disabled', { webhook_id: webhookId, name: shorten(name, 100), reason });
  await sendMessage(t, { ...chat, html });
}
