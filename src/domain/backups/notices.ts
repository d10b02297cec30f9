import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { adminChat } from '../messaging/admin-chat.ts';
import { sendMessage } from '../messaging/send-message.ts';
import { htmlText, type TextKey } from '../messaging/texts.ts';

export type BackupNotice = 'created' | 'create_failed' | 'restored' | 'restore_failed' | 'drill_failed' | 'not_sent';

/**
 * Queues a notice to the administrators' chat, topic infrastructure (spec 06 section 7). A notice that cannot be queued is logged: what it
 * is about is done, or has failed already.
 */
export async function notifyAdministrators(
  app: App,
  notice: BackupNotice,
  values: Record<string, string | number>,
): Promise<void> {
  const chat = adminChat(app, 'ADMIN_NOTIFICATIONS_INFRASTRUCTURE_TOPIC_ID');
  if (chat === null) return;
  const html = htmlText(app.settings.get('DEFAULT_LANGUAGE'), `backups.${notice}` as TextKey, values);
  // Any failure: of a notice; the backup or restore has its own result.
  await inTransaction(app, (t) => sendMessage(t, { ...chat, html })).catch((error: unknown) =>
    app.log.warn({ err: error }, 'a notice about a backup could not be queued'),
  );
}
