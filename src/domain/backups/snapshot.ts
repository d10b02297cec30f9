import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { SqlRunner } from '../../core/db/db.ts';
import { linesQuery } from './row-format.ts';
import { listMigrations, listTables } from './schema-repo.ts';
import { isBackedUp, rowsOf } from './table-plan.ts';
import type { ArchiveSchema, BackupScope, ColumnShape, Table } from './types.ts';

/** Rows that are in memory at once; fewer where a row can be as large as a picture. */
const PAGE = 2_000;
const PAGE_OF_LARGE_ROWS = 20;

export interface LineSource {
  table: string;
  columns: readonly ColumnShape[];
  primaryKey: readonly string[];
  condition: string;
}

/** The rows of a table as lines of JSON, page by page, by its primary key. In a transaction. */
export async function* readLines(sql: SqlRunner, source: LineSource): AsyncGenerator<string[]> {
  const page = source.columns.some(({ type }) => type === 'bytea') ? PAGE_OF_LARGE_ROWS : PAGE;
  const query = linesQuery(source.table, source.columns, source.primaryKey, source.condition);
  await sql(`DECLARE backup_rows NO SCROLL CURSOR FOR ${query}`);
  for (;;) {
    const rows = await sql<{ line: string }>(`FETCH ${page} FROM backup_rows`);
    if (rows.length > 0) yield rows.map(({ line }) => line);
    if (rows.length < page) break;
  }
  await sql('CLOSE backup_rows');
}

export interface Contents {
  rows: number;
  /** Of the lines, each with its line break. */
  sha256: string;
  sizeBytes: number;
}

/** Counts and hashes the rows of a table as they would be in an archive. */
export async function digestRows(sql: SqlRunner, source: LineSource): Promise<Contents> {
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
  for (const { name, columns, primaryKey } of tables) {
    signal?.throwIfAborted();
    requireKey(name, primaryKey);
    const source = { table: name, columns, primaryKey, condition: rowsOf(name, scope, secretKeys) };
    const { blocks, contents } = countingLines(readLines(sql, source));
    await pipeline(Readable.from(blocks), createWriteStream(join(folder, `${name}.ndjson`), { mode: 0o600 }));
    const { rows, sizeBytes, sha256 } = contents();
    schema.tables[name] = { columns, primaryKey, rows, sha256 };
    sizes.set(name, sizeBytes);
  }
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
