import { createHash } from 'node:crypto';
import type { App } from '../../../core/app.ts';
import { HOUR_MS } from '../../../core/clock.ts';
import { refusal } from '../../../core/errors.ts';
import { findLogo, type ImageType } from './repo.ts';

export const noLogo = refusal('no_logo', 404, 'No custom logo set');

/** What a change of the logo drops on every instance. */
export const LOGO_KEY = 'branding-logo';
/** Only the endpoints write it, so nothing else can make it old. */
const TRUST_MS = HOUR_MS;

export interface ServedLogo {
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
