import type { App } from '../../core/app.ts';
import { attemptSend } from '../mass-sends/outcome.ts';
import { SharedFile } from '../mass-sends/shared-file.ts';
import type { ClaimedRecipient, Deliver, SendOutcome } from '../mass-sends/types.ts';
import type { MediaKind, MessengerButton } from '../messaging/ports.ts';
import { repairedHtml } from '../messaging/sendable-html.ts';
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
    return { buttons };
  };
  const { mediaType, mediaFileId } = broadcast;
  // Unlike other texts of operators, that of a broadcast is stored as it is, and one `<` would lose it for everybody.
  const html = repairedHtml(
    (mediaFileId === null ? broadcast.messageText : captionOf(broadcast)) ?? '',
    app.ports.messenger.markup,
  );
  const file = mediaType !== null && mediaFileId !== null ? new SharedFile(app, mediaFileId) : null;
  return async ({ messengerId, language }: ClaimedRecipient): Promise<SendOutcome> => {
    if (messengerId === null) return { state: 'failed' };
    const options = optionsFor(language);
    if (file === null) {
      return attemptSend((isPaced) => app.ports.messenger.sendMessage(messengerId, html, { ...options, isPaced }));
    }
    return attemptSend((isPaced) =>
      file.use(async (content) => {
        const sent = await app.ports.messenger.sendFile(messengerId, mediaType as MediaKind, content, html, {
          ...options,
          isPaced,
        });
        return { messageId: sent.messageId, fileId: sent.fileId };
      }),
    );
  };
}
