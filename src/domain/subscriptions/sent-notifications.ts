/**
 * SQL that records a notification of each subscription of a list (`user_id`, `subscription_id`), for a statement that sends it or makes
 * what it announces. A subscription with the record is left out, so that of two statements at once one gets it.
 * @param names the name of the list and the texts of the parameters
 */
export function recordSentSql({ subscriptions, type, now }: { subscriptions: string; type: string; now: string }): string {
  return `INSERT INTO sent_notifications (user_id, subscription_id, notification_type, created_at)
         SELECT user_id, subscription_id, ${type}, ${now} FROM ${subscriptions}
         ON CONFLICT (subscription_id, notification_type, discriminator) DO NOTHING RETURNING user_id, subscription_id`;
}
