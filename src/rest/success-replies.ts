/** Sends what a procedure returned: always 200 with JSON, except downloads, redirects and what the client has already (spec 00, HTTP). */
import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { refuse } from '../core/errors.ts';
import { type FileReply, isFileReply, isRedirectReply } from '../core/http/replies.ts';
import { type ByteRange, readByteRange } from './byte-range.ts';

/** The answer of an operation that returns nothing. */
const DONE = '{"success":true}';

/** @throws Error when the value cannot be JSON (a cycle, a bigint): a bug of the procedure */
export function sendJson(reply: FastifyReply, value: unknown): void {
  const text = value === undefined ? DONE : JSON.stringify(value);
  reply.header('content-type', 'application/json; charset=utf-8').send(text);
}

/** For procedures with `wire.hasEtag`. The tag is a hash of the body, so it is the same on every instance. */
export function sendTagged(reply: FastifyReply, value: unknown): void {
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

/** For procedures with `wire.reply` other than `json`; an ordinary value is still JSON. */
export function sendSpecial(reply: FastifyReply, value: unknown): void {
  if (isRedirectReply(value)) {
    reply.code(302).header('location', asciiUrl(value.url)).send();
    return;
  }
  if (isFileReply(value)) {
    sendFile(reply, value);
    return;
  }
  sendJson(reply, value);
}

function sendFile(reply: FastifyReply, file: FileReply): void {
  const range = rangeOf(reply, file);
  if (file.headers) reply.headers(file.headers);
  if (file.etag !== undefined) reply.header('etag', file.etag);
  if (file.etag !== undefined && hasCurrent(reply, file.etag)) {
    reply.code(304).send();
    return;
  }
  reply
    .header('content-type', file.contentType)
    .header('content-disposition', contentDisposition(file.filename, file.inline === true));
  if (file.acceptsRanges) reply.header('accept-ranges', 'bytes');
  if (range) {
    reply.code(206).header('content-range', `bytes ${range.first}-${range.last}/${range.body.length}`);
    reply.send(range.body.subarray(range.first, range.last + 1));
    return;
  }
  if (file.contentLength !== undefined) reply.header('content-length', file.contentLength);
  reply.send(file.body);
}

/**
 * The part of the file that the client asks for, as players of videos do; null = all of it.
 * @throws AppError 416 when no byte of the file is in the range
 */
function rangeOf(reply: FastifyReply, { acceptsRanges, body, etag }: FileReply): (ByteRange & { body: Buffer }) | null {
  const { range, 'if-range': version } = reply.request.headers;
  if (!acceptsRanges || !Buffer.isBuffer(body) || (version !== undefined && version !== etag)) return null;
  const found = readByteRange(range, body.length);
  if (found !== 'unsatisfiable') return found && { ...found, body };
  throw refuse('range_not_satisfiable', 416, 'Range Not Satisfiable', {
    headers: { 'content-range': `bytes */${body.length}` },
  });
}

/** RFC 6266: an ASCII form for old clients, and the exact name for the others. */
export function contentDisposition(filename: string, inline: boolean): string {
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
