import type { App } from '../../core/app.ts';
import { linkSigner, readReference } from './links.ts';
import { findFile, insertReceived, listPrivateIds, lockFile } from './repo.ts';
import type { MediaSource } from './types.ts';

/**
 * The stored id of a file that this user may attach: a public one, an own upload, or one by a signed id, which only those get who may
 * see the file (spec 05 section 10, hazard a).
 * @returns null for every other id
 */
export async function attachableFile(app: App, userId: number, reference: string): Promise<string | null> {
  const { fileId, isSigned } = await readReference(app, reference);
  const file = await findFile(app.db, fileId);
  if (!file) return null;
  return !file.isPrivate || isSigned || file.uploadedBy === userId ? fileId : null;
}

/** The stored id of any known file, for administrators. */
export async function knownFile(app: App, reference: string): Promise<string | null> {
  const { fileId } = await readReference(app, reference);
  return (await findFile(app.db, fileId)) ? fileId : null;
}

/**
 * For who writes a reference to a file, in the transaction that writes it: the file stays until then, and after the commit the purge of unused
 * files sees the reference.
 * @returns false when the file has been deleted since it was looked up
 */
export function keepFile(t: App, fileId: string): Promise<boolean> {
  return lockFile(t.db, fileId);
}

/** The id without a signature. */
export async function storedFileId(app: App, reference: string): Promise<string> {
  return (await readReference(app, reference)).fileId;
}

/**
 * Makes a file known that an API token names: it may be an id of the messenger, which this service has never seen. In the transaction that
 * refers to it, until whose end no purge deletes it.
 * @param kind `photo`, `video`, `document`, or any other word of the messenger
 */
export function recordReceived(t: App, fileId: string, kind: string, source: MediaSource): Promise<void> {
  return insertReceived(t.db, fileId, kind.slice(0, 32), source, t.clock.now());
}

/**
 * Ids as a reader who may see these files gets them: those of private files are signed.
 * @returns id by stored id
 */
export async function idsForReader(app: App, fileIds: readonly string[]): Promise<(fileId: string) => string> {
  if (fileIds.length === 0) return (fileId) => fileId;
  const isPrivate = new Set(await listPrivateIds(app.db, fileIds));
  if (isPrivate.size === 0) return (fileId) => fileId;
  const sign = await linkSigner(app);
  return (fileId) => (isPrivate.has(fileId) ? sign(fileId) : fileId);
}
