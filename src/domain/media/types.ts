import type { Rows } from '../../core/db/columns.ts';
import type { MediaKind } from '../messaging/ports.ts';

export type MediaFile = Rows['MediaFile'];

/** Where a file came from: an upload, or an id of the messenger in a ticket, a broadcast or a pinned message. */
export type MediaSource = 'upload' | 'ticket' | 'broadcast' | 'pinned';

const MEDIA_KINDS: readonly MediaKind[] = ['photo', 'video', 'document'];

export function isMediaKind(text: string): text is MediaKind {
  return (MEDIA_KINDS as readonly string[]).includes(text);
}

/** What a file is by its content. */
export interface ContentType {
  /** `image/png`, `application/pdf` … */
  mime: string;
  /** Without a dot. */
  extension: string;
  family: 'image' | 'video' | 'document';
}
