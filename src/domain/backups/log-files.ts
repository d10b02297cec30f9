import { copyFile, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { App } from '../../core/app.ts';
import { MAX_FILE_BYTES } from './archive-format.ts';

const NAME = /^[A-Za-z0-9][\w.-]{0,90}\.log$/;

/**
 * Copies the log files into the folder, so that they do not grow while they are archived.
 * @returns path of the copy by name in the archive
 */
export async function listLogFiles(
  { settings, log }: Pick<App, 'settings' | 'log'>,
  folder: string,
): Promise<Map<string, string>> {
  const source = dirname(settings.get('LOG_FILE'));
  const copies = new Map<string, string>();
  try {
    for (const entry of await readdir(source, { withFileTypes: true })) {
      if (!entry.isFile() || !NAME.test(entry.name)) continue;
      const path = join(source, entry.name);
      if ((await stat(path)).size > MAX_FILE_BYTES) continue;
      const copy = join(folder, `log-${entry.name}`);
      await copyFile(path, copy);
      copies.set(`files/${entry.name}`, copy);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') log.warn({ err: error }, 'log files could not be backed up');
  }
  return copies;
}
