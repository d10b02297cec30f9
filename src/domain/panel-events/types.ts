import type { Rows } from '../../core/db/columns.ts';
import type { Recipient } from '../messaging/notify-user.ts';
import type { SyncedSubscription } from '../provisioning/sync/types.ts';
import type { PanelEventData } from './ports.ts';

/** Settings that switch the notices to users; `WEBHOOK_NOTIFY_USER_ENABLED` switches all of them. */
export const PANEL_NOTICE_SETTINGS = [
  'WEBHOOK_NOTIFY_SUB_STATUS',
  'WEBHOOK_NOTIFY_SUB_EXPIRED',
  'WEBHOOK_NOTIFY_SUB_EXPIRING',
  'WEBHOOK_NOTIFY_SUB_LIMITED',
  'WEBHOOK_NOTIFY_TRAFFIC_RESET',
  'WEBHOOK_NOTIFY_SUB_DELETED',
  'WEBHOOK_NOTIFY_SUB_REVOKED',
  'WEBHOOK_NOTIFY_FIRST_CONNECTED',
  'WEBHOOK_NOTIFY_NOT_CONNECTED',
  'WEBHOOK_NOTIFY_BANDWIDTH_THRESHOLD',
  'WEBHOOK_NOTIFY_DEVICES',
] as const;

/** Notices to users (spec 05 section 9.3): names of the texts, of the administrators' mail templates and of the socket events. */
export type UserNoticeType =
  | 'webhook_sub_expired'
  | 'webhook_sub_expiring'
  | 'webhook_sub_disabled'
  | 'webhook_sub_enabled'
  | 'webhook_sub_limited'
  | 'webhook_sub_traffic_reset'
  | 'webhook_sub_deleted'
  | 'webhook_sub_revoked'
  | 'webhook_sub_first_connected'
  | 'webhook_sub_bandwidth_threshold'
  | 'webhook_user_not_connected'
  | 'webhook_device_added'
  | 'webhook_device_deleted';

/** Values of a notice; each type has those that its event has. */
export interface NoticeValues {
  percent?: number;
  hours?: number;
  device?: string;
}

/** A stored event. */
export interface StoredEvent extends Pick<Rows['PanelEvent'], 'id' | 'event' | 'userId' | 'isLinkChanged' | 'happenedAt'> {
  data: PanelEventData;
}

/** What an event may change, with what decides about it. */
export interface ReportedSubscription extends SyncedSubscription, Pick<Rows['Subscription'], 'isDailyPaused'> {
  isDaily: boolean;
}

/** An account that an event is about. */
export interface ReportedAccount extends Recipient, Pick<Rows['User'], 'vpnpanelUuid'> {
  subscription: ReportedSubscription | null;
}
