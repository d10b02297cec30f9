import type { Changes } from '../../core/changes.ts';
import type { Rows } from '../../core/db/columns.ts';

export type PinnedMessage = Rows['PinnedMessage'];
export type PinnedDelivery = Rows['PinnedDelivery'];

export interface PinnedMedia {
  type: 'photo' | 'video';
  /** Id of this service, signed or not, or of the messenger. */
  fileId: string;
}

/** A new message as a request has it. */
export interface PinnedDraft extends Pick<PinnedMessage, 'content' | 'sendBeforeMenu' | 'sendOnEveryStart'> {
  media: PinnedMedia | null;
}

export type PinnedChanges = Changes<PinnedDraft>;

/** A message, and how far its broadcast had come when the answer was made; zeros without one. */
export interface PublishedMessage {
  message: PinnedMessage;
  sentCount: number;
  /** Blocked bots are among them. */
  failedCount: number;
}
