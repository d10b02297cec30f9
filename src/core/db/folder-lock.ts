import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

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
/** A lock file without a process is that of one that has just created it, and writes its id next; an older one was left by a dead process. */
const WRITTEN_WITHIN_MS = 5_000;
const LOOK_AGAIN_MS = 50;

/**
 * Claims the data folder for this process. A lock left by a process that no longer runs is taken over.
 * @returns a function that releases the folder
 * @throws FolderInUseError
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, 'database.lock');
  for (;;) {
    if (await createLock(path)) {
      lockedPaths.add(path);
      return async () => {
        lockedPaths.delete(path);
        await rm(path, { force: true });
      };
    }
    const found = await readLock(path);
    if (found === null) continue;
    if (found.pid === null && found.ageMs < WRITTEN_WITHIN_MS) await wait(LOOK_AGAIN_MS);
    else if (isTaken(path, found.pid)) throw new FolderInUseError(folder, found.pid!);
    else await removeLeftLock(folder, path, found.pid);
  }
}

/** @returns false when there is one */
async function createLock(path: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx');
    await file.writeFile(String(process.pid));
    await file.close();
    // Unless another process took the file for a left one meanwhile, because this one was suspended before it wrote.
    return (await readLock(path))?.pid === process.pid;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

interface FoundLock {
  /** Null: the file names no process. */
  pid: number | null;
  ageMs: number;
}

/** Null: it is gone. */
async function readLock(path: string): Promise<FoundLock | null> {
  try {
    const [text, { mtimeMs }] = [await readFile(path, 'utf8'), await stat(path)];
    const pid = Number(text);
    return { pid: Number.isSafeInteger(pid) && pid > 0 ? pid : null, ageMs: Date.now() - mtimeMs };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function isTaken(path: string, pid: number | null): boolean {
  if (pid === null) return false;
  return pid === process.pid ? lockedPaths.has(path) : isRunning(pid);
}

/** Two processes may find the same lock left; the slower one must not remove the lock of the faster one. @throws FolderInUseError */
async function removeLeftLock(folder: string, path: string, pid: number | null): Promise<void> {
  const aside = `${path}.${process.pid}`;
  try {
    await rename(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const moved = await readLock(aside);
  if (moved !== null && moved.pid !== pid) {
    await rename(aside, path);
    if (moved.pid !== null) throw new FolderInUseError(folder, moved.pid);
    return;
  }
  await rm(aside, { force: true });
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
