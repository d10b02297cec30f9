import { createReadStream, createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { tarEnd, tarHeader, tarPadding } from '../tar-format.ts';

/** A file for an archive: its first `size` bytes. */
export interface ArchivedFile {
  /** At most 100 ASCII characters. */
  name: string;
  path: string;
  size: number;
  modifiedAt: Date;
}

/** Writes files as a tar archive (POSIX ustar), read and compressed in parts. @param compress with gzip */
export async function writeTar(target: string, files: readonly ArchivedFile[], compress: boolean): Promise<void> {
  const output = createWriteStream(target, { flags: 'w', mode: 0o640 });
  const archive = Readable.from(blocksOf(files), { objectMode: false });
  await (compress ? pipeline(archive, createGzip(), output) : pipeline(archive, output));
}

async function* blocksOf(files: readonly ArchivedFile[]): AsyncGenerator<Buffer> {
  for (const file of files) {
    yield tarHeader(file.name, file.size, file.modifiedAt);
    let read = 0;
    if (file.size > 0) {
      for await (const chunk of createReadStream(file.path, { start: 0, end: file.size - 1 })) {
        read += (chunk as Buffer).length;
        yield chunk as Buffer;
      }
    }
    if (read !== file.size) throw new Error('a file became shorter while it was archived');
    yield tarPadding(file.size);
  }
  yield tarEnd();
}
