/**
 * Notices to users with the settings that switch them (spec 05 section 9.3; spec 06 section 12): names of the texts, of the administrators' mail
 * templates and of the socket events. `WEBHOOK_NOTIFY_USER_ENABLED` switches all.
 */
export const NOTICE_SETTINGS = {
  webhook_sub_expired: 'WEBHOOK_NOTIFY_SUB_EXPIRED',
  webhook_sub_expiring: 'WEBHOOK_NOTIFY_SUB_EXPIRING',
  webhook_sub_disabled: 'WEBHOOK_NOTIFY_SUB_STATUS',
  webhook_sub_enabled: 'WEBHOOK_NOTIFY_SUB_STATUS',
  webhook_sub_limited: 'WEBHOOK_NOTIFY_SUB_LIMITED',
  webhook_sub_traffic_reset: 'WEBHOOK_NOTIFY_TRAFFIC_RESET',
  webhook_sub_deleted: 'WEBHOOK_NOTIFY_SUB_DELETED',
  webhook_sub_revoked: 'WEBHOOK_NOTIFY_SUB_REVOKED',
  webhook_sub_first_connected: 'WEBHOOK_NOTIFY_FIRST_CONNECTED',
  webhook_user_not_connected: 'WEBHOOK_NOTIFY_NOT_CONNECTED',
  webhook_sub_bandwidth_threshold: 'WEBHOOK_NOTIFY_BANDWIDTH_THRESHOLD',
  webhook_device_added: 'WEBHOOK_NOTIFY_DEVICES',
  webhook_device_deleted: 'WEBHOOK_NOTIFY_DEVICES',
} as const;

export type UserNoticeType = keyof typeof NOTICE_SETTINGS;

/** Events whose only effect is a notice to the user (spec 06 section 12). `user.expiration` depends on its hours. */
export const USER_NOTICES: Readonly<Record<string, UserNoticeType>> = {
  'user.expires_in_72_hours': 'webhook_sub_expiring',
  'user.expires_in_48_hours': 'webhook_sub_expiring',
  'user.expires_in_24_hours': 'webhook_sub_expiring',
  'user.expired_24_hours_ago': 'webhook_sub_expired',
  'user.expiration': 'webhook_sub_expiring',
  'user.first_connected': 'webhook_sub_first_connected',
  'user.not_connected': 'webhook_user_not_connected',
  'user.bandwidth_usage_threshold_reached': 'webhook_sub_bandwidth_threshold',
  'user_hwid_devices.added': 'webhook_device_added',
  'user_hwid_devices.deleted': 'webhook_device_deleted',
};

/** The notice of a state event that changed something. */
export const STATE_NOTICES: Readonly<Record<string, UserNoticeType>> = {
  'user.expired': 'webhook_sub_expired',
  'user.disabled': 'webhook_sub_disabled',
  'user.enabled': 'webhook_sub_enabled',
  'user.limited': 'webhook_sub_limited',
  'user.traffic_reset': 'webhook_sub_traffic_reset',
  'user.deleted': 'webhook_sub_deleted',
  'user.revoked': 'webhook_sub_revoked',
};

/** Events that the administrators are notified of; the text is `panel.` and the event with `_` for the dot. */
export const ADMIN_EVENTS: readonly string[] = [
  ...['created', 'modified', 'disabled', 'enabled', 'deleted', 'connection_lost', 'connection_restored', 'traffic_notify'].map(
    (name) => `node.${name}`,
  ),
  ...['panel_started', 'login_attempt_failed', 'login_attempt_success', 'subpage_config_changed'].map(
    (name) => `service.${name}`,
  ),
  'errors.bandwidth_usage_threshold_reached_max_notifications',
  ...['in_7_days', 'in_48hrs', 'in_24hrs', 'due_today', 'overdue_24hrs', 'overdue_48hrs', 'overdue_7_days'].map(
    (name) => `crm.infra_billing_node_payment_${name}`,
  ),
];

/** Whether an event has an effect here; `user.created` and unknown ones have none and are not stored. */
export function hasEffect(name: string): boolean {
  const isOfUser = Object.hasOwn(STATE_NOTICES, name) || Object.hasOwn(USER_NOTICES, name);
  return isOfUser || ADMIN_EVENTS.includes(name) || name === 'user.modified';
}
