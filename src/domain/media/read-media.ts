import type { App } from '../../core/app.ts';
import { refuse } from '../../core/errors.ts';
import { MessengerError } from '../messaging/ports.ts';
import { contentTypeOf } from './content-type.ts';
import { readReference } from './links.ts';
import { findFile } from './repo.ts';
import { isShownInPlace, mediaNotFound, safeName } from './rules.ts';
import type { ContentType, MediaFile } from './types.ts';

export interface Download {
  name: string;
  mime: string;
  content: Buffer;
  isInPlace: boolean;
}

const UNKNOWN: ContentType = { mime: 'application/octet-stream', extension: 'bin', family: 'document' };

/**
 * A known file for an API token (spec 05 section 10).
 * @throws AppError 404 every id that was not issued or received; 502 the messenger or the storage does not answer
 */
export async function readFileAsToken(app: App, reference: string): Promise<Download> {
  const { fileId } = await readReference(app, reference);
  const file = await findFile(app.db, fileId);
  if (!file) throw mediaNotFound();
  return download(app, file);
}

/** Who asks for a file in the cabinet. */
export interface Reader {
  userId: number | null;
  isAdministrator: boolean;
}

/**
 * A file in the cabinet: a public one, a private one by a signed link, or for its uploader and administrators. Everyone else gets the same
 * answer as for an unknown id.
 * @param identify called only where the answer depends on the reader
 * @throws AppError 404, 502
 */
export async function readFileInCabinet(
  app: App,
  reference: string,
  identify: () => Promise<Reader>,
): Promise<Download & { isPrivate: boolean; expiresAt: Date | null }> {
  const { fileId, isSigned, expiresAt } = await readReference(app, reference);
  const file = await findFile(app.db, fileId);
  if (!file) throw mediaNotFound();
  if (file.isPrivate && !isSigned) {
    const reader = await identify();
    const isOwner = reader.userId !== null && reader.userId === file.uploadedBy;
    if (!isOwner && !reader.isAdministrator) throw mediaNotFound();
  }
  const found = await download(app, file);
  return { ...found, isPrivate: file.isPrivate, expiresAt: isSigned ? expiresAt : null };
}

async function download(app: App, file: MediaFile): Promise<Download> {
  const found = await contentOf(app, file);
  if (!found) throw mediaNotFound();
  // Also what was checked when it was stored: the storage may have been changed since.
  const type = contentTypeOf(found.content) ?? UNKNOWN;
  return { name: safeName(found.name, type), mime: type.mime, content: found.content, isInPlace: isShownInPlace(type) };
}

async function contentOf(app: App, file: MediaFile): Promise<{ name: string; content: Buffer } | null> {
  try {
    const content = file.storageKey === null ? null : await app.ports.mediaStore.get(file.storageKey);
    if (content) return { name: file.fileName ?? file.mediaType, content };
    if (file.storageKey !== null) app.log.warn({ fileId: file.fileId }, 'the storage has not the content of a file');
    const messengerId = file.messengerFileId ?? (file.storageKey === null ? file.fileId : null);
    if (messengerId === null || !app.ports.messenger.isConfigured()) return null;
    const fetched = await app.ports.messenger.downloadFile(messengerId);
    return fetched && { name: file.fileName ?? fetched.name, content: fetched.bytes };
  } catch (error) {
    if (!(error instanceof MessengerError)) app.log.warn({ err: error }, 'a file could not be read from the storage');
    throw refuse('media_unavailable', 502, 'Failed to download media', { cause: error });
  }
}
