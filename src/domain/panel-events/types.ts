import type { Rows } from '../../core/db/columns.ts';
import type { Recipient } from '../messaging/send-message.ts';
import type { SyncedSubscription } from '../provisioning/sync/types.ts';
import type { PanelEventData } from './ports.ts';

/** Values of a notice; each type has those that its event has. */
export interface NoticeValues {
  percent?: number;
  hours?: number;
  device?: string;
}

export interface StoredEvent extends Pick<Rows['PanelEvent'], 'id' | 'event' | 'userId' | 'isLinkChanged' | 'happenedAt'> {
  data: PanelEventData;
}

/** What an event may change, with what decides about it. */
export interface ReportedSubscription extends SyncedSubscription, Pick<Rows['Subscription'], 'isDailyPaused'> {
  isDaily: boolean;
}

/** An account that an event is about. */
export interface ReportedAccount extends Recipient, Pick<Rows['User'], 'vpnpanelUuid' | 'notificationSettings'> {
  subscription: ReportedSubscription | null;
}
