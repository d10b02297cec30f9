import type { App } from '../../core/app.ts';
import { DAY_MS, SECOND_MS } from '../../core/clock.ts';
import { urlSafeToken } from '../../core/random.ts';
import { drop, putIfAbsent } from '../../core/short-lived.ts';
import { type MediaKind, type MessengerButton, MessengerError, type SendOptions } from './ports.ts';

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
 * @param options.startAfter not before this moment
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
