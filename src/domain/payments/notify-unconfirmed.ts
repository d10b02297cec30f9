import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { writeStateIfChanged } from '../../core/service-state.ts';
import { adminChat } from '../messaging/admin-chat.ts';
import { sendMessage } from '../messaging/send-message.ts';
import { htmlText } from '../messaging/texts.ts';
import { METHODS } from './method-defaults.ts';
import { isMethodConfigured, methodName } from './method-settings.ts';

/**
 * Tells the administrators' chat, once for each provider, that no public document confirms the interface of a provider that is in use (03a
 * section 11; queue `payments.notify-unconfirmed`). Without a chat it is told when there is one; the sandbox's fake is no provider in use.
 */
export async function notifyUnconfirmed(app: App): Promise<void> {
  for (const method of METHODS) {
    const isFake = app.env.sandboxProviders.includes(method.id);
    if (!method.isUnconfirmed || isFake || !isMethodConfigured(app, method)) continue;
    await inTransaction(app, async (t) => {
      const chat = adminChat(t, 'ADMIN_NOTIFICATIONS_ERRORS_TOPIC_ID');
      if (chat === null || !(await writeStateIfChanged(t.db, `payments:unconfirmed:${method.id}`, { isNotified: true }))) return;
      const html = htmlText(t.settings.get('DEFAULT_LANGUAGE'), 'payments.provider_unconfirmed', {
        method: methodName(t, method.id),
      });
      await sendMessage(t, { ...chat, html });
    });
  }
}
