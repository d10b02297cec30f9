import type { App } from '../../core/app.ts';
import { isSignInUpdate } from '../identity/deeplink/handle-bot-update.ts';
import type { MessengerUpdate } from '../messaging/ports.ts';
import { deliverPinned, senderOf } from './deliver.ts';
import { findDelivery } from './delivery-repo.ts';
import { findActive, findStarter } from './repo.ts';

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
