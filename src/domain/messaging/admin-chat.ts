import type { App } from '../../core/app.ts';

/** Settings with the topics of the administrators' chat, one for each kind of notice. */
type TopicKey =
  | 'ADMIN_NOTIFICATIONS_TICKET_TOPIC_ID'
  | 'ADMIN_NOTIFICATIONS_PROMO_TOPIC_ID'
  | 'ADMIN_NOTIFICATIONS_PARTNERS_TOPIC_ID'
  | 'ADMIN_NOTIFICATIONS_PURCHASES_TOPIC_ID'
  | 'ADMIN_NOTIFICATIONS_RENEWALS_TOPIC_ID'
  | 'ADMIN_NOTIFICATIONS_TRIALS_TOPIC_ID'
  | 'ADMIN_NOTIFICATIONS_ADDONS_TOPIC_ID'
  | 'ADMIN_NOTIFICATIONS_BALANCE_TOPIC_ID'
  | 'ADMIN_NOTIFICATIONS_NALOG_TOPIC_ID'
  | 'ADMIN_NOTIFICATIONS_INFRASTRUCTURE_TOPIC_ID'
  | 'ADMIN_NOTIFICATIONS_ERRORS_TOPIC_ID'
  | 'REFERRAL_WITHDRAWAL_NOTIFICATIONS_TOPIC_ID'
  | 'SUSPICIOUS_NOTIFICATIONS_TOPIC_ID';

/**
 * Chat and topic of notices to administrators, as fields of a message; a kind without a topic has the common one (spec 05 section 1.5).
 * @returns null while notices are off or no chat is set
 */
export function adminChat({ settings }: App, topicKey: TopicKey): { messengerId: number; threadId?: number } | null {
  const chat = (settings.get('ADMIN_NOTIFICATIONS_CHAT_ID') ?? '').trim();
  if (!settings.get('ADMIN_NOTIFICATIONS_ENABLED') || !/^-?[1-9]\d{0,15}$/.test(chat)) return null;
  const threadId = settings.get(topicKey) ?? settings.get('ADMIN_NOTIFICATIONS_TOPIC_ID');
  return { messengerId: Number(chat), ...(threadId ? { threadId } : {}) };
}
