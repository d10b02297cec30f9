import { mkdtemp, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { App } from '../../src/core/app.ts';
import { addDays } from '../../src/core/clock.ts';
import type { MediaStore, StoredContent } from '../../src/domain/media/ports.ts';
import { uploadAsToken } from '../../src/domain/media/upload-media.ts';
import { folderStore } from '../../src/integrations/media-storage/folder-store.ts';
import { unique } from './builders.ts';
import { aPng } from './media-samples.ts';

/** A storage of a test of its own, whose contents are older than they are. */
export async function anOldStore(): Promise<{
  store: MediaStore;
  folder: string;
  keys(): Promise<string[]>;
  remove(): Promise<void>;
}> {
  const folder = await mkdtemp(join(tmpdir(), 'media-purge-'));
  const store = folderStore(folder);
  return {
    store: {
      ...store,
      put: async (key, content, mime) => {
        await store.put(key, content, mime);
        const before = addDays(new Date(), -2);
        await utimes(join(folder, key.slice(0, 2), key), before, before);
      },
    },
    folder,
    keys: async () => (await allOf(store.list())).map(({ key }) => key).sort(),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

export async function allOf(contents: AsyncIterable<StoredContent>): Promise<StoredContent[]> {
  const all: StoredContent[] = [];
  for await (const content of contents) all.push(content);
  return all;
}

/** An upload of an API token, made `days` days before the clock of the app. */
export async function anUpload(app: App, days: number): Promise<{ fileId: string; storageKey: string }> {
  const upload = { kind: 'photo', filename: `${unique()}.png`, content: aPng(), caption: null };
  const { file } = await uploadAsToken(app, upload);
  await app.db.sql('UPDATE media_files SET created_at = $2::timestamptz WHERE file_id = $1 RETURNING file_id', [
    file.fileId,
    addDays(app.clock.now(), -days),
  ]);
  return { fileId: file.fileId, storageKey: file.storageKey! };
}

export async function isKnown(app: App, fileId: string): Promise<boolean> {
  return (await app.db.sql('SELECT 1 AS found FROM media_files WHERE file_id = $1', [fileId])).length > 0;
}
