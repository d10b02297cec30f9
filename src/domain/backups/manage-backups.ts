import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { App } from '../../core/app.ts';
import { refuse } from '../../core/errors.ts';
import { type BackupFile, findBackup, listBackupNames, readBackupFile, removeBackup } from './folder.ts';

/** A page of the backups in the folder, the newest first. Only those of the page are looked into. */
export async function listBackups(
  app: App,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ items: BackupFile[]; total: number }> {
  const names = await listBackupNames(app);
  const items: BackupFile[] = [];
  for (const name of names.slice(offset, offset + limit)) {
    const file = await readBackupFile(app, name);
    if (file) items.push(file);
  }
  return { items, total: names.length };
}

/** The content of a backup as a stream. @throws AppError 404 */
export async function downloadBackup(app: App, name: string): Promise<{ name: string; size: number; content: Readable }> {
  const path = await findBackup(app, name);
  const { size } = await stat(path);
  // Exactly the announced length, should the file grow or be replaced meanwhile.
  return { name, size, content: createReadStream(path, { highWaterMark: 256 * 1024, ...(size > 0 ? { end: size - 1 } : {}) }) };
}

/** @throws AppError 404 with the name */
export async function deleteBackup(app: App, name: string): Promise<void> {
  const shown = /^[\w.-]{1,200}$/.test(name) ? name : '';
  const path = await findBackup(app, name, () => refuse('backup_not_found', 404, `Backup file not found: ${shown}`));
  await removeBackup(path);
}
