import { refusal } from '../../../core/errors.ts';
import type { UploadedFile } from '../../../core/http/uploads.ts';
import { readImageHeader } from '../../../core/images/image-header.ts';
import { cleanSvg, resizeImage } from '../../../core/images/image-thread.ts';
import type { ImageType } from './repo.ts';

export const logoTooLarge = refusal('logo_too_large', 400, 'File too large. Maximum size: 5MB');
export const logoTooManyPixels = refusal('logo_too_many_pixels', 400, 'Image dimensions too large. Maximum: 4096x4096 pixels');
export const logoAnimationTooLarge = refusal(
  'logo_animation_too_large',
  400,
  'Animated image too large. Maximum: <n>x<id> pixels',
);

/** Largest file in bytes. */
export const MAX_LOGO_BYTES = 5 * 1024 * 1024;
/** Beyond this an image is not decoded: 4096 by 4096 take 64 MiB, in several copies. */
const MAX_PIXELS = 4096 * 4096;
/** Pages show a logo small; a larger image is scaled down to this. */
const MAX_SIDE = 1024;

/** Declared types by the type that is served. */
const DECLARED: Readonly<Record<string, ImageType>> = {
  'image/png': 'image/png',
  'image/jpeg': 'image/jpeg',
  'image/jpg': 'image/jpeg',
  'image/webp': 'image/webp',
  'image/svg+xml': 'image/svg+xml',
};

export const invalidLogoType = refusal('invalid_logo_type', 400, 'Invalid file type. Allowed: PNG, JPEG, WebP, SVG');

export interface PreparedLogo {
  contentType: ImageType;
  content: Buffer;
}

/**
 * Checks an upload and makes what is stored of it: an SVG image without anything active, a large image smaller, every other one as it is. The
 * type is what the bytes are, and must be the declared one (spec 05 section 14). It works in a thread and takes long, so not in a transaction.
 * @throws AppError 400
 */
export async function prepareLogo(file: UploadedFile): Promise<PreparedLogo> {
  const contentType = Object.hasOwn(DECLARED, file.contentType) ? DECLARED[file.contentType] : undefined;
  if (!contentType) throw invalidLogoType();
  if (file.isTruncated || file.content.length > MAX_LOGO_BYTES) throw logoTooLarge();
  const content = contentType === 'image/svg+xml' ? await cleanSvg(file.content) : await prepareRaster(contentType, file.content);
  if (content === null || content.length === 0) throw invalidLogoType();
  return { contentType, content };
}

async function prepareRaster(contentType: ImageType, bytes: Buffer): Promise<Buffer | null> {
  const header = readImageHeader(bytes);
  if (header === null || contentType !== `image/${header.format}`) return null;
  const { width, height, isAnimated } = header;
  if (Math.max(width, height) <= MAX_SIDE) return bytes;
  if (width * height > MAX_PIXELS) throw logoTooManyPixels();
  // One picture of it would be left, which is not what was uploaded.
  if (isAnimated) throw logoAnimationTooLarge({ detail: `Animated image too large. Maximum: ${MAX_SIDE}x${MAX_SIDE} pixels` });
  return resizeImage(bytes, header, MAX_SIDE);
}
