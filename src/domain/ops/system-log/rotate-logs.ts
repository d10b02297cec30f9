import { randomUUID } from 'node:crypto';
import { appendFile, link, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { App } from '../../../core/app.ts';
import { addDays, SECOND_MS } from '../../../core/clock.ts';
import { type ArchivedFile, writeTar } from '../../../core/log-files/tar-archive.ts';
import { claimStateLease, readState, releaseStateLease, writeState } from '../../../core/service-state.ts';
import { localText } from '../../../core/time-zone.ts';
import { htmlText } from '../../messaging/texts.ts';
import { rotationFolders } from './read-system-log.ts';

/** Longest time of one step of a rotation; after it the process counts as dead and another one continues. */
const LEASE_MS = 600 * SECOND_MS;
/** More than the second after which an appender opens the new file, and than its wait before a write. */
const GRACE_MS = 3 * SECOND_MS;
/** Largest file that the messenger accepts, with room for the request around it. */
const MAX_SENT_BYTES = 49 * 1024 * 1024;

/**
 * Rotates the log files of this process's folder when `LOG_ROTATION_TIME` has passed since the last time (spec 06 section 14). Instances
 * with a folder of their own rotate it themselves; of those that share a folder one does, by a lease in the database under the id that the
 * folder contains. What was due while no process ran is done after the start.
 * @returns paths of the new archives; null = not due, or another process does it
 */
export async function rotateWhenDue(app: App, graceMs = GRACE_MS): Promise<string[] | null> {
  const { settings } = app;
  if (!settings.get('LOG_ROTATION_ENABLED')) return null;
  const day = lastDueDay(app.clock.now(), settings.get('TIMEZONE'), settings.get('LOG_ROTATION_TIME'));
  const { current, archive } = rotationFolders(app);
  const folder = await folderId(archive);
  const [stateKey, leaseKey] = [`log_rotation:${folder}`, `log_rotation_lease:${folder}`];
  if (!(await isDue(app, stateKey, day))) return null;
  // The holder of the lease: this call.
  const instance = randomUUID();
  const keepLease = async () => {
    if (!(await claimStateLease(app.db, leaseKey, { instance }, LEASE_MS))) throw new Error('another process rotates these logs');
  };
  if (!(await claimStateLease(app.db, leaseKey, { instance }, LEASE_MS))) return null;
  try {
    // It may have ended between the look and the lease.
    if (!(await isDue(app, stateKey, day))) return null;
    const [keepDays, isCompressed] = [settings.get('LOG_ROTATION_KEEP_DAYS'), settings.get('LOG_ROTATION_COMPRESS')];
    const made = await rotateFiles({ current, archive, day, keepDays, isCompressed, graceMs, keepLease });
    await writeState(app.db, stateKey, { day });
    app.log.info({ archives: made.map((path) => basename(path)) }, 'the log files were rotated');
    for (const path of made) await sendArchive(app, path);
    return made;
  } finally {
    await releaseStateLease(app.db, leaseKey, instance);
  }
}

/** The first look at a folder only records the day. */
async function isDue(app: App, key: string, day: string): Promise<boolean> {
  const last = await readState<{ day: string }>(app.db, key);
  if (last === null) await writeState(app.db, key, { day });
  return last !== null && last.day < day;
}

/** The id that all processes with this folder read; the first one creates it. */
async function folderId(archive: string): Promise<string> {
  const path = join(archive, '.folder-id');
  await mkdir(archive, { recursive: true });
  const known = await readFile(path, 'utf8').catch(() => null);
  if (known !== null) return known;
  const draft = `${path}-${randomUUID()}`;
  await writeFile(draft, randomUUID(), { mode: 0o640 });
  // Fails where another process was first; a reader never meets an empty file.
  await link(draft, path).catch(() => undefined);
  await rm(draft, { force: true });
  return readFile(path, 'utf8');
}

/** Sends an archive to the chat of the settings. It is on disk in any case, so that a failure is only logged. */
async function sendArchive(app: App, path: string): Promise<void> {
  const { settings, ports } = app;
  const chat = (settings.get('LOG_ROTATION_CHAT_ID') || settings.get('BACKUP_SEND_CHAT_ID') || '').trim();
  if (!settings.get('LOG_ROTATION_SEND_TO_MESSENGER') || !ports.messenger.isConfigured() || !/^-?[1-9]\d{0,15}$/.test(chat))
    return;
  const threadId = settings.get('LOG_ROTATION_TOPIC_ID');
  const options = threadId ? { threadId } : {};
  const name = basename(path);
  try {
    const { size } = await stat(path);
    const html = htmlText(
      settings.get('DEFAULT_LANGUAGE'),
      size > MAX_SENT_BYTES ? 'messages.log_archive_too_large' : 'messages.log_archive',
      {
        name,
        megabytes: Math.ceil(size / 1024 / 1024),
      },
    );
    if (size > MAX_SENT_BYTES) await ports.messenger.sendMessage(Number(chat), html, options);
    else {
      const contentType = name.endsWith('.gz') ? 'application/gzip' : 'application/x-tar';
      const file = { name, contentType, bytes: await readFile(path) };
      await ports.messenger.sendFile(Number(chat), 'document', file, html, options);
    }
  } catch (error) {
    app.log.warn({ err: error, archive: name }, 'an archive of logs could not be sent to the chat');
  }
}

/** Folders with the files of a rotation that is under way, or was cut short, by its day. */
const STAGED = /^\.staged-(\d{4}-\d{2}-\d{2})$/;

interface RotationOptions {
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
async function rotateFiles(options: RotationOptions): Promise<string[]> {
  const { current, archive, day, keepDays, isCompressed } = options;
  await mkdir(archive, { recursive: true });
  for (const name of expiredArchives(await readdir(archive), day, keepDays)) await rm(join(archive, name), { force: true });
  await moveToStaging(current, join(archive, `.staged-${day}`));
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

async function moveToStaging(current: string, staged: string): Promise<void> {
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

// Pure rules of the log rotation. Days are dates of the local zone, `YYYY-MM-DD`.

/** The day of the last rotation that is due. @param time `HH:MM` of the zone */
export function lastDueDay(now: Date, timeZone: string, time: string): string {
  const local = localText(now, timeZone);
  const [day, clock] = [local.slice(0, 10), local.slice(11, 16)];
  return clock >= time ? day : dayBefore(day);
}

function dayBefore(day: string, days = 1): string {
  return addDays(new Date(`${day}T00:00:00Z`), -days)
    .toISOString()
    .slice(0, 10);
}

const ARCHIVE_NAME = /^logs_(\d{4}-\d{2}-\d{2})(?:_\d+)?\.tar(?:\.gz)?$/;

/** `logs_{day}.tar.gz`, with a number where the day has one already. */
function archiveName(day: string, isCompressed: boolean, taken: ReadonlySet<string>): string {
  const ending = isCompressed ? '.tar.gz' : '.tar';
  for (let number = 1; ; number++) {
    const name = `logs_${day}${number === 1 ? '' : `_${number}`}${ending}`;
    if (!taken.has(name)) return name;
  }
}

/** Archives of days before the last `keepDays` days, the day of the rotation not counted. Other files are never named. */
export function expiredArchives(names: readonly string[], rotationDay: string, keepDays: number): string[] {
  const first = dayBefore(rotationDay, keepDays);
  return names.filter((name) => {
    const day = ARCHIVE_NAME.exec(name)?.[1];
    return day !== undefined && day < first;
  });
}

const LOOK_MS = 30 * SECOND_MS;

/**
 * Looks regularly whether a rotation of the log files is due. No job of the queue: jobs run on any instance, but the files are on the disk
 * of this one. @returns a function that stops it, and resolves when a rotation under way has ended
 */
export function startLogRotation(app: App): () => Promise<void> {
  let running: Promise<unknown> = Promise.resolve();
  let isRunning = false;
  const look = () => {
    if (isRunning) return;
    isRunning = true;
    running = rotateWhenDue(app)
      // Any failure: there is no caller; the next look repeats it.
      .catch((error: unknown) => app.log.warn({ err: error }, 'the log files could not be rotated'))
      .finally(() => {
        isRunning = false;
      });
  };
  const timer = setInterval(look, LOOK_MS).unref();
  look();
  return async () => {
    clearInterval(timer);
    await running;
  };
}
