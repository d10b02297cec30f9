import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract, type Header } from 'tar-stream';
import {
  ImportRefused,
  type ImportSource,
  linesIn,
  type SourceTable,
  type TableContent,
  timestampOf,
} from '../../domain/import/import-source.ts';
import { dumpOfJson, readJsonTables } from './json-dump.ts';
import { openSqliteSource } from './sqlite-source.ts';
import { wholeLines } from './whole-lines.ts';

/** An archive may unpack to so many times its own size (spec 07 section 1.2); what is smaller than the floor is harmless. */
const MAX_RATIO = 20;
const RATIO_FLOOR_BYTES = 64 * 1024 * 1024;
const MAX_METADATA_BYTES = 1024 * 1024;

const [METADATA, DUMP, SQLITE, JSON_DATA] = ['metadata.json', 'database.sql', 'database.sqlite', 'database.json'];

/**
 * A source in a backup archive of the bot: `backup_*.tar.gz` or `.tar` with a dump of pg_dump, of which no SQL is run, or with a SQLite file.
 * @param acceptsIncomplete JSON, which the bot writes without pg_dump and which leaves out tables, is read, too
 * @throws ImportRefused `source_not_found`, `source_unreadable`, `backup_incomplete` for JSON that is not accepted
 */
export async function openArchiveSource(path: string, acceptsIncomplete = false): Promise<ImportSource> {
  const found = await stat(path).catch(() => null);
  if (!found?.isFile()) throw new ImportRefused('source_not_found', `There is no file ${path}.`);
  if (/\.zip$/i.test(path)) throw new ImportRefused('source_unreadable', 'The archive is under a password. Unpack it first.');
  const archive = { path, maxBytes: Math.max(found.size * MAX_RATIO, RATIO_FLOOR_BYTES) };
  if (PLAIN_JSON.test(path)) return openJson(archive, { acceptsIncomplete, snapshotAt: null });
  const { members, snapshotAt } = await readMembers(archive);
  if (members.has(SQLITE!)) return openUnpacked(archive, snapshotAt);
  if (!members.has(DUMP!) && members.has(JSON_DATA!)) return openJson(archive, { acceptsIncomplete, snapshotAt });
  if (!members.has(DUMP!)) throw unreadable('It has no database');
  const tables = new Map<string, SourceTable>();
  const [rows, sequences] = [new Map<string, number>(), new Map<string, number>()];
  for await (const { table, count } of dumpedTables(archive, sequences)) {
    tables.set(table.name, table);
    rows.set(table.name, await count());
  }
  const lastIds = [...tables.keys()].flatMap((table): [string, number][] => {
    const last = sequences.get(`${table}_id_seq`);
    return last === undefined ? [] : [[table, last]];
  });
  return {
    ...{ kind: 'archive', snapshotAt, tables, contents: () => dumpedTables(archive) },
    ...{ expectedRows: async () => rows, lastIds: async () => new Map(lastIds), close: async () => undefined },
  };
}

/** A plain file of the archive. */
type Entry = Readable & { header: Header };

interface Archive {
  path: string;
  maxBytes: number;
}

/** Backups of before the archives. */
const PLAIN_JSON = /\.json(\.gz)?$/i;

/** The database as JSON. It does not say its revision, and has no column of a table without rows. */
async function openJson(
  archive: Archive,
  { acceptsIncomplete, snapshotAt }: { acceptsIncomplete: boolean; snapshotAt: Date | null },
): Promise<ImportSource> {
  if (!acceptsIncomplete)
    throw new ImportRefused(
      'backup_incomplete',
      'The backup was made without pg_dump and leaves out tables, payments among them. Make one on a machine with pg_dump, import from the database itself, or choose --accept-incomplete: what it leaves out is lost.',
    );
  const { madeAt, tables } = await readJsonTables(jsonOf(archive)).catch((error: unknown) => {
    throw error instanceof ImportRefused ? error : unreadable('Its database.json is damaged', error);
  });
  const time = snapshotAt?.getTime() ?? timestampOf(String(madeAt ?? ''));
  if (time === null) throw unreadable('The backup does not say when it was made');
  const shapes = [...tables].map(([name, { columns }]): [string, SourceTable] => {
    return [name, { name, columns: [...columns].map((column) => ({ name: column, family: null })) }];
  });
  return {
    ...{ kind: 'archive', isIncomplete: true, snapshotAt: new Date(time), tables: new Map(shapes) },
    contents: () => tablesIn(dumpOfJson(jsonOf(archive), tables), new Map()),
    expectedRows: async () => new Map([...tables].map(([name, { rows }]) => [name, rows])),
    ...{ lastIds: async () => new Map(), close: async () => undefined },
  };
}

async function* jsonOf(archive: Archive): AsyncGenerator<Buffer> {
  if (!PLAIN_JSON.test(archive.path)) {
    for await (const entry of membersOf(archive)) if (plainName(entry) === JSON_DATA) yield* entry as AsyncIterable<Buffer>;
    return;
  }
  const bytes = new PassThrough();
  const reading = unpackInto(bytes, archive);
  try {
    yield* bytes as AsyncIterable<Buffer>;
  } finally {
    bytes.destroy();
    await reading.catch(() => undefined);
  }
}

function unreadable(what: string, cause?: unknown): ImportRefused {
  return new ImportRefused('source_unreadable', `${what}. Make a new backup with the bot.`, { cause });
}

/** What the file holds, no longer than it may be. Errors are those of the stream, too, which the caller reads. */
function unpackInto(unpacked: NodeJS.WritableStream, { path, maxBytes }: Archive): Promise<void> {
  let bytes = 0;
  const limit = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      done(bytes > maxBytes ? unreadable(`The archive unpacks to more than ${MAX_RATIO} times its size`) : null, chunk);
    },
  });
  const file = createReadStream(path);
  const reading = /\.t?gz$/i.test(path) ? pipeline(file, createGunzip(), limit, unpacked) : pipeline(file, limit, unpacked);
  reading.catch(() => undefined);
  return reading;
}

/** Each plain file of the archive; what the caller does not read is skipped. @throws ImportRefused for links and names that lead outside */
async function* membersOf(archive: Archive): AsyncGenerator<Entry> {
  const unpacked = extract();
  const reading = unpackInto(unpacked, archive);
  try {
    for await (const entry of unpacked as unknown as AsyncIterable<Entry>) {
      const { name, type } = entry.header;
      if (name.startsWith('/') || name.split('/').includes('..')) throw unreadable('A name in the archive leads outside');
      if (type === 'file') yield entry;
      else if (type !== 'directory') throw unreadable(`The archive has a member that is no plain file: ${name}`);
      entry.resume();
    }
  } catch (error) {
    throw error instanceof ImportRefused ? error : unreadable('The archive is damaged', error);
  } finally {
    unpacked.destroy();
    await reading.catch(() => undefined);
  }
}

const plainName = (entry: Entry) => entry.header.name.replace(/^\.\//, '');

async function readMembers(archive: Archive): Promise<{ members: Set<string>; snapshotAt: Date }> {
  const members = new Set<string>();
  let metadata: { timestamp?: unknown } | null = null;
  for await (const entry of membersOf(archive)) {
    const name = plainName(entry);
    members.add(name);
    if (name === METADATA && (entry.header.size ?? 0) <= MAX_METADATA_BYTES) metadata = await readJson(entry);
  }
  const madeAt = timestampOf(String(metadata?.timestamp ?? ''));
  if (madeAt === null) throw unreadable('The archive does not say when it was made');
  return { members, snapshotAt: new Date(madeAt) };
}

async function readJson(entry: Entry): Promise<{ timestamp?: unknown } | null> {
  const parts: Buffer[] = [];
  for await (const part of entry) parts.push(part as Buffer);
  try {
    return JSON.parse(Buffer.concat(parts).toString('utf8')) as { timestamp?: unknown } | null;
  } catch (error) {
    throw unreadable('Its metadata.json is damaged', error);
  }
}

/** The SQLite file of an archive, unpacked into a folder that only this user can read. */
async function openUnpacked(archive: Archive, snapshotAt: Date): Promise<ImportSource> {
  const folder = await mkdtemp(join(tmpdir(), 'import-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const file = join(folder, SQLITE!);
    for await (const entry of membersOf(archive))
      if (plainName(entry) === SQLITE) await pipeline(entry, createWriteStream(file, { mode: 0o600 }));
    const source = await openSqliteSource(file, snapshotAt);
    const close = async () => {
      await source.close();
      await remove();
    };
    return { ...source, kind: 'archive', close };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** The tables of the dump; one that is not read is skipped. @param sequences gets the last value of each sequence, when all was read */
async function* dumpedTables(archive: Archive, sequences = new Map<string, number>()): AsyncGenerator<TableContent> {
  for await (const entry of membersOf(archive))
    if (plainName(entry) === DUMP) return yield* tablesIn(wholeLines(entry as AsyncIterable<Buffer>), sequences);
}

async function* tablesIn(lines: AsyncIterable<Buffer>, sequences: Map<string, number>): AsyncGenerator<TableContent> {
  const dump = new DumpReader(lines, sequences);
  for (let table = await dump.nextTable(); table; table = await dump.nextTable()) {
    let rows = dump.rows();
    yield {
      table,
      lines: () => rows,
      count: async () => {
        let count = 0;
        for await (const chunk of rows) count += linesIn(chunk);
        return count;
      },
    };
    // What the caller has left of it.
    rows = dump.rows();
    for await (const _chunk of rows);
  }
}

const NEWLINE = 0x0a;
const END_OF_ROWS = Buffer.from('\\.\n');
const END_AFTER_ROW = Buffer.from('\n\\.\n');
const SEQUENCE = /^SELECT pg_catalog\.setval\('(?:"?public"?\.)?"?(\w+)"?', (\d{1,15}), true\);$/;
const COPY = /^COPY (?:(?:"?public"?)\.)?("[^"]+"|\w+) \((.*)\) FROM stdin;$/;

/** Reads the COPY blocks of a plain dump. */
class DumpReader {
  readonly #chunks: AsyncIterator<Buffer>;
  readonly #sequences: Map<string, number>;
  /** Whole lines. */
  #rest: Buffer | null = Buffer.alloc(0);
  #isInRows = false;

  constructor(chunks: AsyncIterable<Buffer>, sequences: Map<string, number>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
    this.#sequences = sequences;
  }

  /** The next table, whose rows `rows` returns; null at the end of the dump. */
  async nextTable(): Promise<SourceTable | null> {
    for (;;) {
      const line = await this.#line();
      if (line === null) return null;
      const [, sequence, last] = SEQUENCE.exec(line) ?? [];
      if (sequence !== undefined) this.#sequences.set(sequence, Number(last));
      const [, name, columns] = COPY.exec(line) ?? [];
      if (name === undefined) continue;
      this.#isInRows = true;
      return { name: unquoted(name), columns: columns!.split(', ').map((column) => ({ name: unquoted(column), family: null })) };
    }
  }

  /** Chunks of whole lines, up to the end of the block; what an earlier call has not read. */
  async *rows(): AsyncGenerator<Buffer> {
    while (this.#isInRows) {
      const rest = await this.#lines();
      if (rest === null) throw unreadable('The dump ends in the middle of a table');
      const isOver = rest.subarray(0, END_OF_ROWS.length).equals(END_OF_ROWS);
      const end = isOver ? 0 : rest.indexOf(END_AFTER_ROW) + 1;
      this.#isInRows = !isOver && end === 0;
      this.#rest = this.#isInRows ? Buffer.alloc(0) : rest.subarray(end + END_OF_ROWS.length);
      if (!isOver) yield end === 0 ? rest : rest.subarray(0, end);
    }
  }

  async #line(): Promise<string | null> {
    const rest = await this.#lines();
    if (rest === null) return null;
    const end = rest.indexOf(NEWLINE);
    this.#rest = rest.subarray(end + 1);
    return rest.toString('utf8', 0, end);
  }

  async #lines(): Promise<Buffer | null> {
    while (this.#rest !== null && this.#rest.length === 0) {
      const { done, value } = await this.#chunks.next();
      this.#rest = done ? null : value;
    }
    return this.#rest;
  }
}

const unquoted = (name: string) => name.replaceAll('"', '');
