import type { App } from '../../../core/app.ts';
import { addMs, DAY_MS, HOUR_MS, MINUTE_MS } from '../../../core/clock.ts';
import { isAppError } from '../../../core/errors.ts';
import { findUserByMessengerId } from '../../identity/find-user.ts';
import type { MessengerUpdate } from '../../messaging/ports.ts';
import { sendMessage } from '../../messaging/send-message.ts';
import { htmlText } from '../../messaging/texts.ts';
import { activateGift } from './activate-gift.ts';

const START = /^GIFT[-_]([\w-]{8,58})$/i;
/** A code waits this long for the account of the person who followed its link. */
const WAIT_MS = 3 * DAY_MS;

/** A followed link to the bot with a gift, as the queue has it. */
export interface GiftStart {
  messengerId: number;
  /** As the messenger names it; null = unknown. */
  languageCode: string | null;
  code: string;
  /** ISO 8601. */
  startedAt: string;
}

/** Queues a followed link `GIFT_{code}`; the job handles it after the messenger has its answer. Ignores other updates. */
export async function receiveGiftStart(app: App, update: MessengerUpdate): Promise<void> {
  const code = update.kind === 'message' ? START.exec(update.startParameter ?? '')?.[1] : undefined;
  // In a group every member could see the answer.
  if (update.kind !== 'message' || code === undefined || update.chatId !== update.from.messengerId) return;
  const { messengerId, languageCode } = update.from;
  await app.jobs.send('gifts.start', { messengerId, languageCode, code, startedAt: app.clock.now().toISOString() });
}

/**
 * Activates the gift of a followed link (job `gifts.start`, spec 03 section 9) under the same rules as in the cabinet: the messenger proves who
 * followed it. Without an account the code waits for the registration, for three days: the job sends itself again. May run any number of times.
 */
export async function handleGiftStart(app: App, start: GiftStart): Promise<void> {
  const { messengerId, languageCode, code } = start;
  const user = await findUserByMessengerId(app, messengerId);
  if (!user) return waitForAccount(app, start);
  if (user.status !== 'active') return;
  const reply = (key: 'gifts.activation_started' | 'gifts.activation_refused') =>
    sendMessage(app, { messengerId, html: htmlText(user.language ?? languageCode, key) });
  try {
    await activateGift(app, { kind: 'user', userId: user.id }, { code }, { idempotencyKey: null, ip: null });
  } catch (error) {
    if (!isAppError(error)) throw error;
    return reply('gifts.activation_refused');
  }
  await reply('gifts.activation_started');
}

async function waitForAccount(app: App, start: GiftStart): Promise<void> {
  const now = app.clock.now();
  const waited = now.getTime() - new Date(start.startedAt).getTime();
  if (waited > WAIT_MS) return;
  if (waited < MINUTE_MS) {
    await sendMessage(app, { messengerId: start.messengerId, html: htmlText(start.languageCode, 'gifts.start_register') });
  }
  // As long again as it has waited: soon after the link, when most people register, and rarely later.
  const pause = Math.min(HOUR_MS, Math.max(MINUTE_MS, waited));
  await app.jobs.send('gifts.start', start, { startAfter: addMs(now, pause) });
}
