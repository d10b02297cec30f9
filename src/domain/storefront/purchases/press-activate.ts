import type { App } from '../../../core/app.ts';
import { isAppError } from '../../../core/errors.ts';
import { findUserByMessengerId } from '../../identity/find-user.ts';
import type { MessengerUpdate } from '../../messaging/ports.ts';
import { sendMessage } from '../../messaging/send-message.ts';
import { text } from '../../messaging/texts.ts';
import { activateById } from './activate-purchase.ts';

const PRESS = /^gift_activate:(\d{1,9})$/;

/** Queues a pressed "activate" button; the job handles it after the messenger has its answer. Ignores other updates. */
export async function receiveGiftUpdate(app: App, update: MessengerUpdate): Promise<void> {
  const id = update.kind === 'callback' ? PRESS.exec(update.data)?.[1] : undefined;
  if (update.kind !== 'callback' || id === undefined) return;
  await app.jobs.send('gifts.press', {
    queryId: update.queryId,
    messengerId: update.fromMessengerId,
    purchaseId: Number(id),
  });
}

/**
 * Handles a queued press (job `gifts.press`): the messenger proves who pressed, so a press by the recipient is consent (spec 03
 * section 8.3). May run any number of times.
 */
export async function handleGiftPress(
  app: App,
  { queryId, messengerId, purchaseId }: { queryId: string; messengerId: number; purchaseId: number },
): Promise<void> {
  // Only ends the button's progress indicator. The messenger refuses a query that is too old, which changes nothing else.
  await app.ports.messenger
    .answerCallback(queryId)
    .catch((error) => app.log.debug({ err: error }, 'the callback of a pressed button was not answered'));
  const user = await findUserByMessengerId(app, messengerId);
  if (user?.status !== 'active') return;
  try {
    await activateById(app, purchaseId, { kind: 'user', userId: user.id });
    await sendMessage(app, { messengerId, html: text(user.language, 'gifts.activation_started') });
  } catch (error) {
    if (!isAppError(error)) throw error;
    await sendMessage(app, { messengerId, html: text(user.language, 'gifts.activation_refused') });
  }
}
