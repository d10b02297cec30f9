/**
 * SQL that removes contacts, messages and secrets of a user from the purchases that the user made or received, for the statement that
 * erases the account. What was sold and for how much stays.
 * @param userId text of the parameter
 */
export function erasePersonalDataSql(userId: string): string {
  return `UPDATE guest_purchases SET
         contact_value = CASE WHEN buyer_user_id = ${userId} THEN 'deleted' ELSE contact_value END,
         gift_recipient_value = CASE WHEN user_id = ${userId} AND gift_recipient_value IS NOT NULL THEN 'deleted' ELSE gift_recipient_value END,
         gift_message = NULL, cabinet_password = NULL, auto_login_token = NULL
       WHERE buyer_user_id = ${userId} OR user_id = ${userId}`;
}
