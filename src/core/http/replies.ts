/** Answers of a procedure that are not JSON. The procedure's meta says `wire.reply`; REST turns the value into bytes or a redirect. */
import type { Readable } from 'node:stream';

/** A download (or, with `inline`, something a browser shows in place). */
export interface FileReply {
  kind: 'file';
  /** Name offered to the user; any characters, the header is encoded. */
  filename: string;
  /** Media type, e.g. `application/gzip`. */
  contentType: string;
  body: Buffer | Readable | RangedContent;
  /** Bytes of a stream, when known before. */
  contentLength?: number;
  inline?: boolean;
  /** A request for a range of its bytes is answered with 206; not for a stream. */
  acceptsRanges?: boolean;
  /** Version of the body, quoted: a request that has it already is answered with 304 and no body. */
  etag?: string;
  /** Further headers, e.g. `cache-control`; they are sent with a 304 as well. */
  headers?: Readonly<Record<string, string>>;
}

/** The first and the last byte, counted from 0. */
export interface ByteRange {
  first: number;
  last: number;
}

/** A content of which only what is sent is read. */
export interface RangedContent {
  /** Bytes of the whole. */
  size: number;
  /**
   * Called at most once, after which the stream is read to its end or destroyed. @param range within the content; null = the whole
   * @throws AppError when it cannot be read any more
   */
  open(range: ByteRange | null): Promise<Readable>;
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
