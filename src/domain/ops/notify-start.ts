import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { adminChat } from '../messaging/admin-chat.ts';
import { sendMessage } from '../messaging/send-message.ts';
import { htmlText } from '../messaging/texts.ts';

/** Notifies the administrators' chat, topic of infrastructure, that an instance has started (spec 06 section 15). @param instance its host */
export async function notifyStart(app: App, instance: string): Promise<void> {
  const chat = adminChat(app, 'ADMIN_NOTIFICATIONS_INFRASTRUCTURE_TOPIC_ID');
  if (chat === null) return;
  const values = { version: app.ports.instance.version(), instance };
  const html = htmlText(app.settings.get('DEFAULT_LANGUAGE'), 'messages.service_started', values);
  await inTransaction(app, (t) => sendMessage(t, { ...chat, html }));
}
