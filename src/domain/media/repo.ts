import type { App } from '../../core/app.ts';
import { allColumns, plainRow } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import type { MediaFile, MediaSource } from './types.ts';

const MEDIA = allColumns('MediaFile').of();

export async function findFile(db: Db, fileId: string): Promise<MediaFile | null> {
  const row = await db.prisma.mediaFile.findUnique({ where: { fileId } });
  return row && plainRow('MediaFile', row);
}

export type NewFile = Pick<
  MediaFile,
  'fileId' | 'mediaType' | 'uploadedBy' | 'fileName' | 'mimeType' | 'sizeBytes' | 'storageKey' | 'messengerFileId' | 'isPrivate'
>;

/** Null when the id exists. */
export async function insertFile(db: Db, file: NewFile, now: Date): Promise<MediaFile | null> {
  const [row] = await db.sql<MediaFile>(
    `INSERT INTO media_files (file_id, media_type, source, uploaded_by, file_name, mime_type, size_bytes, storage_key,
       messenger_file_id, is_private, created_at)
     VALUES ($1, $2, 'upload', $3::int, $4, $5, $6::bigint, $7, $8, $9::boolean, $10::timestamptz)
     ON CONFLICT (file_id) DO NOTHING RETURNING ${MEDIA}`,
    [
      ...[file.fileId, file.mediaType, file.uploadedBy, file.fileName, file.mimeType, file.sizeBytes, file.storageKey],
      ...[file.messengerFileId, file.isPrivate, now],
    ],
  );
  return row ?? null;
}

/** An id of the messenger that came from outside; a known one stays as it is, and is locked, so that no purge deletes it. In a transaction. */
export async function insertReceived(db: Db, fileId: string, mediaType: string, source: MediaSource, now: Date): Promise<void> {
  await db.sql(
    `INSERT INTO media_files (file_id, media_type, source, messenger_file_id, is_private, created_at)
     VALUES ($1, $2, $3, $1, true, $4::timestamptz)
     ON CONFLICT (file_id) DO UPDATE SET source = media_files.source RETURNING file_id`,
    [fileId, mediaType, source, now],
  );
}

/** Locks a file until the transaction ends, so that no purge deletes it meanwhile. @returns false when there is none */
export async function lockFile(db: Db, fileId: string): Promise<boolean> {
  return (await db.sql('SELECT file_id FROM media_files WHERE file_id = $1 FOR KEY SHARE', [fileId])).length > 0;
}

/** Files and bytes that a user has uploaded. */
export async function measureUploads(db: Db, userId: number): Promise<{ files: number; bytes: number }> {
  const [row] = await db.sql<{ files: number; bytes: number }>(
    'SELECT count(*)::int AS files, coalesce(sum(size_bytes), 0)::bigint AS bytes FROM media_files WHERE uploaded_by = $1::int',
    [userId],
  );
  return row!;
}

/** Locks the user, so that uploads of one user are counted one after the other. In a transaction. */
export async function lockUploader(db: Db, userId: number): Promise<void> {
  await db.sql('SELECT id FROM users WHERE id = $1::int FOR NO KEY UPDATE', [userId]);
}

/** Stores the messenger's id of a file that it received for the first time. */
export async function setMessengerFileId(db: Db, fileId: string, messengerFileId: string): Promise<void> {
  await db.prisma.mediaFile.updateMany({ where: { fileId, messengerFileId: null }, data: { messengerFileId } });
}

/** Which of these ids belong to private files. */
export async function listPrivateIds(db: Db, fileIds: readonly string[]): Promise<string[]> {
  const rows = await db.sql<{ fileId: string }>(
    'SELECT file_id FROM media_files WHERE file_id = ANY($1::text[]) AND is_private',
    [fileIds],
  );
  return rows.map((row) => row.fileId);
}

/** SQL: whether a message, broadcast or pinned message has the file `f`. Who writes such a row locks the file (`keepFile`). */
const IS_ATTACHED = `(EXISTS (SELECT 1 FROM ticket_messages r WHERE r.media_file_id = f.file_id)
  OR EXISTS (SELECT 1 FROM broadcast_history r WHERE r.media_file_id = f.file_id)
  OR EXISTS (SELECT 1 FROM pinned_messages r WHERE r.media_file_id = f.file_id))`;

/** Tables of texts and documents of operators, in which the address of a file may stand. All are small and seldom written. */
const TEXT_TABLES = [
  ...['legal_documents', 'faq_pages', 'service_rules', 'user_messages', 'welcome_texts', 'main_menu_buttons', 'menu_layouts'],
  ...['landing_pages', 'email_templates', 'promo_offer_templates', 'system_settings', 'polls', 'poll_questions', 'tariffs'],
  ...['contest_templates', 'referral_contests', 'pinned_messages', 'broadcast_history'],
] as const;

const IS_IN_A_TEXT = TEXT_TABLES.map((table) => `EXISTS (SELECT 1 FROM ${table} r WHERE strpos(r::text, f.file_id) > 0)`).join(
  '\n  OR ',
);

interface UploadPage {
  /** Uploads that no row has. */
  unattached: string[];
  /** The last id that was looked at; null when there are no further ones. */
  last: string | null;
}

/** The next uploads in the order of their ids, of those before a given time. Reads by indexes. */
export async function listUnattached(db: Db, after: string, before: Date, limit: number): Promise<UploadPage> {
  const rows = await db.sql<{ fileId: string; isAttached: boolean | null }>(
    `SELECT f.file_id, CASE WHEN f.source = 'upload' AND f.created_at < $2::timestamptz THEN ${IS_ATTACHED} END AS is_attached
     FROM media_files f WHERE f.file_id > $1 ORDER BY f.file_id LIMIT $3::int`,
    [after, before, limit],
  );
  const unattached = rows.filter(({ isAttached }) => isAttached === false).map(({ fileId }) => fileId);
  return { unattached, last: rows.length < limit ? null : rows.at(-1)!.fileId };
}

/**
 * Deletes the rows of those of these files that nothing refers to, in one transaction. A file that somebody is about to attach is locked, and
 * left out. Everybody else who attaches waits for the end of this transaction, and finds that the file is gone. A text that is being
 * written is waited for, at most two seconds, and then read.
 * @returns how many, and the keys of their contents
 */
export function deleteUnused(app: App, fileIds: readonly string[]): Promise<{ rows: number; keys: string[] }> {
  return inTransaction(app, async ({ db }) => {
    await db.sql("SELECT set_config('lock_timeout', '2s', true) AS timeout");
    await db.sql(`LOCK TABLE ${TEXT_TABLES.join(', ')} IN SHARE MODE`);
    const locked = await db.sql<{ fileId: string }>(
      'SELECT file_id FROM media_files WHERE file_id = ANY($1::text[]) ORDER BY file_id FOR UPDATE SKIP LOCKED',
      [fileIds],
    );
    // A statement of its own: its snapshot is younger than the locks, so that it sees what was attached before them.
    const rows = await db.sql<{ storageKey: string | null }>(
      `DELETE FROM media_files f WHERE f.file_id = ANY($1::text[]) AND NOT ${IS_ATTACHED} AND NOT (${IS_IN_A_TEXT}) RETURNING f.storage_key`,
      [locked.map(({ fileId }) => fileId)],
    );
    return { rows: rows.length, keys: rows.flatMap(({ storageKey }) => storageKey ?? []) };
  });
}

export async function listKeysWithoutRow(db: Db, keys: readonly string[]): Promise<string[]> {
  const rows = await db.sql<{ key: string }>(
    `SELECT k.key FROM unnest($1::text[]) AS k (key) WHERE NOT EXISTS (SELECT 1 FROM media_files f WHERE f.storage_key = k.key)`,
    [keys],
  );
  return rows.map(({ key }) => key);
}
