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
import { beginRun, changeRequest, findPerson, insertPart, markReady } from './repo.ts';

/** Rows of one file of the archive: what is in memory at once. */
const PAGE = 500;
const PART_BYTES = 256 * 1024;

/**
 * The archive of a person's data as tar: `data/TABLE-00001.ndjson` with at most 500 rows each, `files/…` with the contents of uploaded
 * files, and `contents.json` at the end. Read page by page without a transaction, so that pages are of different times.
 * @throws AppError 404 for an account that is unknown or erased
 */
export async function* personArchive(app: App, userId: number, signal?: AbortSignal): AsyncGenerator<Buffer> {
  const person = await findPerson(app.db, userId);
  if (!person) throw userNotFound();
  const at = app.clock.now();
  const rows: Record<string, number> = {};
  for (const table of PERSONAL_TABLES) {
    if (table.exports === undefined) continue;
    const name = table.name ?? table.table;
    let pages = 0;
    for await (const lines of pagesOf(app, table, person)) {
      signal?.throwIfAborted();
      pages += 1;
      rows[name] = (rows[name] ?? 0) + lines.length;
      yield* member(`data/${name}-${String(pages).padStart(5, '0')}.ndjson`, Buffer.from(`${lines.join('\n')}\n`), at);
    }
  }
  let files = 0;
  for await (const { fileId, storageKey } of filesOf(app, person)) {
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

async function* pagesOf(app: App, table: PersonalTable, person: Person): AsyncGenerator<string[]> {
  const key = table.key ?? 'id';
  const columns = table.exports!.split(' ').map((column) => `r.${column}`);
  for (let after: unknown = null; ; ) {
    const values: unknown[] = after === null ? [] : [after];
    const rows: { key: unknown; line: string }[] = await app.db.sql(
      bind(
        `SELECT r.${key} AS key, (SELECT row_to_json(x)::text FROM (SELECT ${columns.join(', ')}) x) AS line
         FROM ${table.table} r WHERE ${table.of}${after === null ? '' : ` AND r.${key} > $1`} ORDER BY r.${key} LIMIT ${PAGE}`,
        person,
        values,
      ),
      values,
    );
    if (rows.length > 0) yield rows.map(({ line }) => line);
    if (rows.length < PAGE) return;
    after = rows.at(-1)!.key;
  }
}

async function* filesOf(app: App, person: Person): AsyncGenerator<{ fileId: string; storageKey: string }> {
  const { of } = PERSONAL_TABLES.find(({ table }) => table === 'media_files')!;
  for (let after = ''; ; ) {
    const values: unknown[] = [after];
    const rows: { fileId: string; storageKey: string }[] = await app.db.sql(
      bind(
        `SELECT r.file_id, r.storage_key FROM media_files r WHERE r.file_id > $1 AND r.storage_key IS NOT NULL AND ${of} ORDER BY 1 LIMIT ${PAGE}`,
        person,
        values,
      ),
      values,
    );
    yield* rows;
    if (rows.length < PAGE) return;
    after = rows.at(-1)!.fileId;
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
