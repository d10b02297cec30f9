import { createHash } from 'node:crypto';
import type { App } from '../../../core/app.ts';
import { HOUR_MS } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal } from '../../../core/errors.ts';
import type { UploadedFile } from '../../../core/http/uploads.ts';
import { readImageHeader } from '../../../core/images/image-header.ts';
import { cleanSvg, resizeImage } from '../../../core/images/image-thread.ts';
import { loadBranding, STATE_KEY } from './branding.ts';
import { deleteLogo, findLogo, type ImageType, lockBranding, upsertLogo } from './repo.ts';
import type { BrandingState } from './types.ts';

/**
 * Replaces the logo. Its bytes are a row, so instances without a common folder serve the same one, and there is never none in between.
 * @throws AppError 400 wrong type, too large
 */
export async function replaceLogo(app: App, file: UploadedFile): Promise<BrandingState> {
  const logo = await prepareLogo(file);
  const facts = { type: logo.contentType, bytes: logo.content.length };
  return change(app, facts, (t) => upsertLogo(t.db, logo, t.clock.now()));
}

/** Pages show the first letter of the name again. Without a logo nothing changes. */
export function removeLogo(app: App): Promise<BrandingState> {
  return change(app, null, (t) => deleteLogo(t.db));
}

function change(app: App, logo: object | null, write: (t: App) => Promise<void>): Promise<BrandingState> {
  const hasCustomLogo = logo !== null;
  return inTransaction(app, async (t) => {
    await lockBranding(t.db);
    const before = await loadBranding(t.db);
    await write(t);
    await t.cache.forget(t, [STATE_KEY, LOGO_KEY]);
    t.audit?.record({
      resourceId: 'branding',
      before: { hasCustomLogo: before.hasCustomLogo },
      after: { hasCustomLogo, ...logo },
    });
    return { ...before, hasCustomLogo };
  });
}

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

/**
 * Checks an upload and makes what is stored of it: an SVG image without anything active, a large image smaller, every other one as it is. The
 * type is what the bytes are, and must be the declared one. It works in a thread and takes long, so not in a transaction.
 * @throws AppError 400
 */
async function prepareLogo(file: UploadedFile) {
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

export const noLogo = refusal('no_logo', 404, 'No custom logo set');

/** What a change of the logo drops on every instance. */
const LOGO_KEY = 'branding-logo';
/** Only the endpoints write it, so nothing else can make it old. */
const TRUST_MS = HOUR_MS;

interface ServedLogo {
  contentType: ImageType;
  content: Buffer;
  /** Hash of the bytes: the same on every instance, and after a restart. */
  etag: string;
  updatedAt: Date;
}

/**
 * The logo, cached on each instance: one image of at most 5 MiB, which every page shows.
 * @throws AppError 404
 */
export async function readLogo(app: App): Promise<ServedLogo> {
  const logo = await app.cache.read(LOGO_KEY, TRUST_MS, () => loadLogo(app));
  if (logo === null) throw noLogo();
  return logo;
}

async function loadLogo(app: App): Promise<ServedLogo | null> {
  const row = await findLogo(app.db);
  if (row === null) return null;
  const content = Buffer.from(row.content);
  const etag = `"${createHash('sha256').update(content).digest('base64url')}"`;
  return { contentType: row.contentType, updatedAt: row.updatedAt, content, etag };
}
