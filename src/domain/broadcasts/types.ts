import type { Rows } from '../../core/db/columns.ts';
import type { MediaKind } from '../messaging/ports.ts';

export type BroadcastRow = Rows['Broadcast'];
type BroadcastChannel = BroadcastRow['channel'];

export type BroadcastStatus =
  | 'queued'
  | 'in_progress'
  | 'paused'
  | 'cancelling'
  | 'cancelled'
  | 'completed'
  | 'partial'
  | 'failed';

/** A broadcast with the numbers of both channels together. */
export interface Broadcast extends BroadcastRow {
  status: BroadcastStatus;
  totalCount: number;
  sentCount: number;
  failedCount: number;
  blockedCount: number;
  /** Recipients of whom it is unknown whether they got it, because a process ended while their message was under way (spec 10 O14). */
  unconfirmedCount: number;
  /** Recipients who may have received it twice, because it was sent again to those. */
  repeatedCount: number;
  /** Recipients of the mail who switched off news by its link. */
  unsubscribedCount: number;
  /** 0 to 100 with one decimal. */
  progressPercent: number;
  estimatedEndAt: Date | null;
  completedAt: Date | null;
}

export interface CustomButton {
  label: string;
  actionType: 'callback' | 'url';
  actionValue: string;
}

export interface BroadcastMedia {
  type: MediaKind;
  /** Id of this service, signed or not, or of the messenger. */
  fileId: string;
  caption: string | null;
}

/** What is to be sent, as a request has it. */
export interface BroadcastDraft {
  channel: BroadcastChannel;
  target: string;
  messageText: string | null;
  selectedButtons: readonly string[];
  customButtons: readonly CustomButton[];
  media: BroadcastMedia | null;
  emailSubject: string | null;
  emailHtmlContent: string | null;
}
