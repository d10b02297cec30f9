import { TAR_BLOCK, tarChecksum, tarPadding } from '../../core/tar-format.ts';
import { ArchiveRefused } from './types.ts';

/**
 * Tar as our archives use it: plain files with short names, nothing else. What a general reader accepts (links, devices, folders, long
 * names in members of their own, sparse files) is refused here, and no header can make the reader keep more than 512 bytes.
 * Why no library reads it: docs/decisions/tar.md.
 */

export interface TarMember {
  name: string;
  size: number;
  /** The content, to be read to its end before the next member. */
  content: AsyncIterable<Buffer>;
}

/**
 * Reads the members of an archive in their order.
 * @throws ArchiveRefused for anything but plain files, for damaged headers, and for an archive that ends before its end
 */
export async function* readTar(source: AsyncIterable<Buffer>): AsyncGenerator<TarMember> {
  const bytes = new ByteSource(source);
  for (;;) {
    const header = await bytes.exactly(TAR_BLOCK);
    if (header.every((byte) => byte === 0)) break;
    const { name, size } = readHeader(header);
    let left = size;
    const content = async function* (): AsyncGenerator<Buffer> {
      while (left > 0) {
        const chunk = await bytes.upTo(left);
        left -= chunk.length;
        yield chunk;
      }
    };
    yield { name, size, content: content() };
    if (left > 0) throw new Error(`the content of ${name} was not read to its end`);
    requireZeros(await bytes.exactly(tarPadding(size).length));
  }
  requireZeros(await bytes.exactly(TAR_BLOCK));
  await bytes.requireOnlyZeros();
}

/** Between and behind the contents there is nothing. */
function requireZeros(filling: Buffer): void {
  if (filling.some((byte) => byte !== 0))
    throw new ArchiveRefused('The archive is damaged: it has something between its members');
}

function readHeader(header: Buffer): { name: string; size: number } {
  const field = (at: number, length: number) => header.toString('latin1', at, at + length);
  const sum = /^([0-7]{6})\0 $/.exec(field(148, 8));
  if (Number.parseInt(sum?.[1] ?? '', 8) !== tarChecksum(header))
    throw new ArchiveRefused('The archive is damaged or no tar archive');
  const type = field(156, 1);
  if (header[345] !== 0 || (type !== '0' && type !== '\0')) {
    throw new ArchiveRefused('The archive has a member that is not a plain file; backups of this service have none');
  }
  return { name: field(0, 100).replace(/\0.*$/s, ''), size: sizeOf(header, field(124, 12)) };
}

/** Octal digits, or beyond 8 GiB a number of 11 bytes after 0x80. */
function sizeOf(header: Buffer, digits: string): number {
  const isBinary = header.readUInt32BE(124) === 0x80_00_00_00;
  const octal = /^([0-7]{11})[\0 ]$/.exec(digits);
  const size = isBinary ? Number(header.readBigUInt64BE(128)) : Number.parseInt(octal?.[1] ?? '', 8);
  if (!Number.isSafeInteger(size)) throw new ArchiveRefused('The archive is damaged: a size is no number');
  return size;
}

/** Reads bytes from a stream of chunks. */
class ByteSource {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#chunks = source[Symbol.asyncIterator]();
  }

  /** At least one byte and at most `limit`. */
  async upTo(limit: number): Promise<Buffer> {
    while (this.#rest.length === 0) {
      const { done, value } = await this.#chunks.next();
      if (done) throw new ArchiveRefused('The archive is incomplete: it ends too early');
      this.#rest = value;
    }
    const taken = this.#rest.subarray(0, limit);
    this.#rest = this.#rest.subarray(taken.length);
    return taken;
  }

  async exactly(length: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let left = length; left > 0; left -= parts.at(-1)!.length) parts.push(await this.upTo(left));
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  }

  /** Reads the rest: some writers fill the last record with zeros. */
  async requireOnlyZeros(): Promise<void> {
    for (;;) {
      if (this.#rest.some((byte) => byte !== 0)) throw new ArchiveRefused('The archive has something behind its end');
      const { done, value } = await this.#chunks.next();
      if (done) return;
      this.#rest = value;
    }
  }
}
