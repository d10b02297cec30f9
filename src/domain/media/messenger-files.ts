import type { App } from '../../core/app.ts';
import { MessengerError, type MessengerFiles } from '../messaging/ports.ts';
import { findFile, setMessengerFileId } from './repo.ts';

/** Ids of files as the messenger takes them: its own id where it has the file, else the content, which is uploaded once. */
export const messengerFiles: MessengerFiles = {
  resolve: async (app, fileId) => {
    const file = await findFile(app.db, fileId);
    if (!file) return { fileId };
    if (file.messengerFileId !== null) return { fileId: file.messengerFileId };
    const content = file.storageKey === null ? null : await readStored(app, file.storageKey);
    if (!content) return { fileId };
    return { name: file.fileName ?? 'upload', contentType: file.mimeType ?? 'application/octet-stream', bytes: content };
  },
  remember: (app, fileId, messengerFileId) => setMessengerFileId(app.db, fileId, messengerFileId),
};

/** Without its file a message is certainly not sent: whoever sends it treats an absent storage like an absent messenger. */
async function readStored(app: App, storageKey: string): Promise<Buffer | null> {
  try {
    return await app.ports.mediaStore.get(storageKey);
  } catch (error) {
    throw new MessengerError({ kind: 'unavailable' }, 'The storage of files does not answer', { cause: error });
  }
}
