import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { App } from '../../core/app.ts';
import { addDays } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { tarEnd, tarHeader, tarPadding } from '../../core/tar-format.ts';
import { userNotFound } from '../identity/errors.ts';
import { announce } from './announce.ts';
import { bind, PERSONAL_TABLES, type Person } from './person-tables.ts';
import type { PersonalTable } from './personal-table.ts';
import { beginRun, changeRequest, insertPart, listPersons, markReady } from './repo.ts';

/** Rows of one file of the archive: what is in memory at once. */
const PAGE = 500;
const PART_BYTES = 256 * 1024;

/**
 * The archive of a person's data as tar: `data/TABLE-00001.ndjson` with at most 500 rows each, `files/…` with the contents of uploaded
 * files, and `contents.json` at the end; with what accounts that were merged into this one have left. Read page by page without a
 * transaction, so that pages are of different times.
 * @throws AppError 404 for an account that is unknown or erased
 */
export async function* personArchive(app: App, userId: number, signal?: AbortSignal): AsyncGenerator<Buffer> {
  const persons = await listPersons(app.db, userId);
  if (persons.length === 0) throw userNotFound();
  const at = app.clock.now();
  const rows: Record<string, number> = {};
  for (const table of PERSONAL_TABLES) {
    if (table.exports === undefined) continue;
    const name = table.name ?? table.table;
    let pages = 0;
    for await (const lines of pagesOf(app, table, persons)) {
      signal?.throwIfAborted();
      pages += 1;
      rows[name] = (rows[name] ?? 0) + lines.length;
      yield* member(`data/${name}-${String(pages).padStart(5, '0')}.ndjson`, Buffer.from(`${lines.join('\n')}\n`), at);
    }
  }
  let files = 0;
  for await (const { fileId, storageKey } of filesOf(app, persons)) {
    if (storageKey === null) continue;
    const found = await app.ports.mediaStore.look(storageKey);
    const content = found && (await app.ports.mediaStore.open(storageKey, null));
    if (!content) continue;
    files += 1;
    yield tarHeader(`files/${String(files).padStart(5, '0')}-${fileId.slice(0, 60)}`, found.size, at);
    yield* content;
    yield tarPadding(found.size);
  }
  const leftOut = Object.fromEntries(PERSONAL_TABLES.filter((t) => t.notExported).map((t) => [t.name ?? t.table, t.notExported]));
  const contents = { user_id: userId, made_at: at.toISOString(), rows, files, left_out: leftOut };
  yield* member('contents.json', Buffer.from(JSON.stringify(contents, null, 2)), at);
  yield tarEnd();
}

function* member(name: string, content: Buffer, at: Date): Generator<Buffer> {
  yield tarHeader(name, content.length, at);
  yield content;
  yield tarPadding(content.length);
}

async function* pagesOf(app: App, table: PersonalTable, persons: readonly Person[]): AsyncGenerator<string[]> {
  const key = table.key ?? 'id';
  const columns = table.exports!.split(' ').map((column) => `r.${column}`);
  const line = `(SELECT row_to_json(x)::text FROM (SELECT ${columns.join(', ')}) x) AS line`;
  for await (const rows of rowsOf<{ key: unknown; line: string }>(app, { table, key, select: line }, persons))
    yield rows.map((row) => row.line);
}

async function* filesOf(app: App, persons: readonly Person[]): AsyncGenerator<{ fileId: string; storageKey: string | null }> {
  const table = PERSONAL_TABLES.find((entry) => entry.table === 'media_files')!;
  const reading = { table, key: 'file_id', select: 'r.file_id, r.storage_key' };
  for await (const rows of rowsOf<{ key: unknown; fileId: string; storageKey: string | null }>(app, reading, persons))
    yield* rows;
}

/** Pages of the rows of a table, those of one account after those of another; a row that is of two is in the first one's. */
async function* rowsOf<Row extends { key: unknown }>(
  app: App,
  { table, key, select }: { table: PersonalTable; key: string; select: string },
  persons: readonly Person[],
): AsyncGenerator<Row[]> {
  for (const [at, person] of persons.entries()) {
    for (let after: unknown = null, isLast = false; !isLast; ) {
      const values: unknown[] = after === null ? [] : [after];
      const former = persons.slice(0, at).map((other) => ` AND NOT coalesce(${bind(table.of, other, values)}, false)`);
      const rows = await app.db.sql<Row>(
        `SELECT r.${key} AS key, ${select} FROM ${table.table} r
         WHERE ${bind(table.of, person, values)}${former.join('')}${after === null ? '' : ` AND r.${key} > $1`} ORDER BY r.${key} LIMIT ${PAGE}`,
        values,
      );
      if (rows.length > 0) yield rows;
      after = rows.at(-1)?.key;
      isLast = rows.length < PAGE;
    }
  }
}

/**
 * Writes the archive of a request into the database, from where every instance can send it. A run that was killed is repeated from the
 * start under another number, whose parts alone count.
 */
export async function writeArchive(app: App, requestId: number, isLastTry: boolean, signal: AbortSignal): Promise<void> {
  const request = await beginRun(app.db, requestId);
  if (!request) return;
  const { run, userId } = request;
  try {
    let sizeBytes = 0;
    const write = async (parts: AsyncIterable<Buffer>) => {
      let part = 0;
      for await (const content of inParts(parts)) {
        await insertPart(app.db, { requestId, run, part }, content);
        part += 1;
        sizeBytes += content.length;
      }
    };
    await pipeline(personArchive(app, userId, signal), createGzip(), write, { signal });
    const finishedAt = app.clock.now();
    const expiresAt = addDays(finishedAt, app.settings.get('PERSONAL_DATA_ARCHIVE_DAYS'));
    await inTransaction(app, async (t) => {
      if (!(await markReady(t.db, request, { sizeBytes, finishedAt, expiresAt }))) return;
      await announce(t, request, 'export_ready');
    });
  } catch (error) {
    // Any failure: the last try ends the request, so that the person can ask again; the error is thrown on.
    if (isLastTry) await changeRequest(app.db, requestId, 'requested', { state: 'failed', finishedAt: app.clock.now() });
    throw error;
  }
}

async function* inParts(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    waiting.push(chunk);
    bytes += chunk.length;
    if (bytes < PART_BYTES) continue;
    yield Buffer.concat(waiting);
    waiting = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(waiting);
}
