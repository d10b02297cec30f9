import { appendFile, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type ArchivedFile, writeTar } from '../../../core/log-files/tar-archive.ts';
import { archiveName, dayBefore, expiredArchives } from './rotation-rules.ts';

/** Folders with the files of a rotation that is under way, or was cut short, by its day. */
const STAGED = /^\.staged-(\d{4}-\d{2}-\d{2})$/;

export interface RotationOptions {
  current: string;
  archive: string;
  /** Local day of the rotation; the archive has the day before in its name. */
  day: string;
  keepDays: number;
  isCompressed: boolean;
  /** Time in which every process that writes here has opened the new files (`FileAppender`). */
  graceMs: number;
  /** Called between the steps. @throws when another process rotates these files now */
  keepLease: () => Promise<void>;
}

/**
 * Moves the log files into an archive. Processes that write to them are not stopped and lose no line: a file is moved, not emptied, and
 * what a process still appends to it before it opens the new one is archived, or afterwards copied to the new one. What a process that
 * crashed has moved is archived by the next rotation.
 * @returns paths of the new archives
 */
export async function rotateFiles(options: RotationOptions): Promise<string[]> {
  const { current, archive, day, keepDays, isCompressed } = options;
  await mkdir(archive, { recursive: true });
  for (const name of expiredArchives(await readdir(archive), day, keepDays)) await rm(join(archive, name), { force: true });
  await stage(current, join(archive, `.staged-${day}`));
  await wait(options.graceMs);
  const made: string[] = [];
  for (const name of (await readdir(archive)).sort()) {
    const stagedDay = STAGED.exec(name)?.[1];
    if (stagedDay === undefined) continue;
    await options.keepLease();
    const path = await pack(options, join(archive, name), dayBefore(stagedDay), isCompressed);
    if (path !== null) made.push(path);
  }
  return made;
}

async function stage(current: string, staged: string): Promise<void> {
  await mkdir(current, { recursive: true });
  await mkdir(staged, { recursive: true });
  const waiting = new Set(await readdir(staged));
  for (const entry of await readdir(current, { withFileTypes: true })) {
    const path = join(current, entry.name);
    // A file that a crashed rotation has moved stays; the present one is for the next rotation.
    if (!entry.isFile() || !entry.name.endsWith('.log') || waiting.has(entry.name)) continue;
    if ((await stat(path)).size === 0) continue;
    await rename(path, join(staged, entry.name));
    await (await open(path, 'a', 0o640)).close();
  }
}

async function pack(
  { current, archive, keepLease }: RotationOptions,
  staged: string,
  day: string,
  isCompressed: boolean,
): Promise<string | null> {
  const files: ArchivedFile[] = [];
  for (const name of (await readdir(staged)).sort()) {
    const path = join(staged, name);
    const { size, mtime } = await stat(path);
    files.push({ name, path, size, modifiedAt: mtime });
  }
  const name = archiveName(day, isCompressed, new Set(await readdir(archive)));
  if (files.length > 0) {
    const part = join(archive, `.${name}.part`);
    await writeTar(part, files, isCompressed);
    await keepLease();
    await rename(part, join(archive, name));
    for (const file of files) await copyLateLines(file, join(current, file.name));
  }
  await rm(staged, { recursive: true, force: true });
  return files.length > 0 ? join(archive, name) : null;
}

/** Lines of a process that stood still for longer than the grace time. */
async function copyLateLines({ path, size }: ArchivedFile, target: string): Promise<void> {
  const late = (await stat(path)).size - size;
  if (late <= 0) return;
  const file = await open(path, 'r');
  try {
    const bytes = Buffer.alloc(late);
    const { bytesRead } = await file.read(bytes, 0, late, size);
    await appendFile(target, bytes.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}
