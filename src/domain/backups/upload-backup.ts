import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { App } from '../../core/app.ts';
import { refusal } from '../../core/errors.ts';
import { withWorkFolder } from './folder.ts';
import { type RestoreOptions, type RestoreResult, restoreBackup } from './restore-backup.ts';

const filenameRequired = refusal('filename_required', 400, 'Filename is required');
export const fileTypeRefused = refusal('file_type_refused', 400, 'Invalid file type. Allowed: .tar.gz, .json, .json.gz, .tar');
export const invalidFilename = refusal('invalid_filename', 400, 'Invalid filename');
export const fileTooLarge = refusal('file_too_large', 413, 'File too large. Maximum size: <n>MB');

const EXTENSIONS = ['.tar.gz', '.json', '.json.gz', '.tar'];

/**
 * Restores an archive that comes with the request, and deletes it. It is written to the disk as it arrives, up to `BACKUP_UPLOAD_MAX_MB`.
 * @param filename as the client named it, without folders
 * @throws AppError 400 the name; 413 a larger file
 */
export async function restoreUpload(
  app: App,
  filename: string,
  content: Readable,
  options: RestoreOptions,
): Promise<RestoreResult> {
  requireName(filename);
  return withWorkFolder(app, async (folder) => {
    const path = join(folder, 'uploaded');
    await receive(content, path, app.env.backups.uploadMaxBytes);
    return restoreBackup(app, path, options);
  });
}

function requireName(filename: string): void {
  if (filename === '') throw filenameRequired();
  if (!EXTENSIONS.some((extension) => filename.toLowerCase().endsWith(extension))) {
    throw fileTypeRefused({ detail: `Invalid file type. Allowed: ${EXTENSIONS.join(', ')}` });
  }
  if (!/^[\p{L}\p{N}][\p{L}\p{N} ._()-]{0,199}$/u.test(filename)) throw invalidFilename();
}

async function receive(content: Readable, path: string, maxBytes: number): Promise<void> {
  let length = 0;
  const limited = async function* (source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      length += chunk.length;
      if (length > maxBytes) throw fileTooLarge({ detail: `File too large. Maximum size: ${maxBytes / 1024 / 1024}MB` });
      yield chunk;
    }
  };
  await pipeline(content, limited, createWriteStream(path, { mode: 0o600 }));
}
