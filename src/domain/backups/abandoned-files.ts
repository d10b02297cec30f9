import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../core/log.ts';

/** What is older belongs to a process that has died: no backup, restore or drill takes so long. It can have the data of all users. */
export const ABANDONED_S = 24 * 3600;

/** Deletes the abandoned files and folders of `parent` with such names. What cannot be deleted is logged and stays. */
export async function removeAbandoned(log: Pick<Logger, 'warn'>, parent: string, names: RegExp): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!names.test(name)) continue;
    const path = join(parent, name);
    const found = await stat(path).catch(() => null);
    if (found === null || Date.now() - found.mtimeMs < ABANDONED_S * 1000) continue;
    await rm(path, { recursive: true, force: true }).catch((error: unknown) =>
      log.warn({ err: error, path }, 'what an earlier backup or drill left could not be deleted'),
    );
  }
}
