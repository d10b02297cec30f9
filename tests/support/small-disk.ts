/** A file system of a few megabytes in memory, which a test fills and empties. */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface SmallDisk {
  path: string;
  /** Leaves no byte, not even in a block that is begun. */
  fill(): void;
  empty(): void;
  remove(): void;
}

/** @returns the reason where this user may not mount one */
export function smallDisk(megabytes: number): SmallDisk | string {
  const path = mkdtempSync(join(tmpdir(), 'small-disk-'));
  const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0700`, 'tmpfs', path], { encoding: 'utf8' });
  if (mount.status !== 0) {
    rmdirSync(path);
    return `no file system can be mounted here: ${mount.stderr?.trim() || mount.error?.message}`;
  }
  const filler = join(path, 'filler');
  return {
    path,
    fill: () => {
      const file = openSync(filler, 'a');
      try {
        for (const bytes of [1024 * 1024, 4096, 1]) {
          const block = Buffer.alloc(bytes);
          try {
            while (writeSync(file, block) > 0);
          } catch (error) {
            if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
          }
        }
      } finally {
        closeSync(file);
      }
    },
    empty: () => rmSync(filler, { force: true }),
    remove: () => {
      // What is still open on it is no reason to leave it.
      spawnSync('umount', ['-l', path]);
      rmdirSync(path);
    },
  };
}
