/** Sends what a procedure returned: always 200 with JSON, except downloads and redirects (spec 00, HTTP). */
import type { FastifyReply } from 'fastify';
import { type FileReply, isFileReply, isRedirectReply } from '../core/http/replies.ts';

/** The answer of an operation that returns nothing. */
const DONE = '{"success":true}';

/** @throws Error when the value cannot be JSON (a cycle, a bigint): a bug of the procedure */
export function sendJson(reply: FastifyReply, value: unknown): void {
  const text = value === undefined ? DONE : JSON.stringify(value);
  reply.header('content-type', 'application/json; charset=utf-8').send(text);
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
  reply
    .header('content-type', file.contentType)
    .header('content-disposition', contentDisposition(file.filename, file.inline === true));
  if (file.headers) reply.headers(file.headers);
  if (file.contentLength !== undefined) reply.header('content-length', file.contentLength);
  reply.send(file.body);
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
