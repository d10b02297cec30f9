import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { adminChat } from '../messaging/admin-chat.ts';
import { sendMessage } from '../messaging/send-message.ts';
import { htmlText, type TextKey, text } from '../messaging/texts.ts';
import { caseAmount } from './case-amount.ts';
import { claimNotice, findCase } from './case-repo.ts';
import { methodName } from './method-settings.ts';

/** Tells the administrators' chat about an open case, once (queue `payments.notify-case`). */
export async function notifyCase(app: App, { caseId }: { caseId: number }): Promise<void> {
  await inTransaction(app, async (t) => {
    const found = await findCase(t.db, caseId);
    if (!found || !(await claimNotice(t.db, caseId, t.clock.now()))) return;
    const chat = adminChat(t, 'ADMIN_NOTIFICATIONS_ERRORS_TOPIC_ID');
    if (chat === null) return;
    const language = t.settings.get('DEFAULT_LANGUAGE');
    const html = htmlText(language, 'payments.case_opened', {
      case_id: found.id,
      reason: text(language, `payments.case_${found.kind}` as TextKey),
      method: methodName(t, found.method),
      amount: caseAmount(found),
      payment_id: found.paymentId ?? '—',
      user_id: found.userId ?? '—',
    });
    await sendMessage(t, { ...chat, html });
  });
}
