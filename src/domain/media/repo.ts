import { allColumns, plainRow } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
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
