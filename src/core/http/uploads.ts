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
