import type { App } from '../../core/app.ts';
import { SECOND_MS } from '../../core/clock.ts';
import { readState } from '../../core/service-state.ts';

/** Rows of `service_state`; neither backed up nor restored. */
export const LAST_BACKUP = 'backups:last';
export const LAST_DRILL = 'backups:drill';

/** How the last drill ended. */
export interface DrillResult {
  /** ISO 8601, UTC. */
  at: string;
  isOk: boolean;
  /** Of the backup. */
  name: string;
  message: string;
}

export interface BackupHealth {
  /** The newest backup that is complete. */
  last: { name: string; at: Date; ageSeconds: number } | null;
  drill: (Omit<DrillResult, 'at'> & { at: Date; ageSeconds: number }) | null;
}

/** What is known about backups, on any instance. */
export async function readBackupHealth({ db, clock }: Pick<App, 'db' | 'clock'>): Promise<BackupHealth> {
  const last = await readState<{ name: string; at: string }>(db, LAST_BACKUP);
  const drill = await readState<DrillResult>(db, LAST_DRILL);
  const aged = (at: string) => ({
    at: new Date(at),
    ageSeconds: Math.max(0, (clock.now().getTime() - Date.parse(at)) / SECOND_MS),
  });
  return { last: last && { name: last.name, ...aged(last.at) }, drill: drill && { ...drill, ...aged(drill.at) } };
}
