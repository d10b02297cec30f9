import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { copyFile, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip, type ZlibOptions } from 'node:zlib';
import type { App } from '../../core/app.ts';
import type { LongSession } from '../../core/db/database.ts';
import { tarEnd, tarHeader, tarPadding } from '../../core/tar-format.ts';
import { secretKeys } from '../settings/catalogue/catalogue.ts';
import {
  FORMAT_VERSION,
  HEAD_SUM_MEMBER,
  headSum,
  MAX_FILE_BYTES,
  METADATA_MEMBER,
  SCHEMA_MEMBER,
  tableMember,
  writeMetadata,
  writeSchema,
} from './archive-format.ts';
import { backupFolder, newBackupName, withWorkFolder } from './backup-folder.ts';
import { encrypted } from './encryption.ts';
import { MAX_RATIO } from './read-archive.ts';
import { type Snapshot, writeSnapshot } from './snapshot.ts';
import type { ArchivedFile, BackupOrigin, BackupScope, Metadata } from './types.ts';

export interface TakenBackup {
  name: string;
  path: string;
  sizeBytes: number;
  metadata: Metadata;
}

export interface BackupRequest {
  origin: BackupOrigin;
  /** Id of an API token. */
  createdBy: number | null;
}

/** What backups of this installation contain. */
function scopeOf({ env, settings }: App): BackupScope {
  return { ...env.backups.scope, logs: settings.get('BACKUP_INCLUDE_LOGS') };
}

/**
 * Writes a backup of everything into the folder of backups (spec 06 section 7): the tables as of one point in time, then the contents of
 * uploaded files. Memory does not grow with the data.
 * @param session of `LongWork.alone`, so that one is written at a time
 */
export async function takeBackup(
  app: App,
  session: LongSession,
  request: BackupRequest,
  signal?: AbortSignal,
): Promise<TakenBackup> {
  const scope = scopeOf(app);
  const password = app.settings.get('BACKUP_ARCHIVE_PASSWORD');
  const isCompressed = app.settings.get('BACKUP_COMPRESSION');
  return withWorkFolder(app, async (folder) => {
    const options = { folder, scope, secretKeys, ...(signal ? { signal } : {}) };
    const timestamp = app.clock.now();
    const snapshot = await session.snapshot((sql) => writeSnapshot(sql, options));
    const logs = scope.logs ? await listLogFiles(app, folder) : new Map<string, string>();
    const files = [...(await describeMedia(app, snapshot.mediaKeys, signal)), ...(await describeFiles(logs))];
    const metadata = metadataOf(app, { ...request, timestamp, snapshot, files, isCompressed, scope });
    const name = newBackupName(app, isCompressed);
    await mkdir(backupFolder(app), { recursive: true, mode: 0o700 });
    const path = join(backupFolder(app), name);
    const contentOf = (file: ArchivedFile) => {
      const logPath = logs.get(file.name);
      return logPath === undefined ? mediaContent(app, file) : (createReadStream(logPath) as AsyncIterable<Buffer>);
    };
    const sizeBytes = await writeArchive(path, {
      metadata,
      snapshot,
      folder,
      contentOf,
      password,
      ...(signal ? { signal } : {}),
    });
    return { name, path, sizeBytes, metadata };
  });
}

interface Facts extends BackupRequest {
  timestamp: Date;
  snapshot: Snapshot;
  files: ArchivedFile[];
  isCompressed: boolean;
  scope: BackupScope;
}

function metadataOf(app: App, { snapshot, timestamp, files, isCompressed, scope, origin, createdBy }: Facts): Metadata {
  const tables = Object.values(snapshot.schema.tables);
  return {
    formatVersion: FORMAT_VERSION,
    timestamp,
    appVersion: app.ports.instance.version(),
    databaseType: 'postgresql',
    backupType: 'full',
    tablesCount: tables.length,
    totalRecords: tables.reduce((sum, { rows }) => sum + rows, 0),
    compressed: isCompressed,
    createdBy,
    origin,
    includes: scope,
    files,
  };
}

const MEDIA = 'media/';

/** Reads every content once for its size and checksum, which stand before the contents in the archive; a key has one content for ever. */
async function describeMedia(app: App, keys: readonly string[], signal: AbortSignal | undefined): Promise<ArchivedFile[]> {
  const files: ArchivedFile[] = [];
  const missing: string[] = [];
  for (const key of keys) {
    signal?.throwIfAborted();
    const content = await app.ports.mediaStore.get(key);
    if (content) files.push({ name: MEDIA + key, sizeBytes: content.length, sha256: sha256Of(content) });
    else missing.push(key);
  }
  if (missing.length > 0)
    app.log.warn({ files: missing.length }, 'uploaded files have no content in the storage, so the backup has none either');
  return files;
}

async function* mediaContent(app: App, { name, sha256 }: ArchivedFile): AsyncGenerator<Buffer> {
  const content = await app.ports.mediaStore.get(name.slice(MEDIA.length));
  if (content === null || sha256Of(content) !== sha256)
    throw new Error('an uploaded file was changed or deleted during the backup');
  yield content;
}

const sha256Of = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

async function describeFiles(paths: ReadonlyMap<string, string>): Promise<ArchivedFile[]> {
  const files: ArchivedFile[] = [];
  for (const [name, path] of paths) {
    const hash = createHash('sha256');
    let sizeBytes = 0;
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      sizeBytes += chunk.length;
    }
    files.push({ name, sizeBytes, sha256: hash.digest('hex') });
  }
  return files;
}

/** The key of a content by its name in an archive; null for a file that is no upload. */
export const mediaKeyOf = ({ name }: ArchivedFile): string | null => (name.startsWith(MEDIA) ? name.slice(MEDIA.length) : null);

interface ArchiveParts {
  metadata: Metadata;
  snapshot: Snapshot;
  /** Where the snapshot's files are. */
  folder: string;
  /** The content of a file that is no table. @throws Error when it is no longer there */
  contentOf: (file: ArchivedFile) => AsyncIterable<Buffer>;
  password: string | null;
  signal?: AbortSignal;
}

/** Ways to pack, the next one for contents of which the one before made less than a reader accepts (`MAX_RATIO`). */
const PACKINGS: readonly ZlibOptions[] = [{ level: 6 }, { level: 1 }, { strategy: constants.Z_HUFFMAN_ONLY }];

/**
 * Writes an archive: into `<path>.part`, to the disk, then renamed, so that under its name it is complete or absent.
 * @returns its size in bytes
 */
async function writeArchive(path: string, parts: ArchiveParts): Promise<number> {
  const part = `${path}.part`;
  try {
    let sizes = { packed: 0, plain: 0 };
    for (const packing of parts.metadata.compressed ? PACKINGS : [null]) {
      sizes = await writePart(part, parts, packing);
      if (sizes.plain <= sizes.packed * MAX_RATIO) break;
    }
    await sync(part);
    await rename(part, path);
    await sync(dirname(path));
    return sizes.packed;
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

async function writePart(
  part: string,
  parts: ArchiveParts,
  packing: ZlibOptions | null,
): Promise<{ packed: number; plain: number }> {
  const sizes = { packed: 0, plain: 0 };
  const counted = async function* (source: AsyncIterable<Buffer>, kind: 'packed' | 'plain'): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      sizes[kind] += chunk.length;
      yield chunk;
    }
  };
  const { password, signal } = parts;
  const options = signal ? { signal } : {};
  const plain = Readable.from(counted(members(parts), 'plain'));
  const target = createWriteStream(part, { mode: 0o600 });
  const seal = (source: AsyncIterable<Buffer>) => counted(password === null ? source : encrypted(source, password), 'packed');
  if (packing === null) await pipeline(plain, seal, target, options);
  else await pipeline(plain, createGzip({ ...packing, chunkSize: 65_536 }), seal, target, options);
  return sizes;
}

async function* members({ metadata, snapshot, folder, contentOf }: ArchiveParts): AsyncGenerator<Buffer> {
  const { timestamp } = metadata;
  const text = function* (name: string, given: string): Generator<Buffer> {
    const content = Buffer.from(given);
    yield tarHeader(name, content.length, timestamp);
    yield content;
    yield tarPadding(content.length);
  };
  const head = [writeMetadata(metadata), writeSchema(snapshot.schema)] as const;
  yield* text(METADATA_MEMBER, head[0]);
  yield* text(SCHEMA_MEMBER, head[1]);
  for (const [table, size] of snapshot.sizes) {
    yield tarHeader(tableMember(table), size, timestamp);
    yield* createReadStream(join(folder, `${table}.ndjson`), { highWaterMark: 256 * 1024 }) as AsyncIterable<Buffer>;
    yield tarPadding(size);
  }
  for (const file of metadata.files) {
    yield tarHeader(file.name, file.sizeBytes, timestamp);
    yield* contentOf(file);
    yield tarPadding(file.sizeBytes);
  }
  yield* text(HEAD_SUM_MEMBER, headSum(...head));
  yield tarEnd();
}

/** Windows cannot do this with a folder. */
async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r+').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EISDIR') return process.platform === 'win32' ? null : open(path, 'r');
    throw error;
  });
  try {
    await handle?.sync();
  } finally {
    await handle?.close();
  }
}

const NAME = /^[A-Za-z0-9][\w.-]{0,90}\.log$/;

/**
 * Copies the log files into the folder, so that they do not grow while they are archived.
 * @returns path of the copy by name in the archive
 */
async function listLogFiles({ settings, log }: Pick<App, 'settings' | 'log'>, folder: string): Promise<Map<string, string>> {
  const source = dirname(settings.get('LOG_FILE'));
  const copies = new Map<string, string>();
  try {
    for (const entry of await readdir(source, { withFileTypes: true })) {
      if (!entry.isFile() || !NAME.test(entry.name)) continue;
      const path = join(source, entry.name);
      if ((await stat(path)).size > MAX_FILE_BYTES) continue;
      const copy = join(folder, `log-${entry.name}`);
      await copyFile(path, copy);
      copies.set(`files/${entry.name}`, copy);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') log.warn({ err: error }, 'log files could not be backed up');
  }
  return copies;
}
