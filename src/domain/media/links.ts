import { createHmac, timingSafeEqual } from 'node:crypto';
import type { App } from '../../core/app.ts';
import { MINUTE_MS } from '../../core/clock.ts';
import { storedSecret } from '../../core/stored-secret.ts';

/** Row of `service_state`. */
const SECRET = 'media:link-secret';
const SIGNED = /^([\w-]{1,200})\.([0-9a-z]{1,9})\.([\w-]{22})$/;

/** A file id from a request: alone, or with the signature that lets anyone use it for some time. */
export interface FileReference {
  fileId: string;
  /** Signed by this service, and not expired. */
  isSigned: boolean;
  /** End of the signature; null without one. */
  expiresAt: Date | null;
}

/**
 * Signs ids of private files for who may see them now: the id with an end and a signature, `<id>.<end>.<signature>`. It stands wherever
 * the id may stand, so that a client that makes the address of a file from its id needs no credential (spec 05 section 10). All signatures
 * of an hour are equal, so that a browser asks once.
 * @returns a function that signs an id
 */
export async function linkSigner(app: App): Promise<(fileId: string) => string> {
  const secret = await storedSecret(app, SECRET);
  const step = app.env.mediaLinkMinutes * MINUTE_MS;
  const end = Math.floor(app.clock.now().getTime() / step) * step + 2 * step;
  const expiry = Math.floor(end / MINUTE_MS).toString(36);
  return (fileId) => `${fileId}.${expiry}.${signature(secret, fileId, expiry)}`;
}

/** Reads an id with or without a signature. A wrong or expired one counts as none. */
export async function readReference(app: App, text: string): Promise<FileReference> {
  const [, fileId, expiry, given] = SIGNED.exec(text) ?? [];
  if (fileId === undefined || expiry === undefined || given === undefined)
    return { fileId: text, isSigned: false, expiresAt: null };
  const expiresAt = new Date(Number.parseInt(expiry, 36) * MINUTE_MS);
  const expected = signature(await storedSecret(app, SECRET), fileId, expiry);
  const isGenuine = timingSafeEqual(Buffer.from(expected), Buffer.from(given));
  return { fileId, isSigned: isGenuine && expiresAt > app.clock.now(), expiresAt };
}

function signature(secret: string, fileId: string, expiry: string): string {
  return createHmac('sha256', secret).update(`${fileId}\n${expiry}`).digest('base64url').slice(0, 22);
}
