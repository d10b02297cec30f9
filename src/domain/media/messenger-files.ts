import type { MessengerFiles } from '../messaging/ports.ts';
import { findFile, setMessengerFileId } from './repo.ts';

/** Ids of files as the messenger takes them: its own id where it has the file, else the content, which is uploaded once. */
export const messengerFiles: MessengerFiles = {
  resolve: async (app, fileId) => {
    const file = await findFile(app.db, fileId);
    if (!file) return { fileId };
    if (file.messengerFileId !== null) return { fileId: file.messengerFileId };
    const content = file.storageKey === null ? null : await app.ports.mediaStore.get(file.storageKey);
    if (!content) return { fileId };
    return { name: file.fileName ?? 'upload', contentType: file.mimeType ?? 'application/octet-stream', bytes: content };
  },
  remember: (app, fileId, messengerFileId) => setMessengerFileId(app.db, fileId, messengerFileId),
};
