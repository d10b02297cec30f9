/**
 * SQL that stores which pinned message users got last, for the statement that records its delivery.
 * @param userIds SQL of their ids
 * @param messageId text of the parameter
 */
export function setLastPinnedSql(userIds: string, messageId: string): string {
  return `UPDATE users SET last_pinned_message_id = ${messageId} WHERE id IN (${userIds}) RETURNING id`;
}
