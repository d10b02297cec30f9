import { type ColumnFamily, ImportRefused, type ImportSource, rowsOf } from './import-source.ts';
import requiredColumns from './source-columns.json' with { type: 'json' };

/** The oldest and the newest revision that the import knows (spec 07 section 1.1). */
const OLDEST = 37;
const NEWEST = 106;
export const NEWEST_REVISION = `0${NEWEST}`;

/** Which releases have left a database at which revision. */
const RELEASES: readonly [through: number, releases: string][] = [
  [44, 'v3.29 to v3.38'],
  [45, 'v3.39 to v3.41'],
  [49, 'v3.42'],
  [103, 'v3.43 to v3.67'],
  [NEWEST, 'v4.0 to v4.1'],
];

export interface SourceRevision {
  /** Four digits, e.g. `0045`. */
  text: string;
  number: number;
  releases: string;
}

const UPGRADE = 'Start the bot once at v3.41.0, which upgrades its database by itself, and import from there.';

/**
 * Recognises the release of a source by its revision and by its shape (spec 07 section 1.1).
 * @throws ImportRefused `source_too_old`, `source_revision_unknown`, `source_schema_damaged`, `source_sqlite_too_old`
 */
export async function recogniseSource(source: ImportSource): Promise<SourceRevision> {
  const revision = revisionOf(source.isIncomplete ? revisionBySigns(source) : await storedRevision(source), source);
  const faults = faultsOfShape(source, revision.number);
  if (faults.length === 0) return revision;
  if (source.kind === 'sqlite') throw sqliteTooOld(faults);
  throw new ImportRefused(
    'source_schema_damaged',
    `The database says revision ${revision.text}, but ${faults.length} of its tables or columns are missing or of another type: ${faults.slice(0, 5).join(', ')}${faults.length > 5 ? ' …' : ''}. Repair it with the bot's own migrations, or restore a backup of the bot into a new database.`,
    { details: { revision: revision.text, faults } },
  );
}

async function storedRevision(source: ImportSource): Promise<string | null> {
  if (!source.tables.has('alembic_version')) return null;
  let version: string | null = null;
  // To the end of the rows: a connection in the middle of a copy can do nothing else.
  for await (const content of source.contents())
    if (content.table.name === 'alembic_version')
      for await (const row of rowsOf(content, ['version_num'])) version ??= row.version_num;
  return version;
}

/** The newest revision of which the source has a column. */
function revisionBySigns({ tables }: ImportSource): string {
  const signs = [...Object.entries(SINCE), ...LATER.map(([table, column, , since]) => [`${table}.${column}`, since] as const)];
  const seen = signs.filter(([sign]) => {
    const [table, column] = sign.split('.');
    return tables.get(table!)?.columns.some(({ name }) => name === column || column === '*');
  });
  return String(Math.max(OLDEST, ...seen.map(([, since]) => since))).padStart(4, '0');
}

/** Tables with a place here that a source leaves out. */
export function tablesLeftOut({ isIncomplete, tables }: ImportSource): string[] {
  return isIncomplete ? Object.keys(requiredColumns).filter((name) => !tables.has(name)) : [];
}

function revisionOf(text: string | null, source: ImportSource): SourceRevision {
  if (!source.tables.has('users')) {
    throw new ImportRefused('source_unreadable', 'This is no database of the bot: it has no table "users". Check the address.');
  }
  if (text === null) {
    if (source.kind === 'sqlite') throw sqliteTooOld([]);
    throw new ImportRefused('source_too_old', `The database is of v3.15 or older: it names no revision. ${UPGRADE}`);
  }
  const number = /^\d{4}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > NEWEST) {
    throw new ImportRefused(
      'source_revision_unknown',
      `The revision "${text}" is unknown; the newest known is ${NEWEST_REVISION}. Import from a database of v3.29 to v4.1.`,
      { details: { revision: text } },
    );
  }
  if (number < OLDEST) {
    if (source.kind === 'sqlite') throw sqliteTooOld([]);
    throw new ImportRefused('source_too_old', `The database is of v3.28 or older (revision ${text}). ${UPGRADE}`, {
      details: { revision: text },
    });
  }
  return { text, number, releases: RELEASES.find(([through]) => number <= through)![1] };
}

function sqliteTooOld(faults: readonly string[]): ImportRefused {
  return new ImportRefused(
    'source_sqlite_too_old',
    "The SQLite file is of a release that cannot be imported. Restore the bot's backup into a PostgreSQL installation of the bot, start that once at v3.41.0, and import from there.",
    { details: { faults } },
  );
}

/** Columns that came with a revision: before it they may be missing, and have their defaults then. */
const SINCE: Readonly<Record<string, number>> = {
  'tariffs.show_in_gift': 38,
  'severpay_payments.*': 40,
  'guest_purchases.retry_count': 42,
  'guest_purchases.receipt_uuid': 45,
  'guest_purchases.receipt_created_at': 45,
};

/** Columns beyond revision 0045 that the import reads, with the revision that brings them (spec 07 section 1.3). */
const LATER: readonly [table: string, column: string, family: ColumnFamily, since: number][] = [
  ['subscriptions', 'remnawave_uuid', 'text', 50],
  ['promocodes', 'tariff_id', 'integer', 52],
  ['ticket_messages', 'media_items', 'json', 61],
  ['users', 'email_verification_source', 'text', 79],
  ['wheel_spins', 'telegram_charge_id', 'text', 89],
  ['users', 'remnawave_id', 'integer', 104],
  ['subscriptions', 'remnawave_id', 'integer', 104],
  ['promocodes', 'traffic_gb', 'integer', 105],
];

/** Every column that the import reads at a revision, as table, column and family. */
export function* columnsRead(revision: number): Generator<[table: string, column: string, family: ColumnFamily]> {
  for (const [table, families] of Object.entries(requiredColumns)) {
    for (const [family, names] of Object.entries(families)) {
      for (const column of names.split(' ')) {
        const since = SINCE[`${table}.${column}`] ?? SINCE[`${table}.*`] ?? 0;
        if (revision >= since) yield [table, column, family as ColumnFamily];
      }
    }
  }
  for (const [table, column, family, since] of LATER) if (revision >= since) yield [table, column, family];
}

/** What of the columns that the import reads is missing or of another family: `table`, `table.column` or `table.column (text)`. */
function faultsOfShape(source: ImportSource, revision: number): string[] {
  const faults = new Set<string>();
  for (const [tableName, column, family] of columnsRead(revision)) {
    const table = source.tables.get(tableName);
    const found = table?.columns.find(({ name }) => name === column);
    if (!table && source.isIncomplete) continue;
    if (!table) faults.add(tableName);
    else if (!found) faults.add(`${tableName}.${column}`);
    else if (found.family !== null && found.family !== family) faults.add(`${tableName}.${column} (${found.family})`);
  }
  return [...faults];
}

/** Whether rows of this table have a place here; the others are kept aside as they are (spec 07 sections 4.5 and 4.6). */
export function hasHome(table: string): boolean {
  return table in requiredColumns;
}
