import { type FileHandle, open } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import type { App } from '../../../core/app.ts';
import { refusal } from '../../../core/errors.ts';
import type { LogFiles } from '../../../core/log-files/log-files.ts';
import { countCharactersOf, countCodePoints, readStart, readTail, textOf } from '../../../core/log-files/read-text.ts';
import { text } from '../../messaging/texts.ts';
import { storeOf } from '../../settings/settings-store.ts';

export const logTooLarge = refusal('log_too_large', 413, 'Log file is too large, use /logs/system/download');

const MIB = 1024 * 1024;
/** Of a larger file the characters are not counted: `sizeChars` is the number of bytes then. */
const MAX_COUNTED_BYTES = 20 * MIB;
/** Largest file that is answered as JSON. */
const MAX_FULL_BYTES = 10 * MIB;

export interface SystemLogFacts {
  /** Relative to `LOG_ROOT`. */
  path: string;
  exists: boolean;
  updatedAt: Date | null;
  sizeBytes: number;
  sizeChars: number;
}

/** The log file in its state when it was opened; what is appended later is not read. */
interface OpenLog {
  name: string;
  file: FileHandle;
  size: number;
  updatedAt: Date;
}

/**
 * The last characters of the system log; one that does not exist yet is empty (spec 06 section 8).
 * @param limit characters @throws AppError 500 when the file cannot be read
 */
export async function previewSystemLog(app: App, language: string | null, limit: number) {
  const found = await withLog(app, language, async ({ name, file, size, updatedAt }) => {
    const preview = await readTail(file, size, limit);
    const previewChars = countCodePoints(preview);
    const sizeChars = size > MAX_COUNTED_BYTES ? size : await countCharactersOf(file, size);
    const facts = { path: name, exists: true, updatedAt, sizeBytes: size, sizeChars };
    return { ...facts, preview, previewChars, previewTruncated: sizeChars > previewChars };
  });
  if (found !== null) return found;
  const facts = { path: systemLogPath(app).name, exists: false, updatedAt: null, sizeBytes: 0, sizeChars: 0 };
  return { ...facts, preview: '', previewChars: 0, previewTruncated: false };
}

/** So that callers at the same time need the memory of one file. */
let lastFull: Promise<unknown> = Promise.resolve();

/** The whole system log. @throws AppError 404, 413 above 10 MiB, 500 when it cannot be read */
export function readSystemLog(app: App, language: string | null): Promise<SystemLogFacts & { content: string }> {
  const read = async () => {
    const found = await withLog(app, language, async ({ name, file, size, updatedAt }) => {
      if (size > MAX_FULL_BYTES) throw logTooLarge();
      const content = textOf(await readStart(file, size));
      return { path: name, exists: true, updatedAt, sizeBytes: size, sizeChars: countCodePoints(content), content };
    });
    if (found === null) throw logNotFound(app, language);
    return found;
  };
  const result = lastFull.then(read);
  lastFull = result.catch(() => undefined);
  return result;
}

/** The system log as a stream of exactly its present length. @throws AppError 404, 500 when it cannot be opened */
export async function downloadSystemLog(app: App, language: string | null) {
  const log = await openLog(app, language);
  if (log === null) throw logNotFound(app, language);
  const { name, file, size } = log;
  if (size === 0) await file.close();
  const body = size === 0 ? Readable.from([]) : file.createReadStream({ start: 0, end: size - 1 });
  return { filename: basename(name), contentLength: size, body };
}

/** @returns null when there is no file */
async function withLog<T>(app: App, language: string | null, work: (log: OpenLog) => Promise<T>): Promise<T | null> {
  const log = await openLog(app, language);
  if (log === null) return null;
  try {
    return await work(log);
  } catch (error) {
    throw isSystemError(error) ? unreadable(app, language, error) : error;
  } finally {
    await log.file.close();
  }
}

async function openLog(app: App, language: string | null): Promise<OpenLog | null> {
  const { name, absolute } = systemLogPath(app);
  let file: FileHandle | null = null;
  try {
    file = await open(absolute, 'r');
    const found = await file.stat();
    if (!found.isFile()) throw new Error('the log is no regular file');
    return { name, file, size: found.size, updatedAt: found.mtime };
  } catch (error) {
    await file?.close();
    if (isSystemError(error) && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return null;
    throw unreadable(app, language, error);
  }
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error && 'syscall' in error;
}

const languageOf = (app: App, language: string | null) => language ?? app.settings.get('DEFAULT_LANGUAGE');

export const logNotFound = refusal('log_not_found', 404, 'The log file was not found', (app: App, language: string | null) => ({
  detail: text(languageOf(app, language), 'errors.log_not_found'),
}));

const unreadable = refusal(
  'log_unreadable',
  500,
  'The log file could not be read',
  (app: App, language: string | null, cause: unknown) => ({
    detail: text(languageOf(app, language), 'errors.log_unreadable'),
    cause,
  }),
);

/** A file below `LOG_ROOT`. */
interface LogPath {
  /** As the settings name it: relative to `LOG_ROOT`. */
  name: string;
  absolute: string;
}

/** Folders of the rotation, below `LOG_DIR`. */
const CURRENT = 'current';
const ARCHIVE = 'archive';

/** The settings that decide where logs are; their formats exclude every path out of `LOG_ROOT`. */
const PATH_SETTINGS = [
  ...(['LOG_FILE', 'LOG_DIR', 'LOG_INFO_FILE', 'LOG_WARNING_FILE', 'LOG_ERROR_FILE', 'LOG_PAYMENTS_FILE'] as const),
  ...(['LOG_ROTATION_ENABLED', 'TIMEZONE'] as const),
];

/** The file with every record: `LOG_FILE`, or with rotation a file of that name in `LOG_DIR/current`. */
function systemLogPath(app: Pick<App, 'settings' | 'env'>): LogPath {
  const { settings } = app;
  const file = settings.get('LOG_FILE');
  const name = settings.get('LOG_ROTATION_ENABLED') ? `${settings.get('LOG_DIR')}/${CURRENT}/${basename(file)}` : file;
  return { name, absolute: inRoot(app, name) };
}

/** Folders of the rotation, absolute. */
export function rotationFolders(app: Pick<App, 'settings' | 'env'>): { current: string; archive: string } {
  const folder = inRoot(app, app.settings.get('LOG_DIR'));
  return { current: join(folder, CURRENT), archive: join(folder, ARCHIVE) };
}

function inRoot({ env }: Pick<App, 'env'>, name: string): string {
  return resolve(env.logRoot, name);
}

/** Writes the log files where the settings say, from now on and after each change of them. @returns a function that ends it */
export function followLogSettings(app: App, files: LogFiles): () => void {
  const { settings } = app;
  files.onProblem = ({ err, file, dropped }) => app.log.warn({ err, file, dropped }, 'a log file could not be written');
  const configure = () => {
    const partPath = (name: string) => join(rotationFolders(app).current, name);
    files.configure({
      main: systemLogPath(app).absolute,
      parts: settings.get('LOG_ROTATION_ENABLED')
        ? {
            info: partPath(settings.get('LOG_INFO_FILE')),
            warning: partPath(settings.get('LOG_WARNING_FILE')),
            error: partPath(settings.get('LOG_ERROR_FILE')),
            payments: partPath(settings.get('LOG_PAYMENTS_FILE')),
          }
        : null,
      timeZone: settings.get('TIMEZONE'),
    });
  };
  configure();
  return storeOf(app).onChange(PATH_SETTINGS, configure);
}
