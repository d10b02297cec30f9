/** Reads a `multipart/form-data` request into fields and one file. Called only after the procedure's guards have passed. */
import type { FastifyRequest } from 'fastify';
import { isAppError } from '../core/errors.ts';
import { bodyTooLarge, malformedForm, tooManyParts } from '../core/http/request-refusals.ts';
import type { StreamedFile, UploadedFile } from '../core/http/uploads.ts';
import type { WireHints } from '../routers/operation-meta.ts';

export type FormFields = Record<string, string | string[] | UploadedFile | StreamedFile>;

const MAX_FIELDS = 50;
/** What the parser says of a form with more parts than it may have. */
const TOO_MANY_PARTS: ReadonlySet<unknown> = new Set(['FST_FILES_LIMIT', 'FST_FIELDS_LIMIT', 'FST_PARTS_LIMIT']);

/**
 * Files under other names than `fileKey` are read and dropped. No more than `maxBytes` of a file are kept in memory; what comes behind them is
 * read and dropped, so that the client gets an answer, for as long as a request may last. Such a file makes the reader throw (413) or, where
 * the operation wants its beginning, ends the reading: fields behind it are not read.
 * @throws AppError 400 for what is no form, or ends before its end; 413
 */
export async function readForm(request: FastifyRequest, hints: NonNullable<WireHints['multipart']>): Promise<FormFields> {
  try {
    return await readParts(request, hints);
  } catch (error) {
    if (TOO_MANY_PARTS.has((error as { code?: unknown }).code)) {
      throw tooManyParts({ detail: `The form has too many parts. Maximum: one file and ${MAX_FIELDS} fields`, cause: error });
    }
    // The parser states what it refuses; everything else is a form that it cannot read, or a client that went away.
    if (isAppError(error) || Number((error as { statusCode?: unknown }).statusCode) < 500) throw error;
    throw malformedForm({ cause: error });
  }
}

async function readParts(
  request: FastifyRequest,
  { fileKey, maxBytes, givesBeginning = false, tooLarge, streams = false }: NonNullable<WireHints['multipart']>,
): Promise<FormFields> {
  const form: FormFields = Object.create(null);
  if (!request.isMultipart()) return form;
  const limits = { fileSize: maxBytes, files: 1, fields: MAX_FIELDS, fieldSize: 64 * 1024 };
  for await (const part of request.parts({ limits })) {
    if (part.type === 'file' && part.fieldname === fileKey && streams) {
      // Not by `for await`, which would wait for the end of the file.
      form[fileKey] = { kind: 'stream', filename: baseName(part.filename), content: part.file };
      return form;
    }
    if (part.type === 'file') {
      const content = await part.toBuffer();
      if (part.fieldname === fileKey) {
        const { mimetype: contentType, filename, file } = part;
        form[fileKey] = { kind: 'upload', filename: baseName(filename), contentType, content, isTruncated: file.truncated };
      }
      if (part.file.truncated && tooLarge) throw tooLarge();
      if (part.file.truncated && !givesBeginning) throw bodyTooLarge();
      if (part.file.truncated) return form;
      continue;
    }
    const value = String(part.value);
    const before = form[part.fieldname];
    form[part.fieldname] = typeof before === 'string' ? [before, value] : Array.isArray(before) ? [...before, value] : value;
  }
  return form;
}

/** Some clients send a whole path; it must not lead outside a folder. */
function baseName(filename: string | undefined): string {
  return (filename ?? '').replace(/^.*[/\\]/s, '').replaceAll('\0', '');
}
