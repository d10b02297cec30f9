import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { SqlRunner } from '../../core/db/db.ts';
import { listMigrations, listTables } from './repo.ts';
import { linesQuery, publicRelation, type RowSource } from './row-format.ts';
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
 * Writes every table that a backup has into a file. The caller's transaction is a snapshot, so that all of them show one point in time.
 * Files and not the archive itself, because the head of the archive has their sizes and checksums, and so that the transaction is as short
 * as can be.
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

/**
 * Reads one item further than the caller, so that the next one is prepared while the caller works on this one. When the caller stops early, the
 * source is closed after the item that is being prepared.
 */
export async function* oneAhead<Item>(source: AsyncGenerator<Item>): AsyncGenerator<Item> {
  const start = (): Promise<IteratorResult<Item>> => {
    const item = source.next();
    // Whoever stops early does not ask for it any more.
    item.catch(() => undefined);
    return item;
  };
  let next = start();
  try {
    for (;;) {
      const { done, value } = await next;
      if (done) return;
      next = start();
      yield value;
    }
  } finally {
    await source.return(undefined);
  }
}

// What becomes of each table (spec 06 section 7): every table of the schema is backed up except the ones named here. A table that a later
// release adds is part of the backup without any change.

/**
 * State of the schema, which each database has by itself, the tasks of this installation, and what was erased in it (with archives that
 * wait to be loaded): neither backed up nor changed by a restore.
 */
const LOCAL = new Set(['schema_migrations', 'schema_sql', 'backup_tasks', 'data_requests', 'data_archive_parts']);

/** Rate counters, readings of the panel that last for minutes, and what the ledger check derives: not backed up, and emptied by a restore. */
const DERIVED = new Set([
  ...['rate_limit_windows', 'panel_traffic_fills', 'panel_traffic_users', 'panel_user_details'],
  ...['ledger_checked_balances', 'ledger_problems'],
]);

const SESSIONS = 'cabinet_refresh_tokens';

/** Rows that exist stay as they are, whatever an archive says (ledger, audit, domain events). */
const APPEND_ONLY = new Set([
  ...['ledger_accounts', 'ledger_entries', 'transactions', 'admin_audit_log', 'audit_links', 'audit_days', 'domain_events'],
]);

/**
 * Rows of `service_state` that belong to the running installation and not to its data: rounds of schedules, leases, the sandbox, and the
 * progress of the ledger check and of the audit log's links, which refer to transactions of one database server.
 */
const LOCAL_STATE =
  "(key LIKE 'schedule:%' OR key LIKE 'sandbox%' OR key LIKE 'backups:%' OR key IN ('receipts:worker', 'ledger:check', 'audit:links'))";
/** Secrets that the service made for itself, and the session at the tax service. */
const SECRET_STATE = "(value ->> 'secret' IS NOT NULL OR key LIKE 'receipts:%')";

type TableFate = 'local' | 'derived' | 'sessions' | 'append-only' | 'ordinary';

export function fateOf(table: string): TableFate {
  if (LOCAL.has(table)) return 'local';
  if (DERIVED.has(table)) return 'derived';
  if (table === SESSIONS) return 'sessions';
  return APPEND_ONLY.has(table) ? 'append-only' : 'ordinary';
}

/** Whether a backup of this scope has the table. */
export function isBackedUp(table: string, scope: Pick<BackupScope, 'sessions'>): boolean {
  const fate = fateOf(table);
  return fate === 'ordinary' || fate === 'append-only' || (fate === 'sessions' && scope.sessions);
}

/**
 * The rows of a table that a backup has, as a condition: those are also the only ones that a restore removes.
 * @param secretKeys keys of settings whose values are secret
 */
export function rowsOf(table: string, { secrets }: Pick<BackupScope, 'secrets'>, secretKeys: readonly string[]): string {
  switch (table) {
    case 'service_state':
      return secrets ? `NOT ${LOCAL_STATE}` : `NOT ${LOCAL_STATE} AND NOT ${SECRET_STATE}`;
    case 'short_lived_entries':
      // Saved carts. The others are proofs and tokens of minutes, which must not come back to life.
      return "key LIKE 'user_cart:%'";
    case 'system_settings':
      return secrets ? 'true' : `key NOT IN (${secretKeys.map((key) => `'${key}'`).join(', ')})`;
    default:
      return 'true';
  }
}
