/** Administration: users, roles, policies, audit log. */
const RANK = 'Administrators cannot change themselves or those of their own rank or above.';

export const ADMIN_USERS: Readonly<Record<string, string>> = {
  'GET /cabinet/admin/users':
    'Lists users with subscription, spending and last activity, filtered by text, e-mail address and status, sorted by one of several fields.',
  'GET /cabinet/admin/users/stats': 'Counts users by status, age, activity and subscription, and sums up their balances.',
  'GET /cabinet/admin/users/{user_id}/referrals': 'Lists the referrals of a user, newest first.',
  'GET /cabinet/admin/users/{user_id}/gifts': 'Lists gifts that the user bought and received, newest first, at most 200 of each.',
  'GET /cabinet/admin/users/{user_id}/available-tariffs':
    'Lists tariffs and marks those that the promo group of the user allows.',
  'GET /cabinet/admin/users/{user_id}':
    'Returns everything about a user: account, subscription, promo group, referrals, campaign and the newest movements.',
  'DELETE /cabinet/admin/users/{user_id}': `Marks a user deleted, or deletes the row, which is possible only while no other record depends on it. ${RANK}`,
  'GET /cabinet/admin/users/by-messenger/{messenger_id}': 'Returns everything about the user with this messenger id.',
  'GET /cabinet/admin/users/{user_id}/transactions':
    'Lists the movements of a user, newest first. Purchases, gifts and withdrawals are negative.',
  'GET /cabinet/admin/users/{user_id}/panel-info':
    'Returns the data of the user in the panel. A panel that does not answer is reported as `found` false.',
  'GET /cabinet/admin/users/{user_id}/node-usage':
    'Returns the traffic of the user in the last 30 days by node and day. A panel that does not answer gives an empty list.',
  'GET /cabinet/admin/users/{user_id}/devices':
    'Lists the connected devices of the user. A panel that does not answer gives an empty list.',
  'DELETE /cabinet/admin/users/{user_id}/devices':
    'Removes all connected devices of the user in the panel and returns their number. Devices that cannot be removed are skipped.',
  'DELETE /cabinet/admin/users/{user_id}/devices/{hwid}':
    'Removes one connected device of the user in the panel. A refusal of the panel is answered with `success` false.',
  'GET /cabinet/admin/users/{user_id}/sync/status':
    'Compares subscription and panel user and lists the differences. Changes nothing.',
  'POST /cabinet/admin/users/{user_id}/sync/from-panel':
    'Overwrites end, status, limits and traffic of the subscription with those of the panel, or creates the subscription. The answer lists the changes.',
  'POST /cabinet/admin/users/{user_id}/sync/to-panel':
    'Overwrites the panel user with the subscription, or creates the panel user. The answer contains which of both was done.',
  'POST /cabinet/admin/users/{user_id}/balance': `Adds to the balance of a user, or takes from it when the amount is negative; the balance cannot become negative. Records a movement unless \`create_transaction\` is false, and emits \`payment.completed\` or \`transaction.created\`. ${RANK} Accepts \`Idempotency-Key\`.`,
  'POST /cabinet/admin/users/{user_id}/status': `Sets the status of a user. With any other status than \`active\` the user is refused in the cabinet immediately. ${RANK}`,
  'POST /cabinet/admin/users/{user_id}/block': `Blocks a user: the user is refused in the cabinet immediately. The subscription continues. ${RANK}`,
  'POST /cabinet/admin/users/{user_id}/unblock': `Sets the status of a user to \`active\` again. ${RANK}`,
  'POST /cabinet/admin/users/{user_id}/restrictions': `Forbids or allows topping up and buying. Null leaves a value unchanged. ${RANK}`,
  'POST /cabinet/admin/users/{user_id}/promo-group': `Puts a user into one promo group in place of all others, or into none. Prices change immediately. ${RANK}`,
  'POST /cabinet/admin/users/{user_id}/referral-commission': `Sets the personal commission of a user; null for the general one. ${RANK}`,
  'DELETE /cabinet/admin/users/{user_id}/full': `Deletes an account permanently, on request with the panel user. Movements of money remain without a name, because ledger entries are never deleted. A failure changes nothing in the service. ${RANK}`,
  'POST /cabinet/admin/users/{user_id}/reset-trial': `Lets a user take a trial again: an unpaid subscription is deleted and disabled in the panel. An active paid subscription remains. ${RANK}`,
  'POST /cabinet/admin/users/{user_id}/reset-subscription': `Deletes the subscription of a user, paid or not, and on request disables the panel user. Nothing is refunded. ${RANK}`,
  'POST /cabinet/admin/users/{user_id}/disable': `Blocks a user and disables the subscription, in the service and in the panel. An active paid subscription continues. ${RANK}`,

  'GET /cabinet/admin/rbac/permissions': 'Lists all sections and their actions, from which permissions are made.',
  'GET /cabinet/admin/rbac/users': 'Lists users with active roles.',
  'GET /cabinet/admin/rbac/roles/{role_id}/users': 'Lists the assignments of a role, newest first.',
  'GET /cabinet/admin/rbac/roles': 'Lists roles, highest level first.',
  'POST /cabinet/admin/rbac/roles':
    'Creates a role below the level of the administrator, with permissions that the administrator has.',
  'PUT /cabinet/admin/rbac/roles/{role_id}':
    'Changes a role below the level of the administrator. Level and state of a system role are fixed. The change applies immediately.',
  'DELETE /cabinet/admin/rbac/roles/{role_id}':
    'Deletes a role below the level of the administrator with its assignments and policies. System roles cannot be deleted.',
  'POST /cabinet/admin/rbac/assignments':
    'Gives a role below the level of the administrator to a user, effective immediately. An existing assignment is renewed, so repeating the call is safe.',
  'DELETE /cabinet/admin/rbac/assignments/{assignment_id}':
    'Takes a role below the level of the administrator from a user, effective immediately.',
  'GET /cabinet/admin/rbac/policies': 'Lists access policies, highest priority first.',
  'POST /cabinet/admin/rbac/policies':
    'Creates a policy that denies or allows actions of a section, for one role or for all, at certain times or addresses. Only denials have an effect.',
  'PUT /cabinet/admin/rbac/policies/{policy_id}':
    'Changes a policy; absent or null fields are not changed. The change applies immediately.',
  'DELETE /cabinet/admin/rbac/policies/{policy_id}': 'Deletes a policy; actions that it denied are allowed immediately.',
  'GET /cabinet/admin/rbac/audit-log':
    'Lists requests of administrators, newest first, refused ones included. Passwords, tokens and secrets are masked.',
  'GET /cabinet/admin/rbac/audit-log/export':
    'Downloads the audit log as CSV (UTF-8), newest first, with the filters of the list.',
};
