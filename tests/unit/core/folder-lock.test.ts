import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FolderInUseError, lockFolder } from '../../../src/core/db/folder-lock.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'folder-lock-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const lockFile = () => join(folder, 'database.lock');

test('a folder is given to one holder at a time', async () => {
  const unlock = await lockFolder(folder);
  await expect(lockFolder(folder)).rejects.toThrow(FolderInUseError);
  await unlock();
  await (await lockFolder(folder))();
});

test('a running process keeps its folder', async () => {
  await writeFile(lockFile(), String(process.ppid));
  await expect(lockFolder(folder)).rejects.toThrow(`in use by process ${process.ppid}`);
});

test.each([
  ['a process that is gone', '4194000'],
  ['an earlier process with our own pid, as in a container', String(process.pid)],
  ['nobody that can be read', 'garbage'],
])('a lock left by %s is taken over', async (_who, content) => {
  await writeFile(lockFile(), content);
  const unlock = await lockFolder(folder);
  expect(await readFile(lockFile(), 'utf8')).toBe(String(process.pid));
  await unlock();
});
