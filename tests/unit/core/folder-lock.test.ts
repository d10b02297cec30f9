import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FolderInUseError, lockFolder } from '../../../src/core/db/folder-lock.ts';

const LONG_AGO = new Date('2026-01-01T00:00:00Z');
/** Tries to take the folder of its argument, says how that ended, and keeps running. */
const TAKES = `
  const { lockFolder } = await import(${JSON.stringify(new URL('../../../src/core/db/folder-lock.ts', import.meta.url).href)});
  setInterval(() => undefined, 1_000);
  console.log(await lockFolder(process.argv[1]).then(() => 'taken', (error) => (error.name === 'FolderInUseError' ? 'used' : String(error))));
`;

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
  await utimes(lockFile(), LONG_AGO, LONG_AGO);
  const unlock = await lockFolder(folder);
  expect(await readFile(lockFile(), 'utf8')).toBe(String(process.pid));
  await unlock();
});

test('a lock that its process has not written yet is waited for', async () => {
  await writeFile(lockFile(), '');
  const taking = expect(lockFolder(folder)).rejects.toThrow(`in use by process ${process.ppid}`);
  await writeFile(lockFile(), String(process.ppid));
  await taking;
});

test('of eight processes that find a left lock at once, one gets the folder, and the others learn that it is in use', async () => {
  for (const content of ['4194000', '']) {
    await writeFile(lockFile(), content);
    await utimes(lockFile(), LONG_AGO, LONG_AGO);
    const children = Array.from({ length: 8 }, () => spawn(process.execPath, ['--input-type=module', '-e', TAKES, folder]));
    const outcomes = await Promise.all(children.map((child) => once(child.stdout, 'data').then(([data]) => String(data).trim())));
    for (const child of children) child.kill();
    expect(outcomes.sort()).toEqual(['taken', ...Array(7).fill('used')].sort());
    await rm(lockFile());
  }
});
