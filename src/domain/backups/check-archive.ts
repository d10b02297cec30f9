import { openArchive, type ReadOptions } from './read-archive.ts';
import { isBackedUp } from './snapshot.ts';
import { ArchiveRefused, type ArchiveSchema, type Metadata, type Table } from './types.ts';
import { WAITING_JOBS, waitingJobs } from './waiting-jobs.ts';

/** A row may be as large as a picture in it. */
const MAX_LINE_BYTES = 32 * 1024 * 1024;

/** What a database must have for an archive to fit it. */
export interface Installed {
  migrations: readonly string[];
  /** Null where no database is open: whether the archive has the tables and columns of its migrations is not checked then. */
  tables: readonly Table[] | null;
}

export interface CheckedArchive {
  metadata: Metadata;
  schema: ArchiveSchema;
}

/**
 * Reads an archive from its first to its last byte and compares it with the database, before anything is written (spec 06 section 7; section 17, hazard 2):
 * its form, every checksum, every number of rows, that each line is a row of its table, and that it fits the schema.
 * @throws ArchiveRefused
 */
export async function checkArchive(path: string, options: ReadOptions, installed: Installed): Promise<CheckedArchive> {
  const { metadata, schema, members } = await openArchive(path, options);
  try {
    requireFitting(metadata, schema, installed);
    for await (const member of members) {
      if (member.kind !== 'table') continue;
      const columns = new Set(member.table.columns.map(({ name }) => name));
      let rows = 0;
      for await (const lines of linesOf(member.content)) {
        for (const line of lines) requireRow(line, columns, member.name);
        rows += lines.length;
      }
      if (rows !== member.table.rows) {
        throw new ArchiveRefused(`The archive is damaged: ${member.name} has ${rows} rows and not ${member.table.rows}`);
      }
    }
  } finally {
    await members.return(undefined);
  }
  return { metadata, schema };
}

function requireFitting(metadata: Metadata, schema: ArchiveSchema, { migrations, tables }: Installed): void {
  requireMigrations(schema, migrations);
  const total = Object.values(schema.tables).reduce((sum, { rows }) => sum + rows, 0);
  const count = Object.keys(schema.tables).length;
  if (total === 0) throw new ArchiveRefused('The archive has no rows');
  if (metadata.tablesCount !== count || metadata.totalRecords !== total) {
    throw new ArchiveRefused('The archive is damaged: its counts do not agree');
  }
  if (tables) requireTables(schema, tables);
}

function requireMigrations(schema: ArchiveSchema, migrations: readonly string[]): void {
  const unknown = schema.migrations.find((name, at) => migrations[at] !== name);
  if (unknown === undefined) return;
  throw new ArchiveRefused(
    migrations.includes(unknown)
      ? `The archive was made with other migrations than this installation has (from ${unknown} on)`
      : `The archive has the migration ${unknown}, which this installation does not have: install the release that made it, or a newer one`,
  );
}

function requireTables(schema: ArchiveSchema, tables: readonly Table[]): void {
  const known = new Map(tables.filter(({ name }) => isBackedUp(name, { sessions: true })).map((table) => [table.name, table]));
  known.set(WAITING_JOBS, waitingJobs);
  for (const [name, archived] of Object.entries(schema.tables)) {
    const table = known.get(name);
    if (!table) throw new ArchiveRefused(`The archive has the table ${name}, which no backup of this release has`);
    requireColumns(table, archived);
  }
}

function requireColumns(table: Table, archived: ArchiveSchema['tables'][string]): void {
  const given = new Set(archived.columns.map(({ name }) => name));
  const unknown = archived.columns.find(({ name }) => !table.columns.some((column) => column.name === name));
  if (unknown || given.size !== archived.columns.length) {
    throw new ArchiveRefused(
      `The archive has the column ${table.name}.${unknown?.name ?? '(twice)'}, which this installation does not have`,
    );
  }
  const missing = table.columns.find(
    ({ name, nullable }) =>
      !given.has(name) && (table.primaryKey.includes(name) || (!nullable && !table.defaulted.includes(name))),
  );
  if (missing) throw new ArchiveRefused(`The archive lacks the column ${table.name}.${missing.name}, which has no default`);
  if (archived.primaryKey.join() !== table.primaryKey.join()) {
    throw new ArchiveRefused(`The archive has another primary key of ${table.name}`);
  }
}

function requireRow(line: string, columns: ReadonlySet<string>, table: string): void {
  let row: unknown;
  try {
    row = JSON.parse(line);
  } catch {
    row = null;
  }
  const isRow = typeof row === 'object' && row !== null && !Array.isArray(row);
  if (!isRow || Object.keys(row as object).some((name) => !columns.has(name))) {
    throw new ArchiveRefused(`The archive is damaged: a line of ${table} is not a row of it`);
  }
}

/** The lines of a content, as many at a time as arrive. @throws ArchiveRefused when the last one has no end, or one is too long */
export async function* linesOf(content: AsyncIterable<Buffer>): AsyncGenerator<string[]> {
  let open: Buffer[] = [];
  let length = 0;
  for await (const chunk of content) {
    const end = chunk.lastIndexOf(0x0a);
    if (end >= 0) {
      const text = Buffer.concat([...open, chunk.subarray(0, end)]).toString('utf8');
      open = [];
      length = 0;
      yield text.split('\n');
    }
    const rest = chunk.subarray(end + 1);
    if (rest.length > 0) open.push(rest);
    length += rest.length;
    if (length > MAX_LINE_BYTES) throw new ArchiveRefused('The archive has a row that is too large');
  }
  if (length > 0) throw new ArchiveRefused('The archive is damaged: a row has no end');
}
