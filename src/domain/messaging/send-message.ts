import type { App } from '../../core/app.ts';
import { DAY_MS, SECOND_MS } from '../../core/clock.ts';
import type { EventPayload, EventsTo } from '../../core/events/event-recorder.ts';
import { urlSafeToken } from '../../core/random.ts';
import { drop, putIfAbsent } from '../../core/short-lived.ts';
import { type MediaKind, type MessengerButton, MessengerError, type SendOptions } from './ports.ts';
import type { MailParams, MailType } from './render-mail.ts';
import { sendMail } from './send-mail.ts';

export interface MessageRequest {
  messengerId: number;
  /** In the messenger's HTML, values escaped (`htmlText`). */
  html: string;
  buttons?: readonly (readonly MessengerButton[])[];
  /** Topic of a group. */
  threadId?: number;
  /** Id of a picture, of this service or of the messenger; the text becomes its caption (at most 1024 visible characters). */
  photoFileId?: string;
  /** Names a message that is sent at most once; see `sendMessage`. */
  onceKey?: string;
}

/** Longer than the queue tries to send a message. */
const MARK_SECONDS = DAY_MS / SECOND_MS;

/**
 * Queues a message in the caller's transaction; no outside system is called. Without a configured messenger nothing is queued.
 * @param options.startAfter not before this time
 * @param options.isOnce at most once rather than at least once: for notices of charges, a second one of which looks like a second charge
 */
export async function sendMessage(
  t: App,
  request: MessageRequest,
  { startAfter, isOnce = false }: { startAfter?: Date; isOnce?: boolean } = {},
): Promise<void> {
  if (!t.ports.messenger.isConfigured()) return;
  const once = isOnce ? { onceKey: urlSafeToken(t.random, 16) } : {};
  await t.jobs.send('messenger.send', { ...request, ...once }, { ...(startAfter && { startAfter }) });
}

/**
 * Sends a queued message at least once, or with a `onceKey` at most once: it is marked before the call, and a mark that an ended process
 * left, or whose answer was lost, is not sent again (spec 10 F8). To a user who cannot be reached it is not retried (spec 05 section 9.3).
 * @throws MessengerError when the queue is to retry
 */
export async function deliverMessage(app: App, request: MessageRequest): Promise<void> {
  if (!app.ports.messenger.isConfigured()) return;
  const mark = request.onceKey === undefined ? null : `message:${request.onceKey}`;
  if (mark !== null && !(await putIfAbsent(app, mark, {}, MARK_SECONDS))) {
    app.log.warn('a message may have arrived before its process ended; it is not sent again');
    return;
  }
  try {
    await sendNow(app, request);
  } catch (error) {
    // Any failure: all but final refusals of the messenger are thrown on.
    const failure = error instanceof MessengerError ? error.failure : { kind: 'unavailable' as const };
    const isLost = mark !== null && failure.kind === 'unavailable' && failure.mayHaveArrived === true;
    if ((failure.kind === 'rate_limited' || failure.kind === 'unavailable') && !isLost) {
      if (mark !== null) await drop(app, mark);
      throw error;
    }
    app.log.info({ kind: failure.kind }, 'a message could not be delivered');
  }
}

async function sendNow(app: App, { messengerId, html, buttons = [], threadId, photoFileId }: MessageRequest): Promise<void> {
  const { messenger } = app.ports;
  const options = { buttons, ...(threadId === undefined ? {} : { threadId }) };
  if (photoFileId !== undefined) {
    try {
      await sendStoredFile(app, { messengerId, kind: 'photo', fileId: photoFileId }, html, options);
      return;
    } catch (error) {
      // The text is sent even if the messenger refuses the picture.
      if (!(error instanceof MessengerError) || error.failure.kind !== 'rejected' || html === '') throw error;
    }
  }
  await messenger.sendMessage(messengerId, html, options);
}

/**
 * Sends a file by its id, of this service or of the messenger, with a caption. The content of a file is uploaded once: then the
 * messenger's id of it is known.
 * @throws MessengerError
 */
export async function sendStoredFile(
  app: App,
  file: { messengerId: number; kind: MediaKind; fileId: string },
  html: string,
  options: SendOptions = {},
): Promise<{ messageId: number }> {
  const content = await app.ports.messengerFiles.resolve(app, file.fileId);
  const { messageId, fileId } = await app.ports.messenger.sendFile(file.messengerId, file.kind, content, html, options);
  if (!('fileId' in content) && fileId !== null) await rememberFile(app, file.fileId, fileId);
  return { messageId };
}

/**
 * Stores the messenger's id of a file. The message is there already: were a failure to do so thrown, the message would be sent a second
 * time. The next message uploads the file again.
 */
export async function rememberFile(app: App, fileId: string, messengerFileId: string): Promise<void> {
  try {
    await app.ports.messengerFiles.remember(app, fileId, messengerFileId);
  } catch (error) {
    // Any failure: see above.
    app.log.warn({ err: error }, "the messenger's id of a file could not be stored");
  }
}

/** How a user is reached. */
export interface Recipient {
  userId: number;
  /** Of the account: only active ones are notified. */
  status: string;
  messengerId: number | null;
  /** Null unless verified. */
  verifiedEmail: string | null;
  language: string;
}

export function recipientOf(user: {
  id: number;
  status: string;
  messengerId: number | null;
  email: string | null;
  emailVerified: boolean;
  language: string;
}): Recipient {
  const { id: userId, status, messengerId, email, emailVerified, language } = user;
  return { userId, status, messengerId, verifiedEmail: emailVerified ? email : null, language };
}

/** One notice in its three forms. */
interface UserNotice<K extends EventsTo<'user'>, M extends MailType> {
  /** For the messenger, values escaped. */
  html: string;
  mail: M;
  mailParams: MailParams<M>;
  /** `notification.<type>`, for the sockets of users without a messenger. */
  event: K;
  context: EventPayload<K>;
  /** It is sent at most once through the messenger (`sendMessage`). */
  isOnce?: boolean;
}

/**
 * Queues a notice in the caller's transaction: in the messenger if the user has one, else by mail to a verified address and on the user's
 * sockets. Blocked and deleted users are not notified.
 */
export async function notifyUser<K extends EventsTo<'user'>, M extends MailType>(
  t: App,
  recipient: Recipient,
  notice: UserNotice<K, M>,
): Promise<void> {
  const { userId, status, messengerId, verifiedEmail, language } = recipient;
  if (status !== 'active') return;
  if (messengerId !== null) {
    await sendMessage(t, { messengerId, html: notice.html }, { isOnce: notice.isOnce ?? false });
  } else if (verifiedEmail !== null) {
    await sendMail(t, { to: verifiedEmail, language, type: notice.mail, params: notice.mailParams });
    await t.events.emit(notice.event, notice.context, { audience: 'user', userId });
  }
}

/** The service's public address, without a slash at the end. */
export function publicBase(app: App): string {
  const known = app.settings.get('WEBHOOK_URL');
  return (known ?? `http://127.0.0.1:${app.env.port}`).replace(/\/+$/, '');
}

/** Where the menu is the cabinet: its address, without a slash at the end. Null where it is the chat (spec 05 section 3.4). */
export function webAppBase({ settings }: Pick<App, 'settings'>): string | null {
  const url = settings.get('MINIAPP_CUSTOM_URL').trim().replace(/\/+$/, '');
  return settings.get('MAIN_MENU_MODE') === 'cabinet' && url !== '' ? url : null;
}
