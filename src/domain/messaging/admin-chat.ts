import type { App } from '../../core/app.ts';

/** Settings that give a kind of notice a topic of its own in the administrators' chat. */
type TopicKey =
  | 'ADMIN_NOTIFICATIONS_TICKET_TOPIC_ID'
  | 'ADMIN_NOTIFICATIONS_PROMO_TOPIC_ID'
  | 'ADMIN_NOTIFICATIONS_PARTNERS_TOPIC_ID'
  | 'ADMIN_NOTIFICATIONS_PURCHASES_TOPIC_ID'
  | 'ADMIN_NOTIFICATIONS_ERRORS_TOPIC_ID';

/**
 * Where notices to administrators go, fit to be spread into a message; the common topic serves a kind without one (spec 05 section 1.5).
 * @returns null while such notices are off or no chat is set
 */
export function adminChat({ settings }: App, topicKey: TopicKey): { messengerId: number; threadId?: number } | null {
  const chat = (settings.get('ADMIN_NOTIFICATIONS_CHAT_ID') ?? '').trim();
  if (!settings.get('ADMIN_NOTIFICATIONS_ENABLED') || !/^-?[1-9]\d{0,15}$/.test(chat)) return null;
  const threadId = settings.get(topicKey) ?? settings.get('ADMIN_NOTIFICATIONS_TOPIC_ID');
  return { messengerId: Number(chat), ...(threadId ? { threadId } : {}) };
}
