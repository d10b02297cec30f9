import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { App } from '../../core/app.ts';
import { SECOND_MS } from '../../core/clock.ts';
import type { LongSession } from '../../core/db/database.ts';
import { isDatabaseUnavailable, LOCK_NOT_AVAILABLE, sqlState } from '../../core/db/db-errors.ts';
import { refusal } from '../../core/errors.ts';
import { withWorkFolder } from './backup-folder.ts';
import { notifyAdministrators } from './backup-tasks.ts';
import { type CheckedArchive, checkArchive } from './check-archive.ts';
import { openArchive } from './read-archive.ts';
import { listMigrations, listTables } from './repo.ts';
import { restoreRows } from './restore-rows.ts';
import { mediaKeyOf, takeBackup } from './take-backup.ts';
import { ArchiveRefused } from './types.ts';

export interface RestoreResult {
  success: boolean;
  message: string;
  tablesRestored: number | null;
  recordsRestored: number | null;
}

export interface RestoreOptions {
  clearExisting: boolean;
  /** Id of an API token. */
  requestedBy: number | null;
}

/** Longer than an instance takes to see that it must stop serving. */
const STOP_SERVING_MS = 1_500;

/**
 * Restores an archive into the running system (spec 06 section 7): checks all of it, closes the service on every instance, writes a safety
 * backup, and replaces or merges the rows in one transaction. Whatever fails, at whatever byte, the data is as before.
 * @returns `success: false` with the reason for everything that is refused or fails
 */
export async function restoreBackup(
  app: App,
  path: string,
  { clearExisting, requestedBy }: RestoreOptions,
): Promise<RestoreResult> {
  const startedAt = performance.now();
  try {
    const work = await app.db.long!.alone((session) => restoreAlone(app, session, path, { clearExisting, requestedBy }));
    if (work === null) throw new ArchiveRefused('A backup or a restore is running; try again when it has ended');
    const { tables, rows, safetyBackup } = work.result;
    app.events.announce();
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
    const message = `Restored ${rows} records of ${tables} tables in ${seconds} s. What was there before is in ${safetyBackup}`;
    app.log.warn({ tables, rows, seconds, clearExisting }, 'a backup was restored');
    await notifyAdministrators(app, 'restored', { tables, rows, seconds });
    return { success: true, message, tablesRestored: tables, recordsRestored: rows };
  } catch (error) {
    // Any failure: it is the result of the restore, and `reasonOf` names an unavailable database.
    const message = reasonOf(error);
    app.log.warn({ err: error }, 'a backup was not restored; nothing was changed');
    await notifyAdministrators(app, 'restore_failed', { reason: message });
    return { success: false, message, tablesRestored: null, recordsRestored: null };
  } finally {
    await app.ports.gate.look();
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof ArchiveRefused) return `${error.message}. Nothing was changed.`;
  if (sqlState(error) === LOCK_NOT_AVAILABLE) return 'Other work on the database did not end in time. Nothing was changed.';
  if (isDatabaseUnavailable(error)) return 'The database did not answer. Nothing was changed.';
  return 'The restore failed, see the log. Nothing was changed.';
}

async function restoreAlone(
  app: App,
  session: LongSession,
  path: string,
  { clearExisting, requestedBy }: RestoreOptions,
): Promise<{ tables: number; rows: number; safetyBackup: string }> {
  const password = app.settings.get('BACKUP_ARCHIVE_PASSWORD');
  const read = { path, password };
  const installed = await session.snapshot(async (sql) => ({
    migrations: await listMigrations(sql),
    tables: await listTables(sql),
  }));
  const archive = await checkArchive(path, read, installed);
  const added: string[] = [];
  try {
    await restoreMedia(app, archive, read, added);
    // From here on nothing is written any more, so that the safety backup has everything that the restore replaces.
    await closeService(app, session);
    const safety = await takeBackup(app, session, { origin: 'safety', createdBy: requestedBy });
    const loaded = await session.write((sql) => restoreRows(sql, app, { ...read, archive, clearExisting, keepsAccess: true }));
    return { ...loaded, safetyBackup: safety.name };
  } catch (error) {
    for (const key of added) await app.ports.mediaStore.delete(key).catch(() => undefined);
    throw error;
  }
}

async function closeService(app: App, session: LongSession): Promise<void> {
  await session.closeService();
  await app.ports.gate.look();
  await new Promise((resolve) => setTimeout(resolve, Math.max(STOP_SERVING_MS, SECOND_MS)));
}

/** Contents whose key the storage does not know; a key has one content for ever, so that nothing is overwritten. Outside any transaction. */
async function restoreMedia(
  { ports }: App,
  { metadata }: CheckedArchive,
  { path, password }: { path: string; password: string | null },
  added: string[],
): Promise<void> {
  if (!metadata.files.some((file) => mediaKeyOf(file) !== null)) return;
  const { members } = await openArchive(path, { password });
  try {
    for await (const member of members) {
      const key = member.kind === 'file' ? mediaKeyOf(member.file) : null;
      if (member.kind !== 'file' || key === null || (await ports.mediaStore.get(key)) !== null) continue;
      const parts: Buffer[] = [];
      for await (const chunk of member.content) parts.push(chunk);
      await ports.mediaStore.put(key, Buffer.concat(parts), 'application/octet-stream');
      added.push(key);
    }
  } finally {
    await members.return(undefined);
  }
}

export const filenameRequired = refusal('filename_required', 400, 'Filename is required');
export const fileTypeRefused = refusal('file_type_refused', 400, 'Invalid file type. Allowed: .tar.gz, .json, .json.gz, .tar');
export const invalidFilename = refusal('invalid_filename', 400, 'Invalid filename');
export const fileTooLarge = refusal('file_too_large', 413, 'File too large. Maximum size: <n>MB');
export const uploadNotStored = refusal(
  'upload_not_stored',
  503,
  'The archive cannot be stored: the folder of backups is full or not writable',
);
/** Of a disk that is full or broken, and of a folder that cannot be written. */
const CANNOT_STORE = ['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EEXIST', 'ENOTDIR', 'EIO'];

const EXTENSIONS = ['.tar.gz', '.json', '.json.gz', '.tar'];

/**
 * Restores an archive that comes with the request, and deletes it. It is written to the disk as it arrives, up to `BACKUP_UPLOAD_MAX_MB`.
 * @param filename as the client named it, without folders
 * @throws AppError 400 the name; 413 a larger file; 503 while the folder of backups is full or not writable
 */
export async function restoreUpload(
  app: App,
  filename: string,
  content: Readable,
  options: RestoreOptions,
): Promise<RestoreResult> {
  requireName(filename);
  try {
    return await withWorkFolder(app, async (folder) => {
      const path = join(folder, 'uploaded');
      await receive(content, path, app.env.backups.uploadMaxBytes);
      return restoreBackup(app, path, options);
    });
  } catch (error) {
    if (!CANNOT_STORE.includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    throw uploadNotStored({ headers: { 'Retry-After': '5' }, cause: error });
  }
}

function requireName(filename: string): void {
  if (filename === '') throw filenameRequired();
  if (!EXTENSIONS.some((extension) => filename.toLowerCase().endsWith(extension))) {
    throw fileTypeRefused({ detail: `Invalid file type. Allowed: ${EXTENSIONS.join(', ')}` });
  }
  if (!/^[\p{L}\p{N}][\p{L}\p{N} ._()-]{0,199}$/u.test(filename)) throw invalidFilename();
}

async function receive(content: Readable, path: string, maxBytes: number): Promise<void> {
  let length = 0;
  const limited = async function* (source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      length += chunk.length;
      if (length > maxBytes) throw fileTooLarge({ detail: `File too large. Maximum size: ${maxBytes / 1024 / 1024}MB` });
      yield chunk;
    }
  };
  await pipeline(content, limited, createWriteStream(path, { mode: 0o600 }));
}
