import { refusal } from '../../core/errors.ts';
import type { MediaKind } from '../messaging/ports.ts';
import { contentTypeOf } from './content-type.ts';
import type { ContentType } from './types.ts';

export const fileEmpty = refusal('file_empty', 400, 'File is empty');
export const fileTypeRefused = refusal('file_type_refused', 400, 'Invalid file type. Allowed: .tar.gz, .json, .json.gz, .tar');

/** Largest file through the Web API; what the messenger takes. */
export const WEB_MAX_BYTES = 50 * 1024 * 1024;
/** Largest file in the cabinet. */
export const CABINET_MAX_BYTES = 10 * 1024 * 1024;

const MAX_NAME = 100;

const ALLOWED: Record<MediaKind, { families: readonly ContentType['family'][]; refusal: string }> = {
  photo: { families: ['image'], refusal: 'Invalid image type. Allowed: JPEG, PNG, GIF, WebP' },
  video: { families: ['video'], refusal: 'Invalid video type. Allowed: MP4, WebM, QuickTime' },
  document: {
    families: ['image', 'video', 'document'],
    refusal: 'Invalid document type. Allowed: images, videos, PDF, DOCX, XLSX, ZIP, GZIP, plain text',
  },
};

/**
 * What the content is, if files of this kind may have it (spec 05 section 10, hazard d).
 * @throws AppError 400 an empty or refused content
 */
export function checkContent(kind: MediaKind, content: Buffer): ContentType {
  if (content.length === 0) throw fileEmpty();
  const type = contentTypeOf(content);
  const { families, refusal } = ALLOWED[kind];
  if (type === null || !families.includes(type.family)) throw fileTypeRefused({ detail: refusal });
  return type;
}

/**
 * The name that a download gets: letters, digits, `._-` and single blanks of the given one, with the extension of the content. So no name
 * leads into a folder, hides its extension or disguises it by the direction of writing.
 */
export function safeName(given: string, { extension }: Pick<ContentType, 'extension'>): string {
  const stem = given
    .normalize('NFC')
    .replace(/\.[\p{L}\p{N}]{1,16}$/u, '')
    .replace(/[^\p{L}\p{N}._\- ]+/gu, '_')
    .replace(/\s+/g, ' ')
    .replace(/\.{2,}/g, '.')
    .replace(/^[. _-]+|[. ]+$/g, '');
  return `${[...stem].slice(0, MAX_NAME).join('').trim() || 'upload'}.${extension}`;
}

/** Only raster images and videos are shown in place; everything else is downloaded (spec 05 section 10, hazard b). */
export function isShownInPlace({ family }: Pick<ContentType, 'family'>): boolean {
  return family === 'image' || family === 'video';
}

/** Headers of every download: no browser may guess another type, run anything in it or frame it. */
export const DOWNLOAD_HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
} as const;

export const mediaNotFound = refusal('media_not_found', 404, 'Media file not found');
