import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import type { Changes } from '../../../core/changes.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { formatPrice } from '../../../core/money.ts';
import { limitOrRefuse } from '../../../core/rate-limit.ts';
import { readEvents } from '../../activity/record-event.ts';
import { userNotFound } from '../../identity/errors.ts';
import { findUserById } from '../../identity/find-user.ts';
import {
  type NotificationPreferences,
  PREFERENCE_NAMES,
  readPreferences,
  storedPreferenceName,
} from '../../identity/preferences.ts';
import { sendMail } from '../../messaging/send-mail.ts';
import { sendMessage } from '../../messaging/send-message.ts';
import { htmlText, type TextKey, text } from '../../messaging/texts.ts';
import { findPreferences, mergePreferences } from './repo.ts';

/** No news any more, for a user who need not be signed in. */
export async function switchOffNews(t: App, userId: number): Promise<void> {
  await mergePreferences(t.db, userId, { [storedPreferenceName('newsEnabled')]: false }, t.clock.now());
}

/** What the user wants to be notified of. @throws AppError 404 for a user who was deleted meanwhile */
export async function readMyPreferences(app: App, actor: UserActor): Promise<NotificationPreferences> {
  const found = await findPreferences(app.db, actor.userId);
  if (found === null) throw userNotFound();
  return readPreferences(found.stored);
}

/**
 * Changes the preferences that are sent; null and absent ones stay. The next notice follows them (spec 05 section 9.1).
 * @returns all of them
 */
export async function changeMyPreferences(
  app: App,
  actor: UserActor,
  changes: Changes<NotificationPreferences>,
): Promise<NotificationPreferences> {
  const sent = PREFERENCE_NAMES.flatMap((name) => {
    const value = changes[name];
    return value == null ? [] : [[storedPreferenceName(name), value] as const];
  });
  if (sent.length === 0) return readMyPreferences(app, actor);
  const merged = await mergePreferences(app.db, actor.userId, Object.fromEntries(sent), app.clock.now());
  if (merged === null) throw userNotFound();
  return readPreferences(merged.stored);
}

/** Events of the feed that concern their user, with the text `messages.history_<type>`. Others are for the administrators. */
const TYPES = [
  ...(['activation', 'purchase', 'renewal', 'balance_topup', 'promocode_activation', 'promo_group_change'] as const),
  'autopay_failed',
] as const;

interface HistoryItem {
  id: number;
  type: string;
  /** A sentence in the language of the user. */
  message: string;
  amountKopeks: number | null;
  /** `500 ₽`. */
  formattedAmount: string | null;
  createdAt: Date;
}

/** What happened on the user's account, newest first, from the feed of the service. */
export async function listMyHistory(
  app: App,
  actor: UserActor,
  page: { limit: number; offset: number },
): Promise<{ notifications: HistoryItem[]; total: number }> {
  const { items, total } = await readEvents(app, { ...page, userId: actor.userId, eventType: TYPES });
  const language = items.length === 0 ? null : ((await findUserById(app, actor.userId))?.language ?? null);
  const notifications = items.map(({ id, eventType: type, amountKopeks, occurredAt: createdAt }) => ({
    ...{ id, type, amountKopeks, createdAt },
    message: text(language, `messages.history_${type}` as TextKey),
    formattedAmount: amountKopeks === null ? null : formatPrice(amountKopeks, false),
  }));
  return { notifications, total };
}

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
