import type { App } from '../../core/app.ts';
import { isSignInUpdate } from '../identity/deeplink-sign-in.ts';
import { isAfterUnfinished } from '../mass-sends/control-sends.ts';
import { attemptSend } from '../mass-sends/outcome.ts';
import { SharedFile, storeResult } from '../mass-sends/run-send.ts';
import type { MassSend, SendKind, SendOutcome } from '../mass-sends/types.ts';
import { sendableHtml } from '../messaging/messenger-html.ts';
import type { MessengerUpdate } from '../messaging/ports.ts';
import { PINNED_PROGRESS } from './events.ts';
import { findActive, findDelivery, findMessage, findStarter, type Occasion, recordDelivery, setPinned } from './repo.ts';
import type { PinnedDelivery, PinnedMessage } from './types.ts';

/** Puts the message into a chat, without a sound and not pinned yet. A leased time is that of the first attempt. */
type SendPinned = (chatId: number, isFirst: boolean) => Promise<{ messageId: number }>;

/** @param isLeased the caller has leased the time of each message */
function senderOf(app: App, message: PinnedMessage, isLeased: boolean): SendPinned {
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
 * Sends a pinned message to one user and pins it in the place of the one before. The message is stored before it is
 * pinned: what repeats the occasion, because pinning failed or the process ended, pins the message that is there and sends nothing.
 * Other pins of the chat are left alone.
 * @param occasion a repetition is recognised by it
 */
async function deliverPinned(
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
async function unpin(app: App, placed: PlacedMessage): Promise<SendOutcome> {
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

const START = /^\/start(?:@\w+)?(?:\s|$)/;

/** A chat start as the queue has it. */
export interface ChatStart {
  updateId: number;
  messengerId: number;
}

/** Queues a `/start` in the own chat with the bot; the job answers it. Starts that are about signing in get their question alone. */
export async function receiveChatStart(app: App, update: MessengerUpdate): Promise<void> {
  const isForSignIn: boolean = isSignInUpdate(update);
  if (update.kind !== 'message' || !START.test(update.text) || isForSignIn) return;
  const { updateId, chatId, from } = update;
  if (chatId !== from.messengerId) return;
  const start = { updateId, messengerId: from.messengerId };
  // Someone who presses the button again and again has one waiting start.
  await app.jobs.send('pinned.start', start, { singletonKey: String(from.messengerId) });
}

/**
 * Delivers the active message to a user who starts the chat (job `pinned.start`, spec 05 section 4). The service shows no menu: `send_before_menu`
 * is for a bot that does and reads it from the active message. May run any number of times: one update sends one message.
 * @throws Error when the messenger is away and the queue is to retry
 */
export async function deliverAtStart(app: App, { updateId, messengerId }: ChatStart): Promise<void> {
  const { messenger } = app.ports;
  if (!messenger.isConfigured()) return;
  const [message, user] = await Promise.all([findActive(app.db), findStarter(app.db, messengerId)]);
  if (!message || user?.status !== 'active') return;
  const hasIt = !message.sendOnEveryStart && user.lastPinnedMessageId === message.id;
  // A message of this start may be there and still have to be pinned.
  if (hasIt && (await findDelivery(app.db, user.id))?.updateId !== updateId) return;
  const outcome = await deliverPinned(
    app,
    { userId: user.id, chatId: messengerId },
    { message, send: senderOf(app, message, false), occasion: { updateId } },
  );
  if (outcome.state === 'unsent') throw new Error('The messenger does not accept the pinned message at present');
  if (outcome.state !== 'sent') app.log.info({ userId: user.id, state: outcome.state }, 'a pinned message was not delivered');
}

/** What changes the pins of all chats: one at a time, so that the last one decides. */
export const PIN_KINDS = ['pinned', 'unpin'] as const;

/** A pinned message to every active user, whatever they have switched off. */
export const pinnedKind: SendKind = {
  recipients: () => "u.status = 'active' AND u.messenger_id IS NOT NULL",
  // The message is in the chat and stored; what remains is to pin it.
  repeatable: 'EXISTS (SELECT 1 FROM pinned_deliveries d WHERE d.user_id = r.user_id AND d.send_id = r.send_id)',
  open: async (app, send) => {
    if (await isAfterUnfinished(app, PIN_KINDS, send)) return 'later';
    const message = await findMessage(app.db, send.sourceId);
    if (!message || !app.ports.messenger.isConfigured()) return null;
    const sent = { message, send: senderOf(app, message, true), occasion: { sendId: send.id } };
    return async ({ userId, messengerId }) =>
      messengerId === null ? { state: 'failed' } : deliverPinned(app, { userId, chatId: messengerId }, sent);
  },
  announce: announceProgress,
};

/** Unpins our own message, in each chat that has one pinned; other pins stay. */
export const unpinKind: SendKind = {
  recipients: () => "u.status = 'active' AND EXISTS (SELECT 1 FROM pinned_deliveries d WHERE d.user_id = u.id AND d.is_pinned)",
  repeatable: 'true',
  open: async (app, send) => {
    if (await isAfterUnfinished(app, PIN_KINDS, send)) return 'later';
    if (!app.ports.messenger.isConfigured()) return null;
    return async ({ userId }) => {
      const delivery = await findDelivery(app.db, userId);
      return delivery?.isPinned ? unpin(app, delivery) : { state: 'sent', messageId: delivery?.messageId ?? null };
    };
  },
  announce: announceProgress,
};

/** To the sockets of administrators. */
function announceProgress(
  app: App,
  { kind, sourceId, state, total, sent, failed, blocked, unconfirmed }: MassSend,
): Promise<void> {
  const event = {
    message_id: sourceId,
    action: kind === 'unpin' ? ('unpin' as const) : ('broadcast' as const),
    status: state,
    total_count: total,
    sent_count: sent,
    failed_count: failed + blocked + unconfirmed,
  };
  return app.events.emit(PINNED_PROGRESS, event, { audience: 'staff' });
}
