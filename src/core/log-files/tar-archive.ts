import { createReadStream, createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

/** A file for an archive: its first `size` bytes. */
export interface ArchivedFile {
  /** At most 100 ASCII characters. */
  name: string;
  path: string;
  size: number;
  modifiedAt: Date;
}

const BLOCK = 512;
/** Larger sizes do not fit into the eleven octal digits. */
const MAX_OCTAL_SIZE = 8 ** 11;

/** Writes files as a tar archive (POSIX ustar), read and compressed in parts. @param compress with gzip */
export async function writeTar(target: string, files: readonly ArchivedFile[], compress: boolean): Promise<void> {
  const output = createWriteStream(target, { flags: 'w', mode: 0o640 });
  const archive = Readable.from(blocksOf(files), { objectMode: false });
  await (compress ? pipeline(archive, createGzip(), output) : pipeline(archive, output));
}

async function* blocksOf(files: readonly ArchivedFile[]): AsyncGenerator<Buffer> {
  for (const file of files) {
    yield header(file);
    let read = 0;
    if (file.size > 0) {
      for await (const chunk of createReadStream(file.path, { start: 0, end: file.size - 1 })) {
        read += (chunk as Buffer).length;
        yield chunk as Buffer;
      }
    }
    if (read !== file.size) throw new Error('a file became shorter while it was archived');
    const rest = file.size % BLOCK;
    if (rest > 0) yield Buffer.alloc(BLOCK - rest);
  }
  yield Buffer.alloc(2 * BLOCK);
}

function header({ name, size, modifiedAt }: ArchivedFile): Buffer {
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, digits: number) => block.write(value.toString(8).padStart(digits, '0'), at, 'ascii');
  block.write(name, 0, 100, 'ascii');
  octal(0o640, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  if (size < MAX_OCTAL_SIZE) octal(size, 124, 11);
  else {
    block.writeUInt8(0x80, 124);
    block.writeBigUInt64BE(BigInt(size), 128);
  }
  octal(Math.floor(modifiedAt.getTime() / 1000), 136, 11);
  // The sum is made with blanks in its place.
  block.write('        0', 148, 'ascii');
  block.write('ustar\x0000', 257, 'latin1');
  octal(
    block.reduce((sum, byte) => sum + byte, 0),
    148,
    6,
  );
  block.write('\0 ', 154, 'latin1');
  return block;
}
