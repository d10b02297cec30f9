import { createHmac, timingSafeEqual } from 'node:crypto';
import type { App } from '../../core/app.ts';
import { MINUTE_MS } from '../../core/clock.ts';
import { refusal } from '../../core/errors.ts';
import type { ByteRange, RangedContent } from '../../core/http/http-client.ts';
import { storedSecret } from '../../core/stored-secret.ts';
import { type MediaKind, MessengerError, type MessengerFiles } from '../messaging/ports.ts';
import { contentTypeOf, storedTypeOf } from './content-type.ts';
import { findFile, insertReceived, listPrivateIds, lockFile, setMessengerFileId } from './repo.ts';
import type { ContentType, MediaFile, MediaSource } from './types.ts';

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

/** Row of `service_state`. */
const SECRET = 'media:link-secret';
const SIGNED = /^([\w-]{1,200})\.([0-9a-z]{1,9})\.([\w-]{22})$/;

/** A file id from a request: alone, or with the signature that lets anyone use it for some time. */
interface FileReference {
  fileId: string;
  /** Signed by this service, and not expired. */
  isSigned: boolean;
  /** End of the signature; null without one. */
  expiresAt: Date | null;
}

/**
 * Signs ids of private files for who may see them now: the id with an end and a signature, `<id>.<end>.<signature>`. It stands wherever
 * the id may stand, so that a client that makes the address of a file from its id needs no credential. All signatures
 * of an hour are equal, so that a browser asks once.
 * @returns a function that signs an id
 */
async function linkSigner(app: App): Promise<(fileId: string) => string> {
  const secret = await storedSecret(app, SECRET);
  const step = app.env.mediaLinkMinutes * MINUTE_MS;
  const end = Math.floor(app.clock.now().getTime() / step) * step + 2 * step;
  const expiry = Math.floor(end / MINUTE_MS).toString(36);
  return (fileId) => `${fileId}.${expiry}.${signature(secret, fileId, expiry)}`;
}

/** Reads an id with or without a signature. A wrong or expired one counts as none. */
async function readReference(app: App, text: string): Promise<FileReference> {
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

/** Ids of files as the messenger accepts them: its own id where it has the file, else the content, which is uploaded once. */
export const messengerFiles: MessengerFiles = {
  resolve: async (app, fileId) => {
    const file = await findFile(app.db, fileId);
    if (!file) return { fileId };
    if (file.messengerFileId !== null) return { fileId: file.messengerFileId };
    const content = file.storageKey === null ? null : await readStored(app, file.storageKey);
    if (!content) return { fileId };
    return { name: file.fileName ?? 'upload', contentType: file.mimeType ?? 'application/octet-stream', bytes: content };
  },
  remember: (app, fileId, messengerFileId) => setMessengerFileId(app.db, fileId, messengerFileId),
};

/** Without its file a message is certainly not sent: whoever sends it treats an absent storage like an absent messenger. */
async function readStored(app: App, storageKey: string): Promise<Buffer | null> {
  try {
    return await app.ports.mediaStore.get(storageKey);
  } catch (error) {
    throw new MessengerError({ kind: 'unavailable' }, 'The storage of files does not answer', { cause: error });
  }
}

export const fileEmpty = refusal('file_empty', 400, 'File is empty');
export const fileTypeRefused = refusal('file_type_refused', 400, 'Invalid file type. Allowed: .tar.gz, .json, .json.gz, .tar');

/** Largest file through the Web API; what the messenger accepts. */
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
function isShownInPlace({ family }: Pick<ContentType, 'family'>): boolean {
  return family === 'image' || family === 'video';
}

/** Headers of every download: no browser may guess another type, run anything in it or frame it. */
export const DOWNLOAD_HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
} as const;

export const mediaNotFound = refusal('media_not_found', 404, 'Media file not found');
