import type { Readable } from 'node:stream';

/** A file that came with a `multipart/form-data` request, as a procedure sees it. */
export interface UploadedFile {
  kind: 'upload';
  /** As the client named it: never a path, but otherwise untrusted. */
  filename: string;
  /** As the client declared it: untrusted. */
  contentType: string;
  content: Buffer;
  /** Only the beginning arrived, because the file is larger than the operation's limit (`givesBeginning`). */
  isTruncated: boolean;
}

/** For schemas: `z.custom<UploadedFile>(isUploadedFile)`. A JSON look-alike does not pass. */
export function isUploadedFile(value: unknown): value is UploadedFile {
  return (
    typeof value === 'object' &&
    value !== null &&
    'kind' in value &&
    value.kind === 'upload' &&
    'content' in value &&
    Buffer.isBuffer(value.content)
  );
}

/** A file that the operation reads while it arrives, because it may be larger than memory. Only one that is read to its end gets an answer. */
export interface StreamedFile {
  kind: 'stream';
  /** As the client named it: never a path, but otherwise untrusted. */
  filename: string;
  content: Readable;
}

/** For schemas: `z.custom<StreamedFile>(isStreamedFile)`. */
export function isStreamedFile(value: unknown): value is StreamedFile {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'stream' && 'content' in value;
}
