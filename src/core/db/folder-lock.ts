import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Another process has the embedded database open; opening it twice would corrupt it. */
export class FolderInUseError extends Error {
  constructor(folder: string, pid: number) {
    super(
      `The data folder ${folder} is in use by process ${pid}. Stop it first, or give this one another DATA_DIR or a DATABASE_URL.`,
    );
    this.name = 'FolderInUseError';
  }
}

/** Locks of this process; a lock file with our pid that is not among them was left by a dead process (containers reuse pids). */
const lockedPaths = new Set<string>();

/**
 * Takes the data folder for this process. A lock left by a process that no longer runs is taken over.
 * @returns a function that releases the folder
 * @throws FolderInUseError
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, 'database.lock');
  for (let attempt = 0; ; attempt++) {
    try {
      const file = await open(path, 'wx');
      await file.writeFile(String(process.pid));
      await file.close();
      lockedPaths.add(path);
      return async () => {
        lockedPaths.delete(path);
        await rm(path, { force: true });
      };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || attempt > 3) throw error;
      const pid = Number(await readFile(path, 'utf8').catch(() => ''));
      const isTaken = pid === process.pid ? lockedPaths.has(path) : pid > 0 && isRunning(pid);
      if (isTaken) throw new FolderInUseError(folder, pid);
      await rm(path, { force: true });
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
