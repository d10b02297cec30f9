import type { BroadcastMedia } from '../domain/broadcasts/types.ts';

/** The file of a request as the use cases take it. */
export function mediaInput(
  media: { type: string; fileId: string; caption?: string | null | undefined } | null | undefined,
): BroadcastMedia | null {
  // The schema allows the three kinds only.
  return media
    ? { type: media.type as BroadcastMedia['type'], fileId: media.fileId.trim(), caption: media.caption ?? null }
    : null;
}
