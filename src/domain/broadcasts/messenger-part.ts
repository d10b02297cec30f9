import type { App } from '../../core/app.ts';
import { attemptSend } from '../mass-sends/outcome.ts';
import type { ClaimedRecipient, Deliver, SendOutcome } from '../mass-sends/types.ts';
import type { MediaKind, MessengerButton, MessengerFile } from '../messaging/ports.ts';
import { knownLanguage } from '../messaging/texts.ts';
import { keyboardOf } from './keyboard.ts';
import { captionOf } from './rules.ts';
import type { BroadcastRow } from './types.ts';

/** Sends a broadcast through the messenger: one text or file, with the buttons in the recipient's language. Null without a messenger. */
export function messengerPart(app: App, broadcast: BroadcastRow): Deliver | null {
  if (!app.ports.messenger.isConfigured()) return null;
  const keyboards = new Map<string, MessengerButton[][]>();
  const optionsFor = (language: string | null) => {
    const known = knownLanguage(language);
    const buttons = keyboards.get(known) ?? keyboardOf(app, broadcast, known);
    keyboards.set(known, buttons);
    return { buttons, isPaced: true };
  };
  const { mediaType, mediaFileId } = broadcast;
  const file = mediaType !== null && mediaFileId !== null ? new SharedFile(app, mediaFileId) : null;
  return async ({ messengerId, language }: ClaimedRecipient): Promise<SendOutcome> => {
    if (messengerId === null) return { state: 'failed' };
    const options = optionsFor(language);
    if (file === null) {
      return attemptSend(() => app.ports.messenger.sendMessage(messengerId, broadcast.messageText ?? '', options));
    }
    const caption = captionOf(broadcast);
    return attemptSend(() =>
      file.use(async (content) => {
        const sent = await app.ports.messenger.sendFile(messengerId, mediaType as MediaKind, content, caption, options);
        return { messageId: sent.messageId, fileId: sent.fileId };
      }),
    );
  };
}

/**
 * The file of a broadcast. Its content is uploaded with one message; the others wait for the messenger's id of it. When that message
 * fails, the next one uploads it.
 */
class SharedFile {
  readonly #app: App;
  readonly #fileId: string;
  #known: { fileId: string } | null = null;
  #upload: Promise<unknown> | null = null;

  constructor(app: App, fileId: string) {
    this.#app = app;
    this.#fileId = fileId;
  }

  async use<T extends { fileId: string | null }>(send: (content: MessengerFile) => Promise<T>): Promise<T> {
    while (this.#upload) await this.#upload.catch(() => undefined);
    if (this.#known) return send(this.#known);
    const first = this.#sendFirst(send);
    this.#upload = first;
    try {
      return await first;
    } finally {
      this.#upload = null;
    }
  }

  async #sendFirst<T extends { fileId: string | null }>(send: (content: MessengerFile) => Promise<T>): Promise<T> {
    const content = await this.#app.ports.messengerFiles.resolve(this.#app, this.#fileId);
    const sent = await send(content);
    if ('fileId' in content) this.#known = content;
    else if (sent.fileId !== null) {
      this.#known = { fileId: sent.fileId };
      await this.#app.ports.messengerFiles.remember(this.#app, this.#fileId, sent.fileId);
    }
    return sent;
  }
}
