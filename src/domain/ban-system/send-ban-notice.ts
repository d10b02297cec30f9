import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import type { App } from '../../core/app.ts';
import { SECOND_MS } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal } from '../../core/errors.ts';
import { defineEvent, type EventsOf } from '../../core/events/define-event.ts';
import { NoFields } from '../../core/events/event-fields.ts';
import { normaliseEmail } from '../identity/rules.ts';
import { recipientOf } from '../messaging/notify-user.ts';
import { MessengerError } from '../messaging/ports.ts';
import { sendMail } from '../messaging/send-mail.ts';
import { type TextKey, type TextParams, text } from '../messaging/texts.ts';
import { isPanelError, type PanelUser } from '../provisioning/ports.ts';
import { DELETE_BUTTON } from './delete-notice.ts';
import {
  type BanNoticeType,
  type BanNoticeValues,
  mailReason,
  missingFields,
  noticeHtml,
  TEMPLATES,
  warningOf,
} from './notice-text.ts';
import { findRecipient, type RecipientRow } from './repo.ts';

export const banNoticeFields = refusal('ban_notice_fields', 400, 'Для уведомления network_mobile нужны поля: ban_minutes');
export const panelUnavailable = refusal('panel_unavailable', 502, 'VPN panel did not answer');

const Warning = z.object({ message: z.string().describe('Text of the warning.') });

export const BAN_EVENTS = [
  defineEvent('account.warning', Warning, {
    audience: 'user',
    description: 'A warning of the ban system; a user without a messenger also gets `notification.warning_notification`.',
    example: { message: 'Too many devices' },
  }),
  defineEvent('notification.ban_notification', z.object({ reason: z.string().describe('Why.') }), {
    audience: 'user',
    description: 'The ban system banned the user, for a user without a messenger.',
    example: { reason: 'Too many devices' },
  }),
  defineEvent('notification.unban_notification', NoFields, {
    ...{ audience: 'user', description: 'The ban system lifted a ban, for a user without a messenger.', example: {} },
  }),
  defineEvent('notification.warning_notification', Warning, {
    audience: 'user',
    description: 'A warning of the ban system, for a user without a messenger.',
    example: { message: 'Too many devices' },
  }),
] as const;

declare module '../../core/events/event-recorder.ts' {
  interface EventTypes extends EventsOf<typeof BAN_EVENTS> {}
}

export interface BanNotice extends BanNoticeValues {
  notificationType: BanNoticeType;
  /** Name or uuid in the panel, or e-mail. */
  userIdentifier: string;
}

export interface BanNoticeResult {
  isSent: boolean;
  /** In Russian. */
  message: string;
  messengerId: number | null;
}

const SEND_TIMEOUT_MS = 10 * SECOND_MS;
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/**
 * Tells a user of a ban, its end or a warning: in the messenger before the answer, outside any transaction, else by mail and on the sockets.
 * A warning is also the event `account.warning` of the user's cabinets. One message a call, nothing is repeated (spec 06 section 13).
 * @returns also for a user who is not found and for a message that could not be sent
 * @throws AppError 400 when a field of the type is missing | 502 while the panel, which knows the user, gives no answer
 */
export async function sendBanNotice(app: App, notice: BanNotice): Promise<BanNoticeResult> {
  const { notificationType: type, userIdentifier } = notice;
  const fields = missingFields(type, notice);
  if (fields !== null) throw banNoticeFields({ detail: russian('operations.ban_fields_missing', { type, fields }) });
  if (!app.ports.messenger.isConfigured()) return failed('operations.ban_no_bot', null);
  const user = await userOf(app, userIdentifier.trim());
  if (user === null) return failed('operations.ban_user_not_found', null, { identifier: userIdentifier });
  if (type === 'warning') await showWarning(app, user.id, warningOf(notice.warningMessage));
  return user.messengerId === null ? sendByMail(app, user, notice) : sendInMessenger(app, user, user.messengerId, notice);
}

/** For the cabinets that are open: they show it whatever becomes of the message and the mail. */
async function showWarning(app: App, userId: number, message: string): Promise<void> {
  await inTransaction(app, (t) => t.events.emit('account.warning', { message }, { audience: 'user', userId }));
}

function russian(key: TextKey, params: TextParams = {}): string {
  return text('ru', key, params);
}

function failed(key: TextKey, messengerId: number | null, params: TextParams = {}): BanNoticeResult {
  return { isSent: false, message: russian(key, params), messengerId };
}

/** Here by the panel's uuid or by a verified e-mail, else by what the panel knows of the name: one or two look-ups, never its whole list. */
async function userOf(app: App, identifier: string): Promise<RecipientRow | null> {
  const email = identifier.includes('@') ? normaliseEmail(identifier) : null;
  const known = await findRecipient(app.db, { panelUuid: UUID.test(identifier) ? identifier : null, messengerId: null, email });
  if (known !== null || identifier === '' || app.ports.panel.configurationError() !== null) return known;
  const found =
    (await askPanel(() => app.ports.panel.findByUsername(identifier))) ??
    (email === null ? null : await askPanel(() => app.ports.panel.findByEmail(email)));
  if (found === null) return null;
  const { uuid: panelUuid, messengerId } = found;
  return findRecipient(app.db, { panelUuid, messengerId, email: found.email === null ? null : normaliseEmail(found.email) });
}

/** A name that the panel refuses is nobody's. @throws AppError 502 */
async function askPanel(ask: () => Promise<PanelUser | null>): Promise<PanelUser | null> {
  try {
    return await ask();
  } catch (error) {
    if (!isPanelError(error)) throw error;
    if (error.kind === 'rejected') return null;
    throw panelUnavailable({ detail: error.message, cause: error });
  }
}

async function sendInMessenger(
  app: App,
  { language }: RecipientRow,
  messengerId: number,
  notice: BanNotice,
): Promise<BanNoticeResult> {
  const { notificationType: type } = notice;
  const html = noticeHtml(app.settings.get(TEMPLATES[type]), type, notice, language);
  const buttons = [[{ text: text(language, 'operations.ban_delete'), callbackData: DELETE_BUTTON }]];
  const sending = app.ports.messenger.sendMessage(messengerId, html, { buttons });
  try {
    const sent = await Promise.race([sending, wait(SEND_TIMEOUT_MS, null, { ref: false })]);
    if (sent !== null) return { isSent: true, message: russian('operations.ban_sent'), messengerId };
    sending.catch((error: unknown) => app.log.info({ err: error }, 'ban notice: not delivered after its time'));
    return failed('operations.ban_messenger_error', messengerId, { reason: 'timeout' });
  } catch (error) {
    if (!(error instanceof MessengerError)) throw error;
    app.log.info({ kind: error.failure.kind }, 'ban notice: could not be delivered');
    return failed('operations.ban_messenger_error', messengerId, { reason: error.failure.kind });
  }
}

async function sendByMail(app: App, user: RecipientRow, notice: BanNotice): Promise<BanNoticeResult> {
  const { userId, language, verifiedEmail: to } = recipientOf(user);
  const { notificationType: type } = notice;
  const audience = { audience: 'user', userId } as const;
  const isQueued = await inTransaction(app, async (t) => {
    if (type === 'enabled') {
      await t.events.emit('notification.unban_notification', {}, audience);
      return to !== null && sendMail(t, { to, language, type: 'unban_notification', params: {} });
    }
    if (type === 'warning') {
      const message = warningOf(notice.warningMessage);
      await t.events.emit('notification.warning_notification', { message }, audience);
      return to !== null && sendMail(t, { to, language, type: 'warning_notification', params: { message } });
    }
    const reason = mailReason(type, notice, language);
    await t.events.emit('notification.ban_notification', { reason }, audience);
    return to !== null && sendMail(t, { to, language, type: 'ban_notification', params: { reason } });
  });
  return isQueued
    ? { isSent: true, message: russian('operations.ban_mail_sent'), messengerId: null }
    : failed('operations.ban_no_mail', null);
}
