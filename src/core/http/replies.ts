/** Answers of a procedure that are not JSON. The procedure's meta says `wire.reply`; REST turns the value into bytes or a redirect. */
import type { Readable } from 'node:stream';

/** A download (or, with `inline`, something a browser shows in place). */
export interface FileReply {
  kind: 'file';
  /** Name offered to the user; any characters, the header is encoded. */
  filename: string;
  /** Media type, e.g. `application/gzip`. */
  contentType: string;
  body: Buffer | Readable;
  /** Bytes of a stream, when known before. */
  contentLength?: number;
  inline?: boolean;
  /** A request for a range of its bytes is answered with 206; only for a body that is a buffer. */
  acceptsRanges?: boolean;
  /** Version of the body, quoted: a request that has it already is answered with 304 and no body. */
  etag?: string;
  /** Further headers, e.g. `cache-control`; they are sent with a 304 as well. */
  headers?: Readonly<Record<string, string>>;
}

/** A 302 to another address. */
export interface RedirectReply {
  kind: 'redirect';
  /** Absolute URL or path. */
  url: string;
}

export function fileReply(reply: Omit<FileReply, 'kind'>): FileReply {
  return { kind: 'file', ...reply };
}

export function redirectReply(url: string): RedirectReply {
  return { kind: 'redirect', url };
}

export function isFileReply(value: unknown): value is FileReply {
  return isKind(value, 'file') && 'body' in value && 'contentType' in value;
}

export function isRedirectReply(value: unknown): value is RedirectReply {
  return isKind(value, 'redirect') && 'url' in value;
}

function isKind(value: unknown, kind: string): value is { kind: string } {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === kind;
}
