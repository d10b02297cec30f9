import { createReadStream, createWriteStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip, type ZlibOptions } from 'node:zlib';
import { tarEnd, tarHeader, tarPadding } from '../../core/tar-format.ts';
import {
  HEAD_SUM_MEMBER,
  headSum,
  METADATA_MEMBER,
  SCHEMA_MEMBER,
  tableMember,
  writeMetadata,
  writeSchema,
} from './archive-format.ts';
import { encrypted } from './encryption.ts';
import { MAX_RATIO } from './read-archive.ts';
import type { Snapshot } from './snapshot.ts';
import type { ArchivedFile, Metadata } from './types.ts';

export interface ArchiveParts {
  metadata: Metadata;
  snapshot: Snapshot;
  /** Where the snapshot's files are. */
  folder: string;
  /** The content of a file that is no table. @throws Error when it is no longer there */
  contentOf: (file: ArchivedFile) => AsyncIterable<Buffer>;
  password: string | null;
  signal?: AbortSignal;
}

/** Ways to pack, the next one for contents of which the one before made less than a reader accepts (`MAX_RATIO`). */
const PACKINGS: readonly ZlibOptions[] = [{ level: 6 }, { level: 1 }, { strategy: constants.Z_HUFFMAN_ONLY }];

/**
 * Writes an archive: into `<path>.part`, to the disk, then renamed, so that under its name it is complete or absent.
 * @returns its size in bytes
 */
export async function writeArchive(path: string, parts: ArchiveParts): Promise<number> {
  const part = `${path}.part`;
  try {
    let sizes = { packed: 0, plain: 0 };
    for (const packing of parts.metadata.compressed ? PACKINGS : [null]) {
      sizes = await writePart(part, parts, packing);
      if (sizes.plain <= sizes.packed * MAX_RATIO) break;
    }
    await sync(part);
    await rename(part, path);
    await sync(dirname(path));
    return sizes.packed;
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

async function writePart(
  part: string,
  parts: ArchiveParts,
  packing: ZlibOptions | null,
): Promise<{ packed: number; plain: number }> {
  const sizes = { packed: 0, plain: 0 };
  const counted = async function* (source: AsyncIterable<Buffer>, kind: 'packed' | 'plain'): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      sizes[kind] += chunk.length;
      yield chunk;
    }
  };
  const { password, signal } = parts;
  const options = signal ? { signal } : {};
  const plain = Readable.from(counted(members(parts), 'plain'));
  const target = createWriteStream(part, { mode: 0o600 });
  const seal = (source: AsyncIterable<Buffer>) => counted(password === null ? source : encrypted(source, password), 'packed');
  if (packing === null) await pipeline(plain, seal, target, options);
  else await pipeline(plain, createGzip({ ...packing, chunkSize: 65_536 }), seal, target, options);
  return sizes;
}

async function* members({ metadata, snapshot, folder, contentOf }: ArchiveParts): AsyncGenerator<Buffer> {
  const { timestamp } = metadata;
  const text = function* (name: string, given: string): Generator<Buffer> {
    const content = Buffer.from(given);
    yield tarHeader(name, content.length, timestamp);
    yield content;
    yield tarPadding(content.length);
  };
  const head = [writeMetadata(metadata), writeSchema(snapshot.schema)] as const;
  yield* text(METADATA_MEMBER, head[0]);
  yield* text(SCHEMA_MEMBER, head[1]);
  for (const [table, size] of snapshot.sizes) {
    yield tarHeader(tableMember(table), size, timestamp);
    yield* createReadStream(join(folder, `${table}.ndjson`), { highWaterMark: 256 * 1024 }) as AsyncIterable<Buffer>;
    yield tarPadding(size);
  }
  for (const file of metadata.files) {
    yield tarHeader(file.name, file.sizeBytes, timestamp);
    yield* contentOf(file);
    yield tarPadding(file.sizeBytes);
  }
  yield* text(HEAD_SUM_MEMBER, headSum(...head));
  yield tarEnd();
}

/** Windows cannot do this with a folder. */
async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r+').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EISDIR') return process.platform === 'win32' ? null : open(path, 'r');
    throw error;
  });
  try {
    await handle?.sync();
  } finally {
    await handle?.close();
  }
}
