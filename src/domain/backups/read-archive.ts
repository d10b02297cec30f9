import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import {
  HEAD_SUM_MEMBER,
  headSum,
  MAX_METADATA_BYTES,
  MAX_SCHEMA_BYTES,
  METADATA_MEMBER,
  readMetadata,
  readSchema,
  SCHEMA_MEMBER,
  tableMember,
} from './archive-format.ts';
import { decrypted, isEncrypted } from './encryption.ts';
import { readTar, type TarMember } from './tar.ts';
import { type ArchivedFile, type ArchivedTable, ArchiveRefused, type ArchiveSchema, type Metadata } from './types.ts';

/** An archive may contain at most so many times its own size (spec 06 section 7); what is smaller than the floor is harmless. */
export const MAX_RATIO = 20;
const RATIO_FLOOR_BYTES = 16 * 1024 * 1024;

export interface ReadOptions {
  /** Of encrypted archives; null = none is set. */
  password: string | null;
  signal?: AbortSignal;
}

/** A member that is no table and not part of the head. */
interface FileMember {
  kind: 'file';
  file: ArchivedFile;
  content: AsyncIterable<Buffer>;
}

export interface TableMember {
  kind: 'table';
  name: string;
  table: ArchivedTable;
  content: AsyncIterable<Buffer>;
}

export interface OpenedArchive {
  metadata: Metadata;
  schema: ArchiveSchema;
  /**
   * The members behind the head. Each name is one that the head names, each occurs once, and the sequence ends only after all of them; a
   * content ends with an error when its size or checksum is another one. Contents that the caller does not read are read and checked too.
   */
  members: AsyncGenerator<FileMember | TableMember>;
}

/** Opens an archive and reads its head. @throws ArchiveRefused */
export async function openArchive(path: string, options: ReadOptions): Promise<OpenedArchive> {
  const members = readTar(await plainBytes(path, options));
  try {
    const metadataText = await readText(members, METADATA_MEMBER, MAX_METADATA_BYTES);
    const metadata = readMetadata(metadataText);
    const schemaText = await readText(members, SCHEMA_MEMBER, MAX_SCHEMA_BYTES);
    const schema = readSchema(schemaText);
    return { metadata, schema, members: knownMembers(members, { metadata, schema, sum: headSum(metadataText, schemaText) }) };
  } catch (error) {
    await members.return(undefined);
    throw error;
  }
}

/** Reads the first member only. @throws ArchiveRefused */
export async function readHead(path: string, options: ReadOptions): Promise<Metadata> {
  const members = readTar(await plainBytes(path, options));
  try {
    return readMetadata(await readText(members, METADATA_MEMBER, MAX_METADATA_BYTES));
  } finally {
    await members.return(undefined);
  }
}

async function readText(members: AsyncGenerator<TarMember>, name: string, limit: number): Promise<string> {
  const { done, value: member } = await members.next();
  if (done || member.name !== name)
    throw new ArchiveRefused(`The archive is not a backup of this service: it has no ${name} where it belongs`);
  return textOf(member, limit);
}

async function textOf({ name, size, content }: TarMember, limit: number): Promise<string> {
  if (size > limit) throw new ArchiveRefused(`${name} of the archive is too large`);
  const parts: Buffer[] = [];
  for await (const chunk of content) parts.push(chunk);
  return Buffer.concat(parts).toString('utf8');
}

async function* knownMembers(
  members: AsyncGenerator<TarMember>,
  { metadata, schema, sum }: { metadata: Metadata; schema: ArchiveSchema; sum: string },
): AsyncGenerator<FileMember | TableMember> {
  const expected = new Map<
    string,
    { sha256: string; sizeBytes?: number; make: (content: AsyncIterable<Buffer>) => FileMember | TableMember }
  >();
  for (const [name, table] of Object.entries(schema.tables)) {
    expected.set(tableMember(name), { sha256: table.sha256, make: (content) => ({ kind: 'table', name, table, content }) });
  }
  for (const file of metadata.files) {
    expected.set(file.name, {
      sha256: file.sha256,
      sizeBytes: file.sizeBytes,
      make: (content) => ({ kind: 'file', file, content }),
    });
  }
  let isHeadChecked = false;
  for await (const member of members) {
    if (member.name === HEAD_SUM_MEMBER && !isHeadChecked) {
      isHeadChecked = (await textOf(member, sum.length)) === sum;
      if (!isHeadChecked) throw new ArchiveRefused('The archive is damaged: the checksum of its head is another one');
      continue;
    }
    const known = expected.get(member.name);
    if (!known) throw new ArchiveRefused('The archive has a member that its head does not name, or one twice');
    expected.delete(member.name);
    if (known.sizeBytes !== undefined && known.sizeBytes !== member.size) {
      throw new ArchiveRefused(`The archive is damaged: ${member.name} has another size`);
    }
    const content = checked(member, known.sha256);
    yield known.make(content);
    for await (const _rest of content);
  }
  const [missing] = expected.keys();
  if (missing === undefined && !isHeadChecked)
    throw new ArchiveRefused(`The archive is incomplete: ${HEAD_SUM_MEMBER} is missing`);
  if (missing !== undefined) throw new ArchiveRefused(`The archive is incomplete: ${missing} is missing`);
}

/** An iterator that can be read in two goes: by the caller, and to its end. */
function checked({ name, content }: TarMember, sha256: string): AsyncIterable<Buffer> {
  const read = async function* (): AsyncGenerator<Buffer> {
    const hash = createHash('sha256');
    for await (const chunk of content) {
      hash.update(chunk);
      yield chunk;
    }
    if (hash.digest('hex') !== sha256) throw new ArchiveRefused(`The archive is damaged: the checksum of ${name} is another one`);
  };
  const chunks = read();
  return { [Symbol.asyncIterator]: () => ({ next: () => chunks.next() }) };
}

/** The bytes of the tar archive: decrypted and unpacked as the content demands, whatever the name says. */
async function plainBytes(path: string, { password, signal }: ReadOptions): Promise<AsyncIterable<Buffer>> {
  const needsPassword = await isEncryptedFile(path);
  const { size } = await stat(path);
  const raw = createReadStream(path, { highWaterMark: 256 * 1024, ...(signal ? { signal } : {}) }) as AsyncIterable<Buffer>;
  const packed = needsPassword ? decrypted(raw, password) : raw;
  return unpacked(packed, Math.max(size * MAX_RATIO, RATIO_FLOOR_BYTES));
}

/** Whether an archive can be read with its password only. */
export async function isEncryptedFile(path: string): Promise<boolean> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(16), 0, 16, 0);
    return isEncrypted(buffer.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}

async function* unpacked(source: AsyncIterable<Buffer>, limit: number): AsyncGenerator<Buffer> {
  const iterator = source[Symbol.asyncIterator]();
  const first = await iterator.next();
  if (first.done) throw new ArchiveRefused('The archive is empty');
  const whole = async function* (): AsyncGenerator<Buffer> {
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => iterator };
  };
  if (first.value[0] !== 0x1f || first.value[1] !== 0x8b) {
    yield* whole();
    return;
  }
  const gunzip = createGunzip({ chunkSize: 65_536 });
  const input = Readable.from(whole());
  input.on('error', (error) => gunzip.destroy(error));
  input.pipe(gunzip);
  let length = 0;
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > limit) throw new ArchiveRefused(`The archive contains more than ${MAX_RATIO} times its size`);
      yield chunk;
    }
  } catch (error) {
    if (error instanceof ArchiveRefused || (error as { name?: unknown }).name === 'AbortError') throw error;
    throw new ArchiveRefused('The archive is damaged or incomplete', { cause: error });
  } finally {
    input.destroy();
    gunzip.destroy();
  }
}
