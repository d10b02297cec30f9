import { ArchiveRefused } from './types.ts';

/**
 * Tar as our archives use it: plain files with short names, nothing else. What a general reader accepts (links, devices, folders, long
 * names in members of their own, sparse files) is refused here, and no header can make the reader keep more than 512 bytes.
 */

const BLOCK = 512;
const MAX_OCTAL_SIZE = 0o77777777777;

/** Header of a plain file; ASCII names of at most 100 characters. */
export function tarHeader(name: string, size: number, modifiedAt: Date): Buffer {
  if (!/^[\x20-\x7e]{1,100}$/.test(name)) throw new Error(`not a name of a member: ${name}`);
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, length: number) =>
    header.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at, 'latin1');
  header.write(name, 0, 'latin1');
  octal(0o600, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  if (size <= MAX_OCTAL_SIZE) octal(size, 124, 12);
  else {
    // Beyond 8 GiB: base 256, marked by the first bit.
    header.writeUInt8(0x80, 124);
    header.writeBigUInt64BE(BigInt(size), 128);
  }
  octal(Math.floor(modifiedAt.getTime() / 1000), 136, 12);
  header.write('0', 156, 'latin1');
  header.write('ustar\x0000', 257, 'latin1');
  octal(checksumOf(header), 148, 7);
  header.write(' ', 155, 'latin1');
  return header;
}

/** What follows a content up to the next header. */
export const tarPadding = (size: number): Buffer => Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);

/** The end of an archive. */
export const tarEnd = (): Buffer => Buffer.alloc(2 * BLOCK);

/** The sum of the header's bytes, its own field counted as blanks. */
function checksumOf(header: Buffer): number {
  let sum = 0;
  for (let at = 0; at < BLOCK; at++) sum += at >= 148 && at < 156 ? 0x20 : header[at]!;
  return sum;
}

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
    const header = await bytes.exactly(BLOCK);
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
    await bytes.exactly(tarPadding(size).length);
  }
  const second = await bytes.exactly(BLOCK);
  if (second.some((byte) => byte !== 0)) throw new ArchiveRefused('The archive is damaged: it does not end as it should');
  await bytes.requireZeros();
}

function readHeader(header: Buffer): { name: string; size: number } {
  const text = (at: number, length: number) => header.toString('latin1', at, at + length).replace(/\0.*$/s, '');
  const stored = Number.parseInt(text(148, 8).trim(), 8);
  if (stored !== checksumOf(header)) throw new ArchiveRefused('The archive is damaged or no tar archive');
  const type = header.toString('latin1', 156, 157);
  const name = text(0, 100);
  if (text(345, 155) !== '' || (type !== '0' && type !== '\0')) {
    throw new ArchiveRefused('The archive has a member that is not a plain file; backups of this service have none');
  }
  return { name, size: sizeOf(header, text(124, 12)) };
}

function sizeOf(header: Buffer, octal: string): number {
  const size = (header[124]! & 0x80) !== 0 ? Number(header.readBigUInt64BE(128)) : Number.parseInt(octal.trim(), 8);
  if (!Number.isSafeInteger(size) || size < 0) throw new ArchiveRefused('The archive is damaged: a size is no number');
  return size;
}

/** Takes bytes out of a stream of chunks. */
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
  async requireZeros(): Promise<void> {
    for (;;) {
      if (this.#rest.some((byte) => byte !== 0)) throw new ArchiveRefused('The archive has something behind its end');
      const { done, value } = await this.#chunks.next();
      if (done) return;
      this.#rest = value;
    }
  }
}
