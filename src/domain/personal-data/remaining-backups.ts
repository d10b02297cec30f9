import type { App } from '../../core/app.ts';
import { addMs, HOUR_MS } from '../../core/clock.ts';
import { listBackupNames, readBackupFile } from '../backups/backup-folder.ts';

/** A backup that still has the person. */
export interface RemainingBackup {
  name: string;
  /** When retention deletes it, if backups go on as they are set; null when that is not known: after `furtherBackups` more. */
  deletedAt: Date | null;
  /** After how many further backups of its kind it is deleted. */
  furtherBackups: number;
}

/** Backups of this installation made before a time, with their end. Copies elsewhere (a chat, another disk) are not known here. */
export async function listBackupsBefore(app: App, before: Date): Promise<RemainingBackup[]> {
  const keep = app.settings.get('BACKUP_MAX_KEEP');
  const stepMs = app.settings.get('BACKUP_AUTO_ENABLED') ? app.settings.get('BACKUP_INTERVAL_HOURS') * HOUR_MS : null;
  const newer = { ordinary: 0, safety: 0 };
  const kept: RemainingBackup[] = [];
  for (const name of await listBackupNames(app)) {
    const file = await readBackupFile(app, name);
    if (!file?.metadata) continue;
    const kind = file.metadata.origin === 'safety' ? 'safety' : 'ordinary';
    const furtherBackups = Math.max(1, keep - newer[kind]);
    newer[kind] += 1;
    if (file.modifiedAt > before) continue;
    const isDated = kind === 'ordinary' && stepMs !== null;
    kept.push({ name, deletedAt: isDated ? addMs(app.clock.now(), furtherBackups * stepMs) : null, furtherBackups });
  }
  return kept;
}
