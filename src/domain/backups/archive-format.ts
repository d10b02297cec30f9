import { createHash } from 'node:crypto';
import { z } from 'zod';
import { COMMAND_LINE } from '../../core/process-env.ts';
import { ArchiveRefused, type ArchiveSchema, type Metadata } from './types.ts';

/** The two JSON members at the head of an archive. */

export const FORMAT_VERSION = '3.0';
export const METADATA_MEMBER = 'metadata.json';
export const SCHEMA_MEMBER = 'schema.json';
/** The last member: the SHA-256 of the two before, which have those of all others. */
export const HEAD_SUM_MEMBER = 'head.sha256';

/** Bounds of what is read into memory at once. */
export const MAX_METADATA_BYTES = 64 * 1024 * 1024;
export const MAX_SCHEMA_BYTES = 4 * 1024 * 1024;
/** The content of an uploaded file has 50 MiB at most, a log file a little more. */
export const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** What `HEAD_SUM_MEMBER` has. */
export const headSum = (metadataText: string, schemaText: string): string =>
  createHash('sha256').update(metadataText).update(schemaText).digest('hex');

export const tableMember = (table: string): string => `tables/${table}.ndjson`;

const count = z.int().min(0);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const identifier = z.string().regex(/^[a-z_][a-z0-9_]{0,62}$/);

/** Members besides the tables: a name of ours, never a path that leads anywhere. */
const file = z.object({
  name: z.string().regex(/^(?:media\/[\w-]{16,64}|files\/[A-Za-z0-9][\w.-]{0,90})$/),
  size_bytes: count.max(MAX_FILE_BYTES),
  sha256,
});

const metadata = z.object({
  format_version: z.literal(FORMAT_VERSION),
  timestamp: z.iso.datetime(),
  app_version: z.string().max(50),
  database_type: z.literal('postgresql'),
  backup_type: z.literal('full'),
  tables_count: count,
  total_records: count,
  compressed: z.boolean(),
  created_by: z.int().nullable(),
  origin: z.enum(['api', 'schedule', 'safety', 'cli']),
  includes: z.object({ secrets: z.boolean(), sessions: z.boolean(), media: z.boolean(), logs: z.boolean() }),
  files: z.array(file),
});

const schema = z.object({
  migrations: z.array(z.string().max(200)).max(10_000),
  tables: z.record(
    identifier,
    z.object({
      columns: z
        .array(z.object({ name: identifier, type: z.string().max(100), nullable: z.boolean() }))
        .min(1)
        .max(1_600),
      primary_key: z.array(identifier).min(1),
      rows: count,
      sha256,
    }),
  ),
});

export function writeMetadata(given: Metadata): string {
  const members = {
    format_version: given.formatVersion,
    timestamp: given.timestamp.toISOString(),
    app_version: given.appVersion,
    database_type: given.databaseType,
    backup_type: given.backupType,
    tables_count: given.tablesCount,
    total_records: given.totalRecords,
    compressed: given.compressed,
    created_by: given.createdBy,
    origin: given.origin,
    includes: given.includes,
    files: given.files.map(({ name, sizeBytes, sha256: digest }) => ({ name, size_bytes: sizeBytes, sha256: digest })),
  };
  return JSON.stringify(members);
}

/** @throws ArchiveRefused with the reason: not ours, of the existing service, of a newer release, or damaged */
export function readMetadata(text: string): Metadata {
  const given = parse(text, METADATA_MEMBER);
  const version = typeof given === 'object' && given !== null && 'format_version' in given ? given.format_version : undefined;
  if (typeof version !== 'string')
    throw new ArchiveRefused('The archive is not a backup of this service: its metadata name no format');
  requireFormat(version);
  const read = metadata.safeParse(given);
  if (!read.success) throw new ArchiveRefused(`The metadata of the archive are not readable: ${fieldOf(read.error)}`);
  const { data } = read;
  return {
    formatVersion: data.format_version,
    timestamp: new Date(data.timestamp),
    appVersion: data.app_version,
    databaseType: data.database_type,
    backupType: data.backup_type,
    tablesCount: data.tables_count,
    totalRecords: data.total_records,
    compressed: data.compressed,
    createdBy: data.created_by,
    origin: data.origin,
    includes: data.includes,
    files: data.files.map(({ name, size_bytes: sizeBytes, sha256: digest }) => ({ name, sizeBytes, sha256: digest })),
  };
}

function requireFormat(version: string): void {
  if (version === FORMAT_VERSION) return;
  const [major = Number.NaN] = version.split('.').map(Number);
  if (major <= 2) {
    throw new ArchiveRefused(
      `The archive has format ${version.slice(0, 20)} of the former service. It is not restored but imported: ${COMMAND_LINE} import`,
    );
  }
  throw new ArchiveRefused(
    `The archive has format ${version.slice(0, 20)}; this release reads ${FORMAT_VERSION}. Install a newer release`,
  );
}

export function writeSchema({ migrations, tables }: ArchiveSchema): string {
  const described = Object.entries(tables).map(([name, { columns, primaryKey, rows, sha256: digest }]) => [
    name,
    { columns, primary_key: primaryKey, rows, sha256: digest },
  ]);
  return JSON.stringify({ migrations, tables: Object.fromEntries(described) });
}

/** @throws ArchiveRefused */
export function readSchema(text: string): ArchiveSchema {
  const read = schema.safeParse(parse(text, SCHEMA_MEMBER));
  if (!read.success) throw new ArchiveRefused(`The schema of the archive is not readable: ${fieldOf(read.error)}`);
  const tables = Object.entries(read.data.tables).map(([name, table]) => {
    const { columns, primary_key: primaryKey, rows, sha256: digest } = table;
    return [name, { columns, primaryKey, rows, sha256: digest }] as const;
  });
  return { migrations: read.data.migrations, tables: Object.fromEntries(tables) };
}

function parse(text: string, member: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ArchiveRefused(`${member} of the archive is not JSON`, { cause: error });
  }
}

const fieldOf = (error: z.ZodError): string => error.issues[0]?.path.join('.').slice(0, 100) || 'its form is another one';
