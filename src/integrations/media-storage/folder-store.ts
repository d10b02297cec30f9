import { randomBytes } from 'node:crypto';
import { mkdir, open, opendir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { MediaStore } from '../../domain/media/ports.ts';

const KEY = /^[\w-]{16,64}$/;
const HEAD_BYTES = 16;
/** What an interrupted `put` leaves. */
const PART = /^[\w-]{16,64}\.[0-9a-f]{12}\.part$/;

/** Files in a folder, in sub-folders by the first two characters of the key. A file appears whole or not at all, also after a crash. */
export function folderStore(folder: string): MediaStore {
  const pathOf = (key: string): string => {
    if (!KEY.test(key)) throw new Error('not a key of the media storage');
    return join(folder, key.slice(0, 2), key);
  };
  return {
    put: async (key, content) => {
      const path = pathOf(key);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const temporary = `${path}.${randomBytes(6).toString('hex')}.part`;
      try {
        const file = await open(temporary, 'wx', 0o600);
        try {
          await file.writeFile(content);
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(temporary, path);
      } catch (error) {
        await rm(temporary, { force: true });
        throw error;
      }
      await syncFolder(dirname(path));
    },
    get: async (key) => unlessMissing(readFile(pathOf(key))),
    look: async (key) => {
      const file = await unlessMissing(open(pathOf(key), 'r'));
      if (file === null) return null;
      try {
        const { size } = await file.stat();
        const { bytesRead, buffer } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
        return { size, head: buffer.subarray(0, bytesRead) };
      } finally {
        await file.close();
      }
    },
    open: async (key, range) => {
      const file = await unlessMissing(open(pathOf(key), 'r'));
      return file?.createReadStream(range ? { start: range.first, end: range.last } : {}) ?? null;
    },
    delete: (key) => rm(PART.test(key) ? join(folder, key.slice(0, 2), key) : pathOf(key), { force: true }),
    list: async function* () {
      for await (const path of filesBelow(folder)) {
        const key = basename(path);
        if (!KEY.test(key) && !PART.test(key)) continue;
        // Null: it was deleted or renamed since.
        const found = await unlessMissing(stat(path));
        if (found !== null) yield { key, storedAt: found.mtime };
      }
    },
  };
}

/** The name of a new file is durable only with its folder. Windows knows no such call. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Files of the sub-folders. */
async function* filesBelow(folder: string): AsyncGenerator<string> {
  const entries = await unlessMissing(opendir(folder));
  if (entries === null) return;
  for await (const entry of entries) {
    if (!entry.isDirectory()) continue;
    for await (const file of await opendir(join(folder, entry.name))) {
      if (file.isFile()) yield join(folder, entry.name, file.name);
    }
  }
}

async function unlessMissing<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
