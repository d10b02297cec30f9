import type { App } from '../../core/app.ts';
import type { EventPayload, EventsTo } from '../../core/events/event-recorder.ts';
import type { MailParams, MailType } from './render-mail.ts';
import { sendMail } from './send-mail.ts';
import { sendMessage } from './send-message.ts';

/** How a user is reached. */
export interface Recipient {
  userId: number;
  /** Of the account: only active ones are notified. */
  status: string;
  messengerId: number | null;
  /** Null unless verified. */
  verifiedEmail: string | null;
  language: string;
}

export function recipientOf(user: {
  id: number;
  status: string;
  messengerId: number | null;
  email: string | null;
  emailVerified: boolean;
  language: string;
}): Recipient {
  const { id: userId, status, messengerId, email, emailVerified, language } = user;
  return { userId, status, messengerId, verifiedEmail: emailVerified ? email : null, language };
}

/** One notice in its three forms. */
export interface UserNotice<K extends EventsTo<'user'>, M extends MailType> {
  /** For the messenger, values escaped. */
  html: string;
  mail: M;
  mailParams: MailParams<M>;
  /** `notification.<type>`, for the sockets of users without a messenger. */
  event: K;
  context: EventPayload<K>;
  /** It is sent at most once through the messenger (`sendMessage`). */
  isOnce?: boolean;
}

/**
 * Queues a notice in the caller's transaction: in the messenger if the user has one, else by mail to a verified address and on the user's
 * sockets. Blocked and deleted users are not notified (spec 05 section 9.3).
 */
export async function notifyUser<K extends EventsTo<'user'>, M extends MailType>(
  t: App,
  recipient: Recipient,
  notice: UserNotice<K, M>,
): Promise<void> {
  const { userId, status, messengerId, verifiedEmail, language } = recipient;
  if (status !== 'active') return;
  if (messengerId !== null) {
    await sendMessage(t, { messengerId, html: notice.html }, { isOnce: notice.isOnce ?? false });
  } else if (verifiedEmail !== null) {
    await sendMail(t, { to: verifiedEmail, language, type: notice.mail, params: notice.mailParams });
    await t.events.emit(notice.event, notice.context, { audience: 'user', userId });
  }
}
