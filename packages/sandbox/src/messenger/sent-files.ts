import { randomBytes } from 'node:crypto';
import type { SentFile } from './form-body.ts';

/** Files whose content is kept; an older one is known by its id only. */
const MAX_FILES = 30;

export interface StoredFile extends SentFile {
  fileId: string;
  fileUniqueId: string;
}

/** Content of sent files, in memory: they are lost with the process, their ids are not. */
export class SentFiles {
  readonly #byUniqueId = new Map<string, StoredFile>();

  keep(file: SentFile): StoredFile {
    const fileUniqueId = `AQAD${randomBytes(9).toString('base64url')}`;
    const stored = { ...file, fileId: `AgACAgIAAxkB${randomBytes(12).toString('base64url')}${fileUniqueId}`, fileUniqueId };
    this.#byUniqueId.set(fileUniqueId, stored);
    const oldest = this.#byUniqueId.keys().next().value;
    if (this.#byUniqueId.size > MAX_FILES && oldest !== undefined) this.#byUniqueId.delete(oldest);
    return stored;
  }

  byUniqueId(id: string): StoredFile | null {
    return this.#byUniqueId.get(id) ?? null;
  }
}
