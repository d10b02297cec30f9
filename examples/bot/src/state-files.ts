import { mkdirSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { StorageAdapter } from 'grammy';

/** Sessions of grammY as one file each, so that a bot that is started again knows what it has asked. */
export function stateFiles<T>(folder: string): StorageAdapter<T> {
  mkdirSync(folder, { recursive: true });
  const fileOf = (key: string) => join(folder, `${encodeURIComponent(key)}.json`);
  return {
    read: async (key) => {
      try {
        return JSON.parse(await readFile(fileOf(key), 'utf8')) as T;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
        throw error;
      }
    },
    write: async (key, value) => {
      // Renamed when complete: a process that ends in the middle leaves the state before.
      const unfinished = `${fileOf(key)}.new`;
      await writeFile(unfinished, JSON.stringify(value));
      await rename(unfinished, fileOf(key));
    },
    delete: (key) => rm(fileOf(key), { force: true }),
  };
}
