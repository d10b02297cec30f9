import type { PANEL_NOTICE_SETTINGS, UserNoticeType } from './types.ts';

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

export const NOTICE_SETTINGS: Readonly<Record<UserNoticeType, (typeof PANEL_NOTICE_SETTINGS)[number]>> = {
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
};

const INFRA = 'crm.infra_billing_node_payment_';

/** Events that the administrators are notified of, with the name of their text in `locales`. */
export const ADMIN_NOTICES = {
  'node.created': 'admin_node_created',
  'node.modified': 'admin_node_modified',
  'node.disabled': 'admin_node_disabled',
  'node.enabled': 'admin_node_enabled',
  'node.deleted': 'admin_node_deleted',
  'node.connection_lost': 'admin_node_connection_lost',
  'node.connection_restored': 'admin_node_connection_restored',
  'node.traffic_notify': 'admin_node_traffic_notify',
  'service.panel_started': 'admin_panel_started',
  'service.login_attempt_failed': 'admin_login_attempt_failed',
  'service.login_attempt_success': 'admin_login_attempt_success',
  'service.subpage_config_changed': 'admin_subpage_config_changed',
  'errors.bandwidth_usage_threshold_reached_max_notifications': 'admin_threshold_max_notifications',
  [`${INFRA}in_7_days`]: 'admin_payment_in_7_days',
  [`${INFRA}in_48hrs`]: 'admin_payment_in_48hrs',
  [`${INFRA}in_24hrs`]: 'admin_payment_in_24hrs',
  [`${INFRA}due_today`]: 'admin_payment_due_today',
  [`${INFRA}overdue_24hrs`]: 'admin_payment_overdue_24hrs',
  [`${INFRA}overdue_48hrs`]: 'admin_payment_overdue_48hrs',
  [`${INFRA}overdue_7_days`]: 'admin_payment_overdue_7_days',
} as const;

/** Whether an event has an effect here; `user.created` and unknown ones have none and are not stored. */
export function hasEffect(name: string): boolean {
  return [STATE_NOTICES, USER_NOTICES, ADMIN_NOTICES].some((effects) => Object.hasOwn(effects, name)) || name === 'user.modified';
}
