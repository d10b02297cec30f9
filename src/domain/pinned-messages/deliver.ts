import type { App } from '../../core/app.ts';
import { attemptSend } from '../mass-sends/outcome.ts';
import { SharedFile } from '../mass-sends/shared-file.ts';
import { storeResult } from '../mass-sends/store-result.ts';
import type { SendOutcome } from '../mass-sends/types.ts';
import { sendableHtml } from '../messaging/sendable-html.ts';
import { findDelivery, type Occasion, recordDelivery, setPinned } from './delivery-repo.ts';
import type { PinnedDelivery, PinnedMessage } from './types.ts';

/** Puts the message into a chat, without a sound and not pinned yet. A leased time is that of the first attempt. */
export type SendPinned = (chatId: number, isFirst: boolean) => Promise<{ messageId: number }>;

/** @param isLeased the caller has leased the time of each message */
export function senderOf(app: App, message: PinnedMessage, isLeased: boolean): SendPinned {
  const { messenger } = app.ports;
  const { mediaType, mediaFileId } = message;
  const html = sendableHtml(message.content, messenger.markup);
  const options = (isFirst: boolean) => ({ isSilent: true, isPaced: isLeased && isFirst });
  if (mediaType === null || mediaFileId === null)
    return (chatId, isFirst) => messenger.sendMessage(chatId, html, options(isFirst));
  const file = new SharedFile(app, mediaFileId);
  return (chatId, isFirst) => file.use((content) => messenger.sendFile(chatId, mediaType, content, html, options(isFirst)));
}

interface Addressee {
  userId: number;
  chatId: number;
}

/**
 * Sends a pinned message to one user and pins it in the place of the one before (spec 05 section 4). The message is stored before it is
 * pinned: what repeats the occasion, because pinning failed or the process ended, pins the message that is there and sends nothing.
 * Other pins of the chat are left alone.
 * @param occasion a repetition is recognised by it
 */
export async function deliverPinned(
  app: App,
  { userId, chatId }: Addressee,
  { message, send, occasion }: { message: Pick<PinnedMessage, 'id'>; send: SendPinned; occasion: Occasion },
): Promise<SendOutcome> {
  const stored = await findDelivery(app.db, userId);
  // A message in the chat of a messenger account that the user had before is out of reach.
  const before = stored?.chatId === chatId ? stored : null;
  if (before && isOf(before, occasion)) {
    return before.isPinned ? { state: 'sent', messageId: before.messageId } : pin(app, before);
  }
  if (before?.isPinned) {
    const unpinned = await unpin(app, before);
    if (unpinned.state === 'blocked' || unpinned.state === 'unsent') return unpinned;
  }
  const outcome = await attemptSend((isFirst) => send(chatId, isFirst));
  if (outcome.state !== 'sent' || outcome.messageId === null) return outcome;
  const delivery = { userId, chatId, messageId: outcome.messageId };
  const now = app.clock.now();
  await storeResult(() => recordDelivery(app.db, { ...delivery, pinnedMessageId: message.id, occasion }, now));
  return pin(app, delivery);
}

function isOf({ sendId, updateId }: PinnedDelivery, occasion: Occasion): boolean {
  return 'sendId' in occasion ? sendId === occasion.sendId : updateId === occasion.updateId;
}

type PlacedMessage = Pick<PinnedDelivery, 'userId' | 'chatId' | 'messageId'>;

async function pin(app: App, placed: PlacedMessage): Promise<SendOutcome> {
  const { chatId, messageId } = placed;
  const { messenger } = app.ports;
  const outcome = await attemptSend(
    async () => {
      await messenger.pinMessage(chatId, messageId);
      return { messageId };
    },
    { isRepeatable: true },
  );
  if (outcome.state !== 'sent') return outcome;
  const isLast = await storeResult(() => setPinned(app.db, placed, true));
  // A chat start and a broadcast met: the message that came second is the one that stays.
  if (!isLast) await attemptUnpin(app, placed);
  return outcome;
}

/**
 * Unpins our message in the chat of a user.
 * @returns `failed` where the messenger refuses it, because the user has deleted or unpinned the message: then it is not pinned either
 */
export async function unpin(app: App, placed: PlacedMessage): Promise<SendOutcome> {
  const outcome = await attemptUnpin(app, placed);
  if (outcome.state === 'sent' || outcome.state === 'failed') await storeResult(() => setPinned(app.db, placed, false));
  return outcome;
}

function attemptUnpin(app: App, { chatId, messageId }: PlacedMessage): Promise<SendOutcome> {
  return attemptSend(
    async () => {
      await app.ports.messenger.unpinMessage(chatId, messageId);
      return { messageId };
    },
    { isRepeatable: true },
  );
}
