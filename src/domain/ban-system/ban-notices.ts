import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import type { App } from '../../core/app.ts';
import { SECOND_MS } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal } from '../../core/errors.ts';
import { defineEvent, type EventsOf } from '../../core/events/define-event.ts';
import { NoFields } from '../../core/events/event-fields.ts';
import { normaliseEmail } from '../identity/rules.ts';
import { MessengerError, type MessengerUpdate } from '../messaging/ports.ts';
import { sendMail } from '../messaging/send-mail.ts';
import { recipientOf } from '../messaging/send-message.ts';
import { escapeHtml, fill, shorten, type TextKey, type TextParams, text } from '../messaging/texts.ts';
import { isPanelError, type PanelUser } from '../provisioning/ports.ts';
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
 * Tells a user of a ban, its end or a warning: in the messenger before the answer, outside any transaction, else by mail and on the
 * sockets. A warning is also the event `account.warning` of the user's cabinets. One message a call, nothing is repeated (spec 06 section
 * 13).
 * @returns also for a user who is not found and for a message that could not be sent
 * @throws AppError 400 when a field of the type is missing | 502 while the panel, which knows the user, does not answer
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

const DELETE_BUTTON = 'ban_notify:delete';

/** The pressed button under a message about a ban. */
interface DeletePress {
  queryId: string;
  chatId: number | null;
  messageId: number | null;
}

/** Queues the pressed button under a message about a ban; the job handles it after the messenger has its answer. Ignores other updates. */
export async function receiveBanNoticeUpdate(app: App, update: MessengerUpdate): Promise<void> {
  if (update.kind !== 'callback' || update.data !== DELETE_BUTTON) return;
  const { queryId, chatId, messageId } = update;
  await app.jobs.send('bans.delete-notice', { queryId, chatId, messageId });
}

/** Deletes the message (job `bans.delete-notice`). That the messenger refuses it, as for an old message, changes nothing. */
export async function deleteNotice(app: App, { queryId, chatId, messageId }: DeletePress): Promise<void> {
  const { messenger } = app.ports;
  const quietly = (done: Promise<unknown>) => done.catch((error) => app.log.debug({ err: error }, 'a press was not answered'));
  await quietly(messenger.answerCallback(queryId));
  if (chatId !== null && messageId !== null) await quietly(messenger.deleteMessage(chatId, messageId));
}

// What a message about a ban is made of (spec 06 section 13, POST /ban-notifications/send).

export const BAN_NOTICE_TYPES = ['punishment', 'enabled', 'warning', 'network_wifi', 'network_mobile'] as const;
type BanNoticeType = (typeof BAN_NOTICE_TYPES)[number];

interface BanNoticeValues {
  ipCount?: number | null | undefined;
  limit?: number | null | undefined;
  banMinutes?: number | null | undefined;
  warningMessage?: string | null | undefined;
  networkType?: string | null | undefined;
  nodeName?: string | null | undefined;
}

/** Fields without which a message of the type has no meaning, by their names in requests. */
const REQUIRED: Readonly<Record<BanNoticeType, readonly (readonly [wire: string, field: keyof BanNoticeValues])[]>> = {
  punishment: [
    ['ip_count', 'ipCount'],
    ['limit', 'limit'],
    ['ban_minutes', 'banMinutes'],
  ],
  enabled: [],
  warning: [['warning_message', 'warningMessage']],
  network_wifi: [['ban_minutes', 'banMinutes']],
  network_mobile: [['ban_minutes', 'banMinutes']],
};

/** Setting with the template of each type. */
const TEMPLATES = {
  punishment: 'BAN_MSG_PUNISHMENT',
  enabled: 'BAN_MSG_ENABLED',
  warning: 'BAN_MSG_WARNING',
  network_wifi: 'BAN_MSG_WIFI',
  network_mobile: 'BAN_MSG_MOBILE',
} as const satisfies Record<BanNoticeType, string>;

/** A message has at most 4096 characters, of which the template needs some. */
const MAX_WARNING = 3_500;
const MAX_NAME = 200;

const isGiven = (value: string | number | null | undefined) => (typeof value === 'string' ? value.trim() !== '' : value != null);

/** The names of all fields that the type requires; null when each is given. Zero is a value, null and a blank text are none. */
export function missingFields(type: BanNoticeType, values: BanNoticeValues): string | null {
  const isComplete = REQUIRED[type].every(([, field]) => isGiven(values[field]));
  return isComplete ? null : REQUIRED[type].map(([wire]) => wire).join(', ');
}

/**
 * The message in the messenger's HTML, every value escaped. Where the template has no place for the node or the network, they follow it;
 * a placeholder that is not of this type stays as it is written.
 */
export function noticeHtml(template: string, type: BanNoticeType, values: BanNoticeValues, language: string): string {
  const infos = infoLines(type, values, language);
  const params = { ...numbersOf(type, values), ...infos };
  const missing = Object.entries(infos).filter(([name, line]) => line !== '' && !template.includes(`{${name}}`));
  // Written in one go, so that braces in a value are not filled again.
  return [fill(template, params, String).trim(), ...missing.map(([, line]) => line)].join('\n');
}

function numbersOf(type: BanNoticeType, { ipCount, limit, banMinutes, warningMessage }: BanNoticeValues): TextParams {
  switch (type) {
    case 'punishment':
      return { ip_count: ipCount ?? 0, limit: limit ?? 0, ban_minutes: banMinutes ?? 0 };
    case 'warning':
      return { warning_message: escapeHtml(warningOf(warningMessage)) };
    case 'enabled':
      return {};
    default:
      return { ban_minutes: banMinutes ?? 0 };
  }
}

/** One line each, empty when not given; the network is shown where it is the reason. */
function infoLines(type: BanNoticeType, { networkType, nodeName }: BanNoticeValues, language: string): Record<string, string> {
  const line = (key: 'operations.ban_node' | 'operations.ban_network', name: string | null | undefined) =>
    isGiven(name) ? `${escapeHtml(text(language, key))}: ${escapeHtml(nameOf(name!))}` : '';
  const node = { node_info: line('operations.ban_node', nodeName) };
  if (type === 'punishment') return node;
  if (type === 'enabled' || type === 'warning') return {};
  return { network_info: line('operations.ban_network', networkType), ...node };
}

/** The reason for a mail: plain text in one line. */
export function mailReason(type: BanNoticeType, values: BanNoticeValues, language: string): string {
  const { ipCount, limit, banMinutes, networkType, nodeName } = values;
  const labelled = (key: 'operations.ban_node' | 'operations.ban_network', name: string | null | undefined) =>
    isGiven(name) ? [`${text(language, key)}: ${nameOf(name!)}`] : [];
  const minutes = text(language, 'operations.ban_minutes', { minutes: banMinutes ?? 0 });
  const parts =
    type === 'punishment'
      ? [text(language, 'operations.ban_addresses', { ip_count: ipCount ?? 0, limit: limit ?? 0 }), minutes]
      : [text(language, 'operations.ban_wrong_network'), minutes, ...labelled('operations.ban_network', networkType)];
  return [...parts, ...labelled('operations.ban_node', nodeName)].join('; ');
}

/** The text of a warning. */
function warningOf(message: string | null | undefined): string {
  return shorten((message ?? '').trim(), MAX_WARNING);
}

/** Names are in one line. */
function nameOf(name: string): string {
  return shorten(name.trim().replace(/\s+/g, ' '), MAX_NAME);
}
