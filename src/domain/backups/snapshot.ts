import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { SqlRunner } from '../../core/db/db.ts';
import { oneAhead } from './one-ahead.ts';
import { linesQuery, publicRelation, type RowSource } from './row-format.ts';
import { listMigrations, listTables } from './schema-repo.ts';
import { isBackedUp, rowsOf } from './table-plan.ts';
import type { ArchiveSchema, BackupScope, Table } from './types.ts';
import { hasJobQueue, WAITING_JOBS, waitingJobsSource } from './waiting-jobs.ts';

/** Rows that are in memory at once; fewer where a row can be as large as a picture. */
const PAGE = 2_000;
const PAGE_OF_LARGE_ROWS = 20;

/** Rows as lines of JSON, page by page, by their primary key. In a transaction. The database prepares a page while the one before is used. */
export async function* readLines(sql: SqlRunner, source: RowSource): AsyncGenerator<string[]> {
  const page = source.columns.some(({ type }) => type === 'bytea') ? PAGE_OF_LARGE_ROWS : PAGE;
  await sql(`DECLARE backup_rows NO SCROLL CURSOR FOR ${linesQuery(source)}`);
  const pages = async function* (): AsyncGenerator<string[]> {
    for (;;) {
      const rows = await sql<{ line: string }>(`FETCH ${page} FROM backup_rows`);
      if (rows.length > 0) yield rows.map(({ line }) => line);
      if (rows.length < page) return;
    }
  };
  yield* oneAhead(pages());
  await sql('CLOSE backup_rows');
}

export interface Contents {
  rows: number;
  /** Of the lines, each with its line break. */
  sha256: string;
  sizeBytes: number;
}

/** Counts and hashes the rows of a table as they would be in an archive. */
export async function digestRows(sql: SqlRunner, source: RowSource): Promise<Contents> {
  const counted = countingLines(readLines(sql, source));
  for await (const _block of counted.blocks);
  return counted.contents();
}

function countingLines(pages: AsyncIterable<string[]>): { blocks: AsyncIterable<Buffer>; contents: () => Contents } {
  const hash = createHash('sha256');
  let rows = 0;
  let sizeBytes = 0;
  const blocks = async function* (): AsyncGenerator<Buffer> {
    for await (const lines of pages) {
      const block = Buffer.from(`${lines.join('\n')}\n`);
      hash.update(block);
      rows += lines.length;
      sizeBytes += block.length;
      yield block;
    }
  };
  return { blocks: blocks(), contents: () => ({ rows, sizeBytes, sha256: hash.digest('hex') }) };
}

export interface SnapshotOptions {
  /** Folder for one file a table, `<table>.ndjson`. */
  folder: string;
  scope: BackupScope;
  secretKeys: readonly string[];
  signal?: AbortSignal;
}

export interface Snapshot {
  schema: ArchiveSchema;
  /** Size of the file of each table, in bytes. */
  sizes: ReadonlyMap<string, number>;
  /** Keys of the contents of uploaded files, as the rows name them. */
  mediaKeys: string[];
}

/**
 * Writes every table that a backup has into a file. The caller's transaction is a snapshot, so that all of them show one moment. Files
 * and not the archive itself, because the head of the archive has their sizes and checksums, and so that the transaction is as short as can be.
 */
export async function writeSnapshot(sql: SqlRunner, { folder, scope, secretKeys, signal }: SnapshotOptions): Promise<Snapshot> {
  await sql("SET LOCAL timezone TO 'UTC'");
  await sql('SET LOCAL extra_float_digits TO 1');
  await sql("SET LOCAL datestyle TO 'ISO, YMD'");
  const tables = (await listTables(sql)).filter(({ name }) => isBackedUp(name, scope));
  const schema: ArchiveSchema = { migrations: await listMigrations(sql), tables: {} };
  const sizes = new Map<string, number>();
  const write = async (name: string, source: RowSource): Promise<void> => {
    signal?.throwIfAborted();
    const { blocks, contents } = countingLines(readLines(sql, source));
    await pipeline(Readable.from(blocks), createWriteStream(join(folder, `${name}.ndjson`), { mode: 0o600 }));
    const { rows, sizeBytes, sha256 } = contents();
    const { columns, primaryKey } = source;
    schema.tables[name] = { columns: [...columns], primaryKey: [...primaryKey], rows, sha256 };
    sizes.set(name, sizeBytes);
  };
  for (const { name, columns, primaryKey } of tables) {
    requireKey(name, primaryKey);
    await write(name, { relation: publicRelation(name), columns, primaryKey, condition: rowsOf(name, scope, secretKeys) });
  }
  if (await hasJobQueue(sql)) await write(WAITING_JOBS, waitingJobsSource);
  return { schema, sizes, mediaKeys: scope.media ? await listMediaKeys(sql) : [] };
}

function requireKey(table: string, primaryKey: Table['primaryKey']): void {
  if (primaryKey.length === 0) throw new Error(`the table ${table} has no primary key, so its rows have no order in a backup`);
}

async function listMediaKeys(sql: SqlRunner): Promise<string[]> {
  const rows = await sql<{ key: string }>(
    'SELECT DISTINCT storage_key AS key FROM media_files WHERE storage_key IS NOT NULL ORDER BY 1',
  );
  return rows.map(({ key }) => key);
}
