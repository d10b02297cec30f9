/** Reads a `multipart/form-data` request into fields and one file. Called only after the procedure's guards have passed. */
import type { FastifyRequest } from 'fastify';
import type { UploadedFile } from '../core/http/uploads.ts';

export type FormFields = Record<string, string | string[] | UploadedFile>;

const MAX_FIELDS = 50;

/**
 * Files under other names than `fileKey` are read and dropped.
 * @param maxBytes limit of the file; a larger one makes the reader throw (answered as 413)
 */
export async function readForm(request: FastifyRequest, fileKey: string, maxBytes: number): Promise<FormFields> {
  const form: FormFields = Object.create(null);
  if (!request.isMultipart()) return form;
  const limits = { fileSize: maxBytes, files: 1, fields: MAX_FIELDS, fieldSize: 64 * 1024 };
  for await (const part of request.parts({ limits })) {
    if (part.type === 'file') {
      const content = await part.toBuffer();
      if (part.fieldname === fileKey) {
        form[fileKey] = { kind: 'upload', filename: baseName(part.filename), contentType: part.mimetype, content };
      }
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
