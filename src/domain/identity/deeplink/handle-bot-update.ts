import type { App } from '../../../core/app.ts';
import { MessengerError, type MessengerUpdate } from '../../messaging/ports.ts';
import { htmlText, type TextKey, text } from '../../messaging/texts.ts';
import { findByMessengerId } from '../repo.ts';
import { confirmSignIn } from './confirm-sign-in.ts';
import { isSignInToken, type PendingSignIn, peekSignIn } from './stored-sign-in.ts';

const START = 'webauth_';
const CONFIRM = 'webauth_confirm:';
const DENY = 'webauth_deny';

type BotMessage = Extract<MessengerUpdate, { kind: 'message' }>;
type BotCallback = Extract<MessengerUpdate, { kind: 'callback' }>;

/** Updates of the bot that are about signing in to the cabinet. */
export type SignInUpdate = BotMessage | BotCallback;

/** Whether this update is about a sign-in to the cabinet. */
export function isSignInUpdate(update: MessengerUpdate): update is SignInUpdate {
  if (update.kind === 'message') return update.startParameter?.startsWith(START) === true;
  return update.kind === 'callback' && (update.data === DENY || update.data.startsWith(CONFIRM));
}

/** Queues an update that is about signing in; the job handles it after the messenger has its answer. Ignores other updates. */
export async function receiveBotUpdate(app: App, update: MessengerUpdate): Promise<void> {
  if (isSignInUpdate(update)) await app.jobs.send('identity.bot-update', update);
}

/**
 * Handles a queued update (job `identity.bot-update`). May run any number of times.
 * @throws MessengerError when the messenger could not be reached and the queue is to retry
 */
export async function handleBotUpdate(app: App, update: SignInUpdate): Promise<void> {
  await (update.kind === 'message' ? answerStart(app, update) : answerButton(app, update));
}

/** `/start webauth_{token}`: shows time, address and device of the request, with Yes and No (spec 01 section 5.4, H19). */
async function answerStart(app: App, message: BotMessage): Promise<void> {
  const token = message.startParameter?.slice(START.length) ?? '';
  const messengerId = message.from.messengerId;
  // In a group every member could see and answer the question.
  if (!isSignInToken(token) || message.chatId !== messengerId) return;
  const user = await findByMessengerId(app.db, messengerId);
  const language = user?.language ?? message.from.languageCode;
  const reply = (key: TextKey) => deliver(app, () => app.ports.messenger.sendMessage(messengerId, htmlText(language, key)));
  if (!user || user.status === 'deleted') return reply('messages.sign_in_register_first');
  const pending = await peekSignIn(app, token);
  if (pending?.status !== 'pending') return reply('messages.sign_in_expired');
  await deliver(app, () =>
    app.ports.messenger.sendMessage(messengerId, promptText(language, pending), {
      buttons: [
        [
          { text: text(language, 'messages.sign_in_yes'), callbackData: `${CONFIRM}${token}` },
          { text: text(language, 'messages.sign_in_no'), callbackData: DENY },
        ],
      ],
    }),
  );
}

function promptText(language: string | null, { created_at, ip, device }: PendingSignIn): string {
  const unknown = text(language, 'messages.sign_in_unknown');
  return htmlText(language, 'messages.sign_in_prompt', {
    time: `${created_at.slice(0, 16).replace('T', ' ')} UTC`,
    ip: ip ?? unknown,
    device: device ?? unknown,
  });
}

async function answerButton(app: App, callback: BotCallback): Promise<void> {
  const user = await findByMessengerId(app.db, callback.fromMessengerId);
  const key = callback.data === DENY ? 'messages.sign_in_denied' : await confirm(app, callback);
  const { chatId, messageId } = callback;
  await deliver(app, () => app.ports.messenger.answerCallback(callback.queryId, text(user?.language, key)));
  // The question is answered, so its buttons have no further use.
  if (chatId !== null && messageId !== null) await deliver(app, () => app.ports.messenger.deleteMessage(chatId, messageId));
}

async function confirm(app: App, callback: BotCallback): Promise<TextKey> {
  const token = callback.data.slice(CONFIRM.length);
  switch (await confirmSignIn(app, token, callback.fromMessengerId)) {
    case 'confirmed':
      return 'messages.sign_in_confirmed';
    case 'not_allowed':
      return 'messages.sign_in_not_allowed';
    case 'gone':
      return 'messages.sign_in_expired';
  }
}

/** A permanent failure (a blocked bot, a question too old to be answered) is logged; any other is thrown, so that the queue retries. */
async function deliver(app: App, call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
  } catch (error) {
    const kind = error instanceof MessengerError ? error.failure.kind : null;
    if (kind === null || kind === 'rate_limited' || kind === 'unavailable') throw error;
    app.log.info({ kind }, 'a sign-in message could not be delivered');
  }
}
