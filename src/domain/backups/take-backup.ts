import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { App } from '../../core/app.ts';
import type { LongSession } from '../../core/db/long-work.ts';
import { secretKeys } from '../settings/catalogue/catalogue.ts';
import { FORMAT_VERSION } from './archive-format.ts';
import { backupFolder, newBackupName, withWorkFolder } from './folder.ts';
import { listLogFiles } from './log-files.ts';
import { type Snapshot, writeSnapshot } from './snapshot.ts';
import type { ArchivedFile, BackupOrigin, BackupScope, Metadata } from './types.ts';
import { writeArchive } from './write-archive.ts';

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
 * Writes a backup of everything into the folder of backups (spec 06 section 7): the tables as of one moment, then the contents of uploaded
 * files. Memory does not grow with the data.
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
