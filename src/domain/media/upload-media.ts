import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal } from '../../core/errors.ts';
import { urlSafeToken } from '../../core/random.ts';
import { configAdmins, isConfigAdmin, readEffectiveAccess } from '../access/effective-access.ts';
import { findUserById } from '../identity/find-user.ts';
import { type MediaKind, MessengerError } from '../messaging/ports.ts';
import { checkContent, safeName } from './media.ts';
import { insertFile, lockUploader, measureUploads, type NewFile } from './repo.ts';
import { isMediaKind, type MediaFile } from './types.ts';

export const mediaTypeUnknown = refusal('media_type_unknown', 400, 'Unsupported media type. Allowed: photo, video, document');
export const mediaNotStored = refusal('media_not_stored', 503, 'Failed to upload media');
export const tooManyFiles = refusal('too_many_files', 400, 'Too many files. Maximum: <n>');
export const filesTooLarge = refusal('files_too_large', 400, 'Files too large. Maximum altogether: <n>MB');

export interface Upload {
  /** `photo`, `video` or `document`, in any case and with blanks around it. */
  kind: string;
  /** As the client named it. */
  filename: string;
  content: Buffer;
  /** In the messenger's HTML, for the copy in the administrators' chat. */
  caption: string | null;
}

export interface Uploaded {
  file: MediaFile;
  /** The messenger's; null when the file was not sent to it. */
  fileUniqueId: string | null;
}

/**
 * Stores a file of a user of the cabinet: private, for the user and administrators (spec 05 section 10).
 * @throws AppError 400 kind, content or too many files; 503 while the storage is away
 */
export async function uploadAsUser(app: App, userId: number, upload: Upload): Promise<Uploaded> {
  const isLimited = !(await isAdministrator(app, userId));
  const refusal = 'Unsupported media type. Allowed: photo, video, document';
  return store(app, upload, refusal, { uploadedBy: userId, isPrivate: true, isLimited });
}

/**
 * Stores a file that an API token uploads: anyone with its id may read it, as everyone sees the bot's messages that show it.
 * @throws AppError 400 kind or content; 503 while the storage is away
 */
export async function uploadAsToken(app: App, upload: Upload): Promise<Uploaded> {
  return store(app, upload, 'Unsupported media type', { uploadedBy: null, isPrivate: false, isLimited: false });
}

interface Owner {
  uploadedBy: number | null;
  isPrivate: boolean;
  /** Whether the number and size of the user's files are limited. */
  isLimited: boolean;
}

async function store(app: App, upload: Upload, kindRefusal: string, owner: Owner): Promise<Uploaded> {
  const kind = upload.kind.trim().toLowerCase();
  if (!isMediaKind(kind)) throw mediaTypeUnknown({ detail: kindRefusal });
  const type = checkContent(kind, upload.content);
  const { uploadedBy } = owner;
  if (owner.isLimited && uploadedBy !== null) await checkQuota(app, uploadedBy, upload.content.length);
  const name = safeName(upload.filename, type);
  const storageKey = urlSafeToken(app.random, 24);
  await put(app, storageKey, upload.content, type.mime);
  try {
    const sent = await copyToChat(app, kind, { name, contentType: type.mime, bytes: upload.content }, upload.caption);
    const file = await insertUpload(app, owner, {
      ...{ fileId: sent?.fileId ?? newFileId(app), messengerFileId: sent?.fileId ?? null },
      ...{ mediaType: kind, fileName: name, mimeType: type.mime, sizeBytes: upload.content.length },
      ...{ storageKey, uploadedBy, isPrivate: owner.isPrivate },
    });
    return { file, fileUniqueId: sent?.fileUniqueId ?? null };
  } catch (error) {
    await app.ports.mediaStore.delete(storageKey).catch(() => undefined);
    throw error;
  }
}

const newFileId = (app: App) => `file_${urlSafeToken(app.random, 24)}`;

async function put(app: App, key: string, content: Buffer, mime: string): Promise<void> {
  try {
    await app.ports.mediaStore.put(key, content, mime);
  } catch (error) {
    throw mediaNotStored({ headers: { 'Retry-After': '5' }, cause: error });
  }
}

function insertUpload(app: App, owner: Owner, file: NewFile): Promise<MediaFile> {
  return inTransaction(app, async (t) => {
    const { uploadedBy } = owner;
    if (uploadedBy !== null) {
      await lockUploader(t.db, uploadedBy);
      if (owner.isLimited) await checkQuota(t, uploadedBy, Number(file.sizeBytes));
    }
    const now = t.clock.now();
    // The messenger may return the id of an equal file, which belongs to somebody else.
    const row = (await insertFile(t.db, file, now)) ?? (await insertFile(t.db, { ...file, fileId: newFileId(t) }, now));
    return row!;
  });
}

/** @throws AppError 400 with the limit */
async function checkQuota(app: App, userId: number, bytes: number): Promise<void> {
  const { mediaFilesPerUser, mediaMegabytesPerUser } = app.env;
  const used = await measureUploads(app.db, userId);
  if (used.files >= mediaFilesPerUser) throw tooManyFiles({ detail: `Too many files. Maximum: ${mediaFilesPerUser}` });
  if (used.bytes + bytes > mediaMegabytesPerUser * 1024 * 1024) {
    throw filesTooLarge({ detail: `Files too large. Maximum altogether: ${mediaMegabytesPerUser}MB` });
  }
}

async function isAdministrator(app: App, userId: number): Promise<boolean> {
  const user = await findUserById(app, userId);
  if (user && isConfigAdmin(app, user)) return true;
  return (await readEffectiveAccess(app, userId)).permissions.length > 0;
}

/**
 * Shows the file in the administrators' chat, as clients expect it of an upload. That gives it an id of the messenger, with which bots
 * can send it themselves. Without a chat, and when the messenger refuses it or does not answer, it is stored all the same.
 */
async function copyToChat(
  app: App,
  kind: MediaKind,
  content: { name: string; contentType: string; bytes: Buffer },
  caption: string | null,
): Promise<{ fileId: string; fileUniqueId: string | null } | null> {
  const chatId = uploadChat(app);
  if (chatId === null || !app.ports.messenger.isConfigured()) return null;
  try {
    const { fileId, fileUniqueId } = await app.ports.messenger.sendFile(chatId, kind, content, caption ?? '');
    return fileId === null ? null : { fileId, fileUniqueId };
  } catch (error) {
    if (!(error instanceof MessengerError)) throw error;
    app.log.warn({ failure: error.failure.kind }, 'an upload could not be shown in the chat of the administrators');
    return null;
  }
}

/** `ADMIN_NOTIFICATIONS_CHAT_ID`, else the first entry of `ADMIN_IDS`. */
function uploadChat(app: App): number | null {
  const chat = (app.settings.get('ADMIN_NOTIFICATIONS_CHAT_ID') ?? '').trim();
  if (/^-?[1-9]\d{0,15}$/.test(chat)) return Number(chat);
  return [...configAdmins(app).messengerIds][0] ?? null;
}
