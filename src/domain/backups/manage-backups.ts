import { open as openFile, stat } from 'node:fs/promises';
import type { App } from '../../core/app.ts';
import { refusal } from '../../core/errors.ts';
import type { ByteRange, RangedContent } from '../../core/http/replies.ts';
import { type BackupFile, findBackup, listBackupNames, readBackupFile, removeBackup } from './folder.ts';

export const backupNotFound = refusal('backup_not_found', 404, 'Backup file not found: backup.tar.gz');

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

/** The content of a backup; only what is sent is read. @throws AppError 404 */
export async function downloadBackup(app: App, name: string): Promise<{ name: string; content: RangedContent }> {
  const path = await findBackup(app, name);
  const { size } = await stat(path);
  const open = async (range: ByteRange | null) => {
    // Opened here, so that a file that was deleted meanwhile is 404. Exactly the announced length, should it grow or be replaced.
    const file = await openFile(path, 'r').catch(async (error: unknown) => {
      await findBackup(app, name);
      throw error;
    });
    const { first: start, last: end } = range ?? { first: 0, last: size - 1 };
    return file.createReadStream({ highWaterMark: 256 * 1024, start, ...(size > 0 ? { end } : {}) });
  };
  return { name, content: { size, open } };
}

/** @throws AppError 404 with the name */
export async function deleteBackup(app: App, name: string): Promise<void> {
  const shown = /^[\w.-]{1,200}$/.test(name) ? name : '';
  const path = await findBackup(app, name, () => backupNotFound({ detail: `Backup file not found: ${shown}` }));
  await removeBackup(path);
}
