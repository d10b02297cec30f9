import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { limitOrRefuse } from '../../../core/rate-limit.ts';
import { userNotFound } from '../../identity/errors.ts';
import { findUserById } from '../../identity/find-user.ts';
import { sendMail } from '../../messaging/send-mail.ts';
import { sendMessage } from '../../messaging/send-message.ts';
import { htmlText, text } from '../../messaging/texts.ts';

const MINUTE_SECONDS = 60;

/**
 * Sends the user one notification by a job: in the messenger, else to the verified address; a user without either gets none (spec 05
 * section 9.1).
 * @returns a sentence for the user
 * @throws AppError 429 for the second in a minute
 */
export async function sendTestNotification(app: App, actor: UserActor): Promise<string> {
  await limitOrRefuse(app, `rate_limit:notification-test:${actor.userId}`, 1, MINUTE_SECONDS);
  const user = await findUserById(app, actor.userId);
  if (!user) throw userNotFound();
  const { messengerId, email, emailVerified, language } = user;
  await inTransaction(app, async (t) => {
    const service = { service_name: t.settings.get('SMTP_FROM_NAME') };
    if (messengerId !== null)
      await sendMessage(t, { messengerId, html: htmlText(language, 'messages.test_notification', service) });
    else if (email !== null && emailVerified) {
      await sendMail(t, { to: email, language, type: 'test_notification', params: service });
    }
  });
  return text(language, 'messages.test_notification_requested');
}
