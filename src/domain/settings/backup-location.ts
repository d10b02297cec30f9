import { resolve, sep } from 'node:path';
import type { App } from '../../core/app.ts';
import { storeOf } from './settings-store.ts';

/** The value of `BACKUP_LOCATION` that means: the folder `backups` in `DATA_DIR`. */
export const DEFAULT_BACKUP_LOCATION = '/app/data/backups';

/** Whether backups may be in this folder: in a root that the environment names, or where the environment has put them (spec 10 O6). */
export function isBackupLocation(source: Pick<App, 'env' | 'settings'>, location: string): boolean {
  const { env } = source;
  if (location === DEFAULT_BACKUP_LOCATION || location === storeOf(source).describe('BACKUP_LOCATION').original) return true;
  const folder = resolve(location);
  return [env.dataDir, ...env.backups.roots].some((root) => {
    const parent = resolve(root);
    return folder === parent || folder.startsWith(parent.endsWith(sep) ? parent : `${parent}${sep}`);
  });
}
