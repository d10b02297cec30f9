import type { App } from '../../core/app.ts';
import { refusal } from '../../core/errors.ts';
import type { ByteRange, RangedContent } from '../../core/http/replies.ts';
import { MessengerError } from '../messaging/ports.ts';
import { contentTypeOf, storedTypeOf } from './content-type.ts';
import { readReference } from './links.ts';
import { findFile } from './repo.ts';
import { isShownInPlace, mediaNotFound, safeName } from './rules.ts';
import type { ContentType, MediaFile } from './types.ts';

export const mediaUnavailable = refusal('media_unavailable', 502, 'Failed to download media');

export interface Download {
  name: string;
  mime: string;
  /** From our storage only what is sent is read. */
  content: Buffer | RangedContent;
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
  const found = await attempt(app, async () => (await storedContent(app, file)) ?? (await contentOfMessenger(app, file)));
  if (!found) throw mediaNotFound();
  const { name, type, content } = found;
  return { name: safeName(name, type), mime: type.mime, content, isInPlace: isShownInPlace(type) };
}

interface Found {
  name: string;
  type: ContentType;
  content: Buffer | RangedContent;
}

/** Null when our storage does not have it. */
async function storedContent(app: App, { storageKey, fileId, fileName, mediaType, mimeType }: MediaFile): Promise<Found | null> {
  if (storageKey === null) return null;
  const { mediaStore } = app.ports;
  const found = await mediaStore.look(storageKey);
  if (found === null) {
    app.log.warn({ fileId }, 'the storage has not the content of a file');
    return null;
  }
  const open = async (range: ByteRange | null) => {
    const stream = await attempt(app, () => mediaStore.open(storageKey, range));
    if (stream === null) throw mediaNotFound();
    return stream;
  };
  const type = storedTypeOf(mimeType, found.head) ?? UNKNOWN;
  return { name: fileName ?? mediaType, type, content: { size: found.size, open } };
}

/** What the messenger has, at most 20 MB by its rules; it can only be read whole. */
async function contentOfMessenger(app: App, file: MediaFile): Promise<Found | null> {
  const messengerId = file.messengerFileId ?? (file.storageKey === null ? file.fileId : null);
  if (messengerId === null || !app.ports.messenger.isConfigured()) return null;
  const fetched = await app.ports.messenger.downloadFile(messengerId);
  if (fetched === null) return null;
  const type = contentTypeOf(fetched.bytes) ?? UNKNOWN;
  return { name: file.fileName ?? fetched.name, type, content: fetched.bytes };
}

/** @throws AppError 502 while the messenger or the storage is away */
async function attempt<T>(app: App, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof MessengerError)) app.log.warn({ err: error }, 'a file could not be read from the storage');
    throw mediaUnavailable({ cause: error });
  }
}
