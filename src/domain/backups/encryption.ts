import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { ArchiveRefused } from './types.ts';

/**
 * Encryption of an archive with the operator's password. A zip with AES has no authentication of the whole, so that a shortened or
 * rearranged one would be found only later; this is the STREAM construction instead, which any language with AES-256-GCM and scrypt reads:
 *
 *     magic (8 bytes) | salt (16) | nonce prefix (7) | chunks
 *     key = scrypt(password, salt, N = 2^15, r = 8, p = 1), 32 bytes
 *     chunk = AES-256-GCM of up to 65,536 bytes | tag (16); nonce = prefix | number (4, big endian) | 1 in the last chunk, else 0
 *     additional data of every chunk = the first 31 bytes of the file
 *
 * Every chunk but the last is full, so chunks can neither be left out, exchanged nor cut off without notice.
 */

const MAGIC = Buffer.from('SBKAES1\n', 'latin1');
const SALT = 16;
const PREFIX = 7;
const HEAD = MAGIC.length + SALT + PREFIX;
const CHUNK = 65_536;
const TAG = 16;

const derive = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(scrypt);
const keyOf = (password: string, salt: Buffer) =>
  derive(password.normalize('NFC'), salt, 32, { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 });

/** Whether a file that begins like this is encrypted. */
export const isEncrypted = (beginning: Buffer): boolean => beginning.subarray(0, MAGIC.length).equals(MAGIC);

function nonceOf(prefix: Buffer, number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  prefix.copy(nonce);
  nonce.writeUInt32BE(number, PREFIX);
  nonce.writeUInt8(isLast ? 1 : 0, 11);
  return nonce;
}

/** Chunks of exactly `size` bytes; the last one is shorter, or as long, or empty when there is nothing at all. */
async function* sized(source: AsyncIterable<Buffer>, size: number): AsyncGenerator<{ chunk: Buffer; isLast: boolean }> {
  let parts: Buffer[] = [];
  let length = 0;
  for await (const given of source) {
    let rest = given;
    while (rest.length > 0) {
      // A full chunk is given only when more follows, because the last one is marked.
      if (length === size) {
        yield { chunk: Buffer.concat(parts), isLast: false };
        parts = [];
        length = 0;
      }
      const taken = rest.subarray(0, size - length);
      parts.push(taken);
      length += taken.length;
      rest = rest.subarray(taken.length);
    }
  }
  yield { chunk: Buffer.concat(parts), isLast: true };
}

export async function* encrypted(source: AsyncIterable<Buffer>, password: string): AsyncGenerator<Buffer> {
  const [salt, prefix] = [randomBytes(SALT), randomBytes(PREFIX)];
  const head = Buffer.concat([MAGIC, salt, prefix]);
  const key = await keyOf(password, salt);
  yield head;
  let number = 0;
  for await (const { chunk, isLast } of sized(source, CHUNK)) {
    const cipher = createCipheriv('aes-256-gcm', key, nonceOf(prefix, number, isLast)).setAAD(head);
    yield Buffer.concat([cipher.update(chunk), cipher.final(), cipher.getAuthTag()]);
    number += 1;
  }
}

/** @param source begins with the magic bytes @throws ArchiveRefused when the password is another one, or something was changed or is missing */
export async function* decrypted(source: AsyncIterable<Buffer>, password: string | null): AsyncGenerator<Buffer> {
  if (password === null) throw new ArchiveRefused('The archive is encrypted, and BACKUP_ARCHIVE_PASSWORD is not set');
  const iterator = source[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  while (head.length < HEAD) {
    const { done, value } = await iterator.next();
    if (done) throw new ArchiveRefused('The archive is incomplete: it ends too early');
    head = Buffer.concat([head, value]);
  }
  const rest = head.subarray(HEAD);
  head = head.subarray(0, HEAD);
  const key = await keyOf(password, head.subarray(MAGIC.length, MAGIC.length + SALT));
  const prefix = head.subarray(MAGIC.length + SALT);
  const remaining = async function* (): AsyncGenerator<Buffer> {
    yield rest;
    yield* { [Symbol.asyncIterator]: () => iterator };
  };
  let number = 0;
  for await (const { chunk, isLast } of sized(remaining(), CHUNK + TAG)) {
    if (chunk.length < TAG) throw new ArchiveRefused('The archive is incomplete: it ends too early');
    const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(prefix, number, isLast)).setAAD(head);
    decipher.setAuthTag(chunk.subarray(chunk.length - TAG));
    const text = decipher.update(chunk.subarray(0, chunk.length - TAG));
    try {
      decipher.final();
    } catch (error) {
      throw new ArchiveRefused(
        number === 0 ? 'The archive is encrypted with another password, or damaged' : 'The archive is damaged or incomplete',
        { cause: error },
      );
    }
    yield text;
    number += 1;
  }
}
