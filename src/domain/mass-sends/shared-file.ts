import type { App } from '../../core/app.ts';
import type { MessengerFile } from '../messaging/ports.ts';
import { rememberFile } from '../messaging/send-message.ts';

/**
 * The file of a mass send. Its content is uploaded with one message; the others wait for the messenger's id of it. When that message
 * fails, the next one uploads it.
 */
export class SharedFile {
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
      await rememberFile(this.#app, this.#fileId, sent.fileId);
    }
    return sent;
  }
}
