import { lstat, mkdir, open as openFile, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { App } from '../../core/app.ts';
import { refusal } from '../../core/errors.ts';
import type { ByteRange, RangedContent } from '../../core/http/http-client.ts';
import type { Logger } from '../../core/log.ts';
import { hexToken } from '../../core/random.ts';
import { DEFAULT_BACKUP_LOCATION, isBackupLocation } from '../settings/backup-location.ts';
import { readMetadata, writeMetadata } from './archive-format.ts';
import { readHead } from './read-archive.ts';
import { ArchiveRefused, type Metadata } from './types.ts';

const NAME = /^backup_[A-Za-z0-9._-]{1,193}$/;
const ARCHIVE = /\.tar(?:\.gz)?$/;
const METADATA_FOLDER = '.metadata';
const UNFINISHED = /^\.work-|\.part$/;

/** The folder of backups. A location that was stored without the check of a write, outside of the permitted folders, has no effect. */
export function backupFolder(source: Pick<App, 'env' | 'settings'>): string {
  const location = source.settings.get('BACKUP_LOCATION');
  const isDefault = location === DEFAULT_BACKUP_LOCATION || !isBackupLocation(source, location);
  return isDefault ? join(source.env.dataDir, 'backups') : location;
}

/** `backup_{YYYYMMDD_HHMMSS}_{6 hex}`, so that a later one has a later name and two of one second have two names. */
export function newBackupName({ clock, random }: Pick<App, 'clock' | 'random'>, isCompressed: boolean): string {
  const digits = clock.now().toISOString().replace(/[-:]/g, '');
  return `backup_${digits.slice(0, 8)}_${digits.slice(9, 15)}_${hexToken(random, 3)}.tar${isCompressed ? '.gz' : ''}`;
}

const backupFileNotFound = refusal('backup_not_found', 404, 'Backup file not found');

/**
 * The path of a backup by its name. Every name that a backup cannot have gets the answer of an unknown one, and links are not followed
 * (spec 06 section 17, hazard 3).
 * @throws AppError 404
 */
export async function findBackup(app: App, name: string, notFound: () => Error = backupFileNotFound): Promise<string> {
  if (!NAME.test(name) || !ARCHIVE.test(name) || basename(name) !== name) throw notFound();
  const path = join(backupFolder(app), name);
  const found = await statPlain(path);
  if (!found) throw notFound();
  return path;
}

/** Null for what is missing, a folder or a link. */
async function statPlain(path: string): Promise<{ size: number; modifiedAt: Date } | null> {
  try {
    const found = await lstat(path);
    return found.isFile() ? { size: found.size, modifiedAt: found.mtime } : null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

export interface BackupFile {
  name: string;
  sizeBytes: number;
  modifiedAt: Date;
  /** Null when `error` says why it cannot be read. */
  metadata: Metadata | null;
  error: string | null;
}

/** Names of backups, the newest first. */
export async function listBackupNames(app: Pick<App, 'env' | 'settings'>): Promise<string[]> {
  try {
    const entries = await readdir(backupFolder(app), { withFileTypes: true });
    const names = entries.filter((entry) => entry.isFile() && NAME.test(entry.name) && ARCHIVE.test(entry.name));
    return names.map(({ name }) => name).sort((one, other) => (one < other ? 1 : -1));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Null when it was deleted in the meantime. */
export async function readBackupFile(app: App, name: string): Promise<BackupFile | null> {
  const path = join(backupFolder(app), name);
  const found = await statPlain(path);
  if (!found) return null;
  const facts = { name, sizeBytes: found.size, modifiedAt: found.modifiedAt };
  try {
    return { ...facts, metadata: await metadataOf(app, path, found), error: null };
  } catch (error) {
    // Any failure: of reading a file; the list shows the file as unreadable.
    if (!(error instanceof ArchiveRefused)) app.log.warn({ err: error }, 'a backup could not be read');
    return { ...facts, metadata: null, error: error instanceof ArchiveRefused ? error.message : 'The file cannot be read' };
  }
}

/** From the copy beside the archive, if it was made for this very file; else from the archive. */
async function metadataOf(app: App, path: string, { size, modifiedAt }: { size: number; modifiedAt: Date }): Promise<Metadata> {
  const copy = copyOf(path);
  const stamp = `${size} ${modifiedAt.getTime()}`;
  const stored = await readFile(copy, 'utf8').catch(() => '');
  const lineEnd = stored.indexOf('\n');
  if (lineEnd > 0 && stored.slice(0, lineEnd) === stamp) {
    try {
      return readMetadata(stored.slice(lineEnd + 1));
    } catch (error) {
      app.log.debug({ err: error }, 'the copied metadata of a backup are read again from the archive');
    }
  }
  const metadata = await readHead(path, { password: app.settings.get('BACKUP_ARCHIVE_PASSWORD') });
  await storeCopy(copy, `${stamp}\n${writeMetadata({ ...metadata, files: [] })}`).catch((error: unknown) =>
    app.log.debug({ err: error }, 'metadata of a backup could not be copied beside it'),
  );
  return metadata;
}

const copyOf = (path: string): string => join(path, '..', METADATA_FOLDER, `${basename(path)}.json`);

async function storeCopy(copy: string, text: string): Promise<void> {
  await mkdir(join(copy, '..'), { recursive: true, mode: 0o700 });
  await writeFile(`${copy}.${process.pid}`, text, { mode: 0o600 });
  await rename(`${copy}.${process.pid}`, copy);
}

export async function removeBackup(path: string): Promise<void> {
  await rm(path, { force: true });
  await rm(copyOf(path), { force: true });
}

/**
 * A folder for unfinished files beside the backups, on the same disk; deleted when `work` ends. What dead processes left is deleted too.
 */
export async function withWorkFolder<T>(app: App, work: (folder: string) => Promise<T>): Promise<T> {
  const parent = backupFolder(app);
  await mkdir(parent, { recursive: true, mode: 0o700 });
  await removeAbandoned(app.log, parent, UNFINISHED);
  const folder = join(parent, `.work-${hexToken(app.random, 8)}`);
  await mkdir(folder, { mode: 0o700 });
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export const backupNotFound = refusal('backup_not_found', 404, 'Backup file not found: backup.tar.gz');

/** A page of the backups in the folder, the newest first. Only those of the page are looked into. */
export async function listBackups(
  app: App,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ items: BackupFile[]; total: number }> {
  const names = await listBackupNames(app);
  const items: BackupFile[] = [];
  for (const name of names.slice(offset, offset + limit)) {
    const file = await readBackupFile(app, name);
    if (file) items.push(file);
  }
  return { items, total: names.length };
}

/** The content of a backup; only what is sent is read. @throws AppError 404 */
export async function downloadBackup(app: App, name: string): Promise<{ name: string; content: RangedContent }> {
  const path = await findBackup(app, name);
  const { size } = await stat(path);
  const open = async (range: ByteRange | null) => {
    // Opened here, so that a file that was deleted meanwhile is 404. Exactly the announced length, should it grow or be replaced.
    const file = await openFile(path, 'r').catch(async (error: unknown) => {
      await findBackup(app, name);
      throw error;
    });
    const { first: start, last: end } = range ?? { first: 0, last: size - 1 };
    return file.createReadStream({ highWaterMark: 256 * 1024, start, ...(size > 0 ? { end } : {}) });
  };
  return { name, content: { size, open } };
}

/** @throws AppError 404 with the name */
export async function deleteBackup(app: App, name: string): Promise<void> {
  const shown = /^[\w.-]{1,200}$/.test(name) ? name : '';
  const path = await findBackup(app, name, () => backupNotFound({ detail: `Backup file not found: ${shown}` }));
  await removeBackup(path);
}

/** What is older belongs to a process that has died: no backup, restore or drill takes so long. It can have the data of all users. */
export const ABANDONED_S = 24 * 3600;

/** Deletes the abandoned files and folders of `parent` with such names. What cannot be deleted is logged and stays. */
export async function removeAbandoned(log: Pick<Logger, 'warn'>, parent: string, names: RegExp): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!names.test(name)) continue;
    const path = join(parent, name);
    const found = await stat(path).catch(() => null);
    if (found === null || Date.now() - found.mtimeMs < ABANDONED_S * 1000) continue;
    await rm(path, { recursive: true, force: true }).catch((error: unknown) =>
      log.warn({ err: error, path }, 'what an earlier backup or drill left could not be deleted'),
    );
  }
}
