import { isAscii, isUtf8 } from 'node:buffer';
import type { FileHandle } from 'node:fs/promises';

/** Bytes read at once while characters are counted. */
const CHUNK_BYTES = 256 * 1024;
/** Longest encoding of a character. */
const MAX_CHARACTER_BYTES = 4;

/** Text of UTF-8 bytes; bytes that are none are dropped. */
export function textOf(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes).replaceAll('\ufffd', '');
}

/** The characters of a text: each code point is one. */
export function countCodePoints(text: string): number {
  let pairs = 0;
  for (let at = 0; at < text.length; at++) {
    const isPair = (text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
    if (isPair) {
      pairs++;
      at++;
    }
  }
  return text.length - pairs;
}

/** The first `size` bytes of a file, which may grow meanwhile; fewer when it has become shorter. */
export async function readStart(file: FileHandle, size: number): Promise<Buffer> {
  return readRange(file, 0, size);
}

async function readRange(file: FileHandle, from: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, from + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

/** The last `limit` characters of the first `size` bytes of a file; reads only as much as they can take. */
export async function readTail(file: FileHandle, size: number, limit: number): Promise<string> {
  const from = Math.max(0, size - limit * MAX_CHARACTER_BYTES);
  const bytes = await readRange(file, from, size - from);
  // A character that begins before the range is not a part of it.
  let start = 0;
  while (from > 0 && start < MAX_CHARACTER_BYTES - 1 && isContinuation(bytes[start])) start++;
  const text = textOf(bytes.subarray(start));
  return lastCharacters(text, limit);
}

function lastCharacters(text: string, count: number): string {
  let at = text.length;
  for (let taken = 0; taken < count && at > 0; taken++) {
    at--;
    const isPair = at > 0 && (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;
    if (isPair) at--;
  }
  return text.slice(at);
}

/** How many characters `textOf` makes of the first `size` bytes of a file; it is read in parts, between which other work runs. */
export async function countCharactersOf(file: FileHandle, size: number): Promise<number> {
  let count = 0;
  let rest: Buffer = Buffer.alloc(0);
  for (let from = 0; from < size; ) {
    const read = await readRange(file, from, Math.min(CHUNK_BYTES, size - from));
    if (read.length === 0) break;
    from += read.length;
    const bytes = rest.length === 0 ? read : Buffer.concat([rest, read]);
    const end = from < size ? completeLength(bytes) : bytes.length;
    count += countIn(bytes.subarray(0, end));
    rest = bytes.subarray(end);
  }
  return count + countIn(rest);
}

function countIn(bytes: Buffer): number {
  if (isAscii(bytes)) return bytes.length;
  if (!isUtf8(bytes)) return countCodePoints(textOf(bytes));
  let continuations = 0;
  for (const byte of bytes) if (isContinuation(byte)) continuations++;
  return bytes.length - continuations;
}

/** Length without a character at the end whose other bytes follow. */
function completeLength(bytes: Buffer): number {
  for (let back = 1; back < MAX_CHARACTER_BYTES && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back]!;
    if (isContinuation(byte)) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
