/** Sends what a procedure returned: always 200 with JSON, except downloads, redirects and what the client has already (spec 00, HTTP). */

import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { type ByteRange, type FileReply, isFileReply, isRedirectReply, type RangedContent } from '../core/http/http-client.ts';
import { rangeNotSatisfiable } from '../core/http/request-refusals.ts';
import { mountedUrl } from './interface-words/interface-words.ts';

/** The answer of an operation that returns nothing. */
const DONE = '{"success":true}';

/** @throws Error when the value cannot be JSON (a cycle, a bigint): a bug of the procedure */
export function sendJson(reply: FastifyReply, value: unknown): undefined {
  const words = reply.request.mount?.words;
  const text = value === undefined ? DONE : JSON.stringify(words === undefined ? value : words.answer(value));
  reply.header('content-type', 'application/json; charset=utf-8').send(text);
}

/** For procedures with `wire.hasEtag`. The tag is a hash of the body, so it is the same on every instance. */
export function sendTagged(reply: FastifyReply, value: unknown): undefined {
  const etag = `"${createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 22)}"`;
  reply.header('etag', etag);
  if (hasCurrent(reply, etag)) reply.code(304).send();
  else sendJson(reply, value);
}

/** Whether the client has this version already. Weak and strong tags are alike here (RFC 9110, section 13.1.2). */
function hasCurrent({ request }: FastifyReply, etag: string): boolean {
  const known = request.headers['if-none-match'];
  if (known === undefined) return false;
  return known.split(',').some((each) => each.trim() === '*' || each.trim().replace(/^W\//, '') === etag);
}

/**
 * For procedures with `wire.reply` other than `json`; an ordinary value is still JSON.
 * @returns a promise when the answer begins later; it rejects when nothing has been sent
 */
export function sendSpecial(reply: FastifyReply, value: unknown): Promise<void> | undefined {
  if (isRedirectReply(value)) {
    reply
      .code(302)
      .header('location', asciiUrl(mountedUrl(reply, value.url)))
      .send();
    return undefined;
  }
  if (isFileReply(value)) return sendFile(reply, value);
  sendJson(reply, value);
  return undefined;
}

function sendFile(reply: FastifyReply, file: FileReply): Promise<void> | undefined {
  const { body } = file;
  const range = rangeOf(reply, file);
  if (file.etag !== undefined && hasCurrent(reply, file.etag)) {
    if (file.headers) reply.headers(file.headers);
    reply.header('etag', file.etag).code(304).send();
    return undefined;
  }
  if (isRanged(body)) {
    // Opened first: a refusal has none of the headers of the file. A client that goes away ends the stream, and so the reading.
    return body.open(range).then((stream) => sendContent(reply, file, { range, size: body.size, content: stream }));
  }
  if (Buffer.isBuffer(body)) {
    const content = range ? body.subarray(range.first, range.last + 1) : body;
    sendContent(reply, file, { range, size: file.contentLength ?? body.length, content });
  } else sendContent(reply, file, { range: null, size: file.contentLength, content: body });
  return undefined;
}

function sendContent(
  reply: FastifyReply,
  file: FileReply,
  { range, size, content }: { range: ByteRange | null; size: number | undefined; content: Buffer | Readable },
): void {
  if (file.headers) reply.headers(file.headers);
  if (file.etag !== undefined) reply.header('etag', file.etag);
  reply
    .header('content-type', file.contentType)
    .header('content-disposition', contentDisposition(file.filename, file.inline === true));
  if (file.acceptsRanges) reply.header('accept-ranges', 'bytes');
  if (range) reply.code(206).header('content-range', `bytes ${range.first}-${range.last}/${size}`);
  const length = range ? range.last + 1 - range.first : size;
  if (length !== undefined) reply.header('content-length', length);
  reply.send(content);
}

function isRanged(body: FileReply['body']): body is RangedContent {
  return 'open' in body && 'size' in body;
}

/**
 * The part of the file that the client asks for, as players of videos do; null = all of it.
 * @throws AppError 416 when no byte of the file is in the range
 */
function rangeOf(reply: FastifyReply, { acceptsRanges, body, etag }: FileReply): ByteRange | null {
  const { range, 'if-range': version } = reply.request.headers;
  const size = Buffer.isBuffer(body) ? body.length : isRanged(body) ? body.size : null;
  if (!acceptsRanges || size === null || (version !== undefined && version !== etag)) return null;
  const found = readByteRange(range, size);
  if (found !== 'unsatisfiable') return found;
  throw rangeNotSatisfiable({ headers: { 'content-range': `bytes */${size}` } });
}

/** RFC 6266: an ASCII form for old clients, and the exact name for the others. */
function contentDisposition(filename: string, inline: boolean): string {
  const kind = inline ? 'inline' : 'attachment';
  const plain = filename.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  if (plain === filename) return `${kind}; filename="${plain}"`;
  const exact = encodeURIComponent(filename.toWellFormed()).replace(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${kind}; filename="${plain}"; filename*=UTF-8''${exact}`;
}

/** Node refuses header values beyond Latin-1 and line breaks; an address may have both. What is escaped already stays. */
function asciiUrl(url: string): string {
  return url.toWellFormed().replace(/[^\x21-\x7e]+/g, encodeURIComponent);
}

const SINGLE = /^\s*bytes\s*=\s*(\d{0,15})\s*-\s*(\d{0,15})\s*$/i;

/**
 * Reads a `Range` header (RFC 9110 section 14). Several ranges, other units and what is no range are ignored, as the RFC allows.
 * @param size bytes of the whole
 * @returns null = the whole; `unsatisfiable` = no byte of it
 */
function readByteRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | null {
  const [, from = '', to = ''] = SINGLE.exec(header ?? '') ?? [];
  if (from === '' && to === '') return null;
  if (from === '') {
    const count = Number(to);
    return count === 0 || size === 0 ? 'unsatisfiable' : { first: Math.max(0, size - count), last: size - 1 };
  }
  const first = Number(from);
  if (to !== '' && Number(to) < first) return null;
  if (first >= size) return 'unsatisfiable';
  return { first, last: to === '' ? size - 1 : Math.min(Number(to), size - 1) };
}
