import type { App } from '../../core/app.ts';
import { isDatabaseUnavailable } from '../../core/db/db-errors.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { isAppError, refusal } from '../../core/errors.ts';
import { urlSafeToken } from '../../core/random.ts';
import { peek, put, take } from '../../core/short-lived.ts';
import { MessengerError, type MessengerUpdate } from '../messaging/ports.ts';
import { htmlText, type TextKey, text } from '../messaging/texts.ts';
import { deactivated, unauthorized, userNotActive } from './errors.ts';
import { findById, findByMessengerId } from './repo.ts';
import { openSession, type SignIn } from './sessions/sessions.ts';

const signInStoreUnavailable = refusal('sign_in_store_unavailable', 503, 'Service temporarily unavailable');
const botNotConfigured = refusal('bot_not_configured', 503, 'Bot not configured');

const TOKEN_BYTES = 24;
const MAX_DEVICE_LENGTH = 120;

/**
 * Begins a sign-in that is confirmed in the messenger's bot (spec 01 section 5.4).
 * @param client shown to the user before the confirmation
 * @throws AppError 503 'Service temporarily unavailable' | 503 'Bot not configured'
 */
export async function requestDeepLink(app: App, client: { ip: string | null; device: string | null }) {
  const token = urlSafeToken(app.random, TOKEN_BYTES);
  try {
    await storePending(app, token, {
      status: 'pending',
      created_at: app.clock.now().toISOString(),
      ip: client.ip,
      device: client.device?.slice(0, MAX_DEVICE_LENGTH) ?? null,
    });
  } catch (error) {
    if (!isDatabaseUnavailable(error)) throw error;
    throw signInStoreUnavailable({ cause: error });
  }
  const botUsername = app.ports.messengerIdentity.botUsername();
  if (!botUsername) throw botNotConfigured();
  return { token, botUsername, expiresIn: PENDING_SECONDS };
}

const userUnknown = unauthorized('user_not_found', 'User not found');

const signInGone = refusal('sign_in_gone', 410, 'Token expired or not found');
const signInPending = refusal('sign_in_pending', 202, 'Waiting for confirmation');
const signInStateInvalid = refusal('sign_in_state_invalid', 410, 'Invalid token state');
const signInConsumed = refusal('sign_in_consumed', 410, 'Token already consumed');
const signInDataInvalid = refusal('sign_in_data_invalid', 500, 'Invalid token data');

export const BEGIN_REFUSES = [signInStoreUnavailable, botNotConfigured];
export const POLL_REFUSES = [signInPending, signInGone, signInStateInvalid, userUnknown, deactivated];

/**
 * Checks whether a sign-in has been confirmed in the bot; the first poll after that gets the session.
 * @throws AppError 202 'Waiting for confirmation' | 410 | 500 'Invalid token data' | 401 'User not found' | 403 'Account is deactivated'
 */
export async function pollDeepLink(app: App, token: string): Promise<SignIn> {
  const seen = await peekSignIn(app, token);
  if (!seen) throw signInGone();
  // No failure: the contract answers a poll before the confirmation with 202 and a detail.
  if (seen.status === 'pending') throw signInPending();
  if (seen.status !== 'linked') throw signInStateInvalid();
  const taken = await takeSignIn(app, token);
  if (taken?.status !== 'linked') throw signInConsumed();
  if (!Number.isInteger(taken.user_id)) throw signInDataInvalid();
  const user = await findById(app.db, taken.user_id);
  if (!user) throw userUnknown();
  if (user.status !== 'active') throw deactivated();
  try {
    return await openSession(app, user.id, { deviceInfo: 'deep_link' });
  } catch (error) {
    throw isAppError(error) && error.code === userNotActive.code ? deactivated() : error;
  }
}

type Confirmation = 'confirmed' | 'gone' | 'not_allowed';

/**
 * Confirms a pending sign-in for a messenger user, once (spec 01 section 3, H19). A repetition by the same user changes nothing.
 */
export async function confirmSignIn(app: App, token: string, messengerId: number): Promise<Confirmation> {
  const user = await findByMessengerId(app.db, messengerId);
  if (user?.status !== 'active') return 'not_allowed';
  const seen = await peekSignIn(app, token);
  if (seen?.status === 'linked') return seen.messenger_id === messengerId ? 'confirmed' : 'gone';
  if (seen?.status !== 'pending') return 'gone';
  return inTransaction(app, async (t) => {
    const taken = await takeSignIn(t, token);
    if (!taken) return 'gone';
    if (taken.status === 'linked') {
      // Confirmed by a concurrent request: restore its entry.
      await storeLinked(t, token, taken);
      return taken.messenger_id === messengerId ? 'confirmed' : 'gone';
    }
    const linkedAt = t.clock.now().toISOString();
    await storeLinked(t, token, { status: 'linked', messenger_id: messengerId, user_id: user.id, linked_at: linkedAt });
    return 'confirmed';
  });
}

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

// `web_auth:{token}` (spec 01 section 1.3): a sign-in that begins in a browser and is confirmed in the messenger.

const PENDING_SECONDS = 300;
const LINKED_SECONDS = 120;
/** The shortest token that the bot accepts, and the longest that fits into a button. */
const TOKEN = /^[A-Za-z0-9_-]{16,48}$/;

interface PendingSignIn {
  status: 'pending';
  /** ISO 8601, UTC. */
  created_at: string;
  /** Client of the request, shown before the confirmation (spec 01 H19); null = unknown. */
  ip: string | null;
  device: string | null;
}

interface LinkedSignIn {
  status: 'linked';
  messenger_id: number;
  user_id: number;
  linked_at: string;
}

type StoredSignIn = PendingSignIn | LinkedSignIn;

const keyOf = (token: string) => `web_auth:${token}`;

function isSignInToken(token: string): boolean {
  return TOKEN.test(token);
}

async function storePending(app: App, token: string, entry: PendingSignIn): Promise<void> {
  await put(app, keyOf(token), entry, PENDING_SECONDS);
}

/** Call in the transaction that took the pending entry. */
async function storeLinked(t: App, token: string, entry: LinkedSignIn): Promise<void> {
  await put(t, keyOf(token), entry, LINKED_SECONDS);
}

async function peekSignIn(app: App, token: string): Promise<StoredSignIn | null> {
  return isSignInToken(token) ? peek<StoredSignIn>(app, keyOf(token)) : null;
}

async function takeSignIn(app: App, token: string): Promise<StoredSignIn | null> {
  return isSignInToken(token) ? take<StoredSignIn>(app, keyOf(token)) : null;
}
