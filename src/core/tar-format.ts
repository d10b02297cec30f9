/** What is written around the files of a tar archive (POSIX ustar): plain files with short names. */

/** Bytes of a header; contents are padded to its multiples. */
export const TAR_BLOCK = 512;
const MAX_OCTAL_SIZE = 0o77777777777;

/** Header of a plain file; ASCII names of at most 100 characters. */
export function tarHeader(name: string, size: number, modifiedAt: Date): Buffer {
  if (!/^[\x20-\x7e]{1,100}$/.test(name)) throw new Error(`not a name of a member: ${name}`);
  const header = Buffer.alloc(TAR_BLOCK);
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
  octal(tarChecksum(header), 148, 7);
  header.write(' ', 155, 'latin1');
  return header;
}

/** What follows a content up to the next header. */
export const tarPadding = (size: number): Buffer => Buffer.alloc((TAR_BLOCK - (size % TAR_BLOCK)) % TAR_BLOCK);

/** The end of an archive. */
export const tarEnd = (): Buffer => Buffer.alloc(2 * TAR_BLOCK);

/** The sum of the header's bytes, its own field counted as blanks. */
export function tarChecksum(header: Buffer): number {
  let sum = 0;
  for (let at = 0; at < TAR_BLOCK; at++) sum += at >= 148 && at < 156 ? 0x20 : header[at]!;
  return sum;
}
