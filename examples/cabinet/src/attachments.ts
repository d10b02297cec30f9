import { API_URL, client } from './service.ts';

/** Files of tickets: plain HTTP, beside the procedures of the client. */

export type MediaType = 'photo' | 'video' | 'document';

export interface Attachment {
  media_type: MediaType;
  media_file_id: string;
}

export const MAX_ATTACHMENT_BYTES = 10 * 1024 * 1024;
const PHOTOS = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

function mediaTypeOf(file: File): MediaType {
  if (PHOTOS.has(file.type)) return 'photo';
  return file.type.startsWith('video/') ? 'video' : 'document';
}

/**
 * Uploads a file for a message. A call of the client before it has refreshed the token when that was necessary.
 * @throws Error with the service's sentence when the file is refused
 */
export async function uploadAttachment(file: File): Promise<Attachment> {
  await client.api.auth.me.query();
  const tokens = await client.session.tokens();
  const form = new FormData();
  const media_type = mediaTypeOf(file);
  form.append('file', file);
  form.append('media_type', media_type);
  const response = await fetch(`${API_URL}/cabinet/media/upload`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tokens?.accessToken ?? ''}` },
    body: form,
  });
  const answer = (await response.json()) as { file_id?: string; detail?: unknown };
  if (!response.ok || answer.file_id === undefined) throw new Error(sentenceIn(answer.detail) ?? response.statusText);
  return { media_type, media_file_id: answer.file_id };
}

function sentenceIn(detail: unknown): string | null {
  if (typeof detail === 'string') return detail;
  const message = (detail as { message?: unknown } | null | undefined)?.message;
  return typeof message === 'string' ? message : null;
}

/** Ids in answers are signed, so that an image needs no credential. */
export function addressOfFile(fileId: string): string {
  return `${API_URL}/cabinet/media/${encodeURIComponent(fileId)}`;
}
