import { z } from 'zod';
import type { App } from '../../core/app.ts';
import { defineEvent, type EventDefinition } from '../../core/events/define-event.ts';
import type { EventType } from '../../core/events/event-recorder.ts';
import { adminChat } from '../messaging/admin-chat.ts';
import { sendTemplateMail } from '../messaging/send-mail.ts';
import { type Recipient, sendMessage } from '../messaging/send-message.ts';
import { htmlText, type TextKey, text } from '../messaging/texts.ts';
import { NOTICE_SETTINGS, type UserNoticeType } from './event-effects.ts';
import type { NoticeValues, StoredEvent } from './types.ts';

type NotificationEvents = Record<`notification.${UserNoticeType}`, EventType<NoticeValues, 'user'>>;

/** One notice for each kind, with the same optional values. */
export const PANEL_NOTICE_EVENTS: readonly EventDefinition[] = (Object.keys(NOTICE_SETTINGS) as UserNoticeType[]).map((type) =>
  defineEvent(
    `notification.${type}`,
    z.object({
      percent: z.number().optional().describe('Share of the traffic limit that is used, in percent.'),
      hours: z.number().optional().describe('Hours of the event.'),
      device: z.string().optional().describe('Name of the device.'),
    }),
    {
      audience: 'user',
      description: `The notice \`${type}\` after an event of the panel, for a user without a messenger.`,
      example: {},
    },
  ),
);

declare module '../../core/events/event-recorder.ts' {
  interface EventTypes extends NotificationEvents {}
}

/**
 * Queues a notice in the caller's transaction, in the language of the user: in the messenger, else on the sockets and, where the
 * administrators have made a template of this type, by mail (spec 05 section 9.3). Blocked and deleted users are not notified.
 */
export async function notifyAccount(
  t: App,
  { userId, status, messengerId, verifiedEmail, language }: Recipient,
  type: UserNoticeType,
  values: NoticeValues,
): Promise<string> {
  const { settings } = t;
  const isOn = settings.get('ENABLE_NOTIFICATIONS') && settings.get('WEBHOOK_NOTIFY_USER_ENABLED');
  if (!isOn || !settings.get(NOTICE_SETTINGS[type])) return 'switched_off';
  if (status !== 'active') return 'not_notified';
  const params = { percent: 0, hours: 0, device: '', ...values };
  if (messengerId !== null) {
    const url = settings.get('CABINET_URL');
    const buttons = url ? [[{ text: text(language, 'messages.button_open_cabinet'), url }]] : [];
    await sendMessage(t, { messengerId, html: htmlText(language, `panel.${type}`, params), buttons });
  } else if (verifiedEmail !== null) {
    await sendTemplateMail(t, { to: verifiedEmail, language, type, params });
    await t.events.emit(`notification.${type}`, values, { audience: 'user', userId });
  }
  return 'notified';
}

/** Queues a notice to the administrators' chat, topic infrastructure, in the caller's transaction. Every value is escaped. */
export async function notifyAdministrators(t: App, { event, data }: StoredEvent): Promise<string> {
  if (event.startsWith('node.connection_') && !t.settings.get('VPNPANEL_WEBHOOK_NOTIFY_NODE_CONNECTION_STATUS'))
    return 'switched_off';
  const chat = adminChat(t, 'ADMIN_NOTIFICATIONS_INFRASTRUCTURE_TOPIC_ID');
  if (chat === null) return 'switched_off';
  const { name = '—', provider = '—', version = '—', ip = '—', description = '—', moment } = data;
  const values = { name, provider, version, ip, description, moment: moment?.slice(0, 10) ?? '—' };
  const key = `panel.${event.replace('.', '_')}` as TextKey;
  await sendMessage(t, { ...chat, html: htmlText(t.settings.get('DEFAULT_LANGUAGE'), key, values) });
  return 'notified';
}
