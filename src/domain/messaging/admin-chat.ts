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

/** A chat and perhaps its topic, as fields of a message. */
export interface AdminChat {
  messengerId: number;
  threadId?: number;
}

/**
 * Chat and topic of notices to administrators, as fields of a message; a kind without a topic has the common one (spec 05 section 1.5).
 * @returns null while notices are off or no chat is set
 */
export function adminChat({ settings }: App, topicKey: TopicKey): AdminChat | null {
  if (!settings.get('ADMIN_NOTIFICATIONS_ENABLED')) return null;
  const threadId = settings.get(topicKey) ?? settings.get('ADMIN_NOTIFICATIONS_TOPIC_ID');
  return chatOf(settings.get('ADMIN_NOTIFICATIONS_CHAT_ID'), threadId);
}

/**
 * Chat and topic of the administrators' reports: their own, else those of notices, also while notices are off (spec 06 section 14). Without a
 * topic of their own, reports in the chat of notices have its common one.
 * @returns null while no chat is set
 */
export function reportChat({ settings }: App): AdminChat | null {
  const topic = settings.get('ADMIN_REPORTS_TOPIC_ID');
  const reports = (settings.get('ADMIN_REPORTS_CHAT_ID') ?? '').trim();
  if (reports !== '') return chatOf(reports, topic);
  return chatOf(settings.get('ADMIN_NOTIFICATIONS_CHAT_ID'), topic ?? settings.get('ADMIN_NOTIFICATIONS_TOPIC_ID'));
}

function chatOf(chatId: string | null, threadId: number | null): AdminChat | null {
  const chat = (chatId ?? '').trim();
  if (!/^-?[1-9]\d{0,15}$/.test(chat)) return null;
  return { messengerId: Number(chat), ...(threadId ? { threadId } : {}) };
}
