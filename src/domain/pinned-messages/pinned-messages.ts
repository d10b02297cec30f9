import type { AdminActor, TokenActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { givenFields } from '../../core/changes.ts';
import { countCharacters } from '../../core/characters.ts';
import { MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal, ValidationError } from '../../core/errors.ts';
import { lockState, writeState } from '../../core/service-state.ts';
import { validationIssue } from '../../core/validation-messages.ts';
import { awaitSend, startSend, stopKinds, stopSends } from '../mass-sends/control-sends.ts';
import type { MassSend } from '../mass-sends/types.ts';
import { recordReceived, storedFileId } from '../media/media.ts';
import type { Language } from '../messaging/texts.ts';
import { PIN_KINDS } from './deliver.ts';
import {
  deactivateActive,
  deactivateOthers,
  deleteMessage,
  findActive,
  findMessage,
  insertMessage,
  listMessages,
  lockActivation,
  lockMessage,
  updateMessage,
} from './repo.ts';
import { checkSendable, messageNotFound, storedContent } from './rules.ts';
import type { PinnedChanges, PinnedDraft, PinnedMedia, PinnedMessage, PublishedMessage } from './types.ts';

/** Whether the message is also sent to everyone, which is possible once a minute. */
interface Publishing {
  broadcast: boolean;
}

/**
 * Adds a message, which takes the place of the active one (spec 05 section 4).
 * @param language of a refusal; null = Russian
 * @throws ValidationError 422 | AppError 429 with `broadcast` | AppError 400 the message could not be sent
 */
export async function createPinnedMessage(
  app: App,
  actor: AdminActor | TokenActor,
  { media, content, ...flags }: PinnedDraft,
  { broadcast, language }: Publishing & { language: Language | null },
): Promise<PublishedMessage> {
  if (media) checkFileId(media);
  const made = await inTransaction(app, async (t) => {
    if (broadcast) await takeCooldown(t);
    const file = media ? await storedMedia(t, media) : { mediaType: null, mediaFileId: null };
    const draft = { ...flags, ...file, content: storedContent(t, content.trim()) };
    checkSendable(t, draft, language);
    await lockActivation(t.db);
    await deactivateOthers(t.db, null);
    const now = t.clock.now();
    const createdBy = actor.kind === 'admin' ? actor.userId : null;
    const message = await insertMessage(t.db, { ...draft, isActive: true, createdBy, createdAt: now, updatedAt: now });
    t.audit?.record({ resourceId: message.id, before: null, after: { ...message, broadcast } });
    return { message, send: broadcast ? await startPinSend(t, 'pinned', message.id) : null };
  });
  return answered(app, made);
}

/** Makes a message the active one. @throws AppError 429 with `broadcast` | AppError 404 */
export async function activateMessage(app: App, id: number, { broadcast }: Publishing): Promise<PublishedMessage> {
  const made = await inTransaction(app, async (t) => {
    if (broadcast) await takeCooldown(t);
    // Before any row: two activations that lock their rows first would wait for each other.
    await lockActivation(t.db);
    const before = await lockMessage(t.db, id);
    if (!before) throw messageNotFound();
    await deactivateOthers(t.db, id);
    const message = before.isActive ? before : { ...before, isActive: true, updatedAt: t.clock.now() };
    if (!before.isActive) await updateMessage(t.db, message);
    t.audit?.record({ before: { isActive: before.isActive }, after: { isActive: true, broadcast } });
    return { message, send: broadcast ? await startPinSend(t, 'pinned', id) : null };
  });
  return answered(app, made);
}

/** Sends a message to every active user of the messenger, also an inactive message. @throws AppError 429 | AppError 404 */
export async function broadcastMessage(app: App, id: number): Promise<PublishedMessage> {
  const made = await inTransaction(app, async (t) => {
    await takeCooldown(t);
    const message = await lockMessage(t.db, id);
    if (!message) throw messageNotFound();
    t.audit?.record({ before: { isActive: message.isActive }, after: { isActive: message.isActive, broadcast: true } });
    return { message, send: await startPinSend(t, 'pinned', id) };
  });
  return answered(app, made);
}

/** Deactivates the active message and unpins what was sent, in every chat. @throws AppError 429 */
export async function unpinMessage(app: App) {
  const send = await inTransaction(app, async (t) => {
    await takeCooldown(t);
    await lockActivation(t.db);
    const message = await deactivateActive(t.db, t.clock.now());
    if (!message) return null;
    t.audit?.record({ resourceId: message.id, before: { isActive: true }, after: { isActive: false, unpinned: true } });
    return startPinSend(t, 'unpin', message.id);
  });
  if (!send) return { unpinnedCount: 0, failedCount: 0, wasActive: false };
  const { sent, failed, blocked } = await reached(app, send);
  return { unpinnedCount: sent, failedCount: failed + blocked, wasActive: true };
}

/** What is sent or unpinned now replaces what was started before and has not ended. */
async function startPinSend(t: App, kind: 'pinned' | 'unpin', messageId: number): Promise<MassSend> {
  await stopKinds(t, PIN_KINDS);
  return startSend(t, { kind, sourceId: messageId, channel: 'messenger', audience: 'all' });
}

/** The send after a bounded wait: it runs in the background, and takes hours for a million users. */
function reached(app: App, send: MassSend): Promise<MassSend> {
  return awaitSend(app, send, app.env.pinnedAnswerWaitMs);
}

async function answered(
  app: App,
  { message, send }: { message: PinnedMessage; send: MassSend | null },
): Promise<PublishedMessage> {
  if (!send) return { message, sentCount: 0, failedCount: 0 };
  const { sent, failed, blocked } = await reached(app, send);
  return { message, sentCount: sent, failedCount: failed + blocked };
}

export const pinnedMessageActive = refusal(
  'pinned_message_active',
  409,
  'Cannot delete active pinned message. Deactivate it first.',
);

/** Newest first. */
export function listPinnedMessages(
  app: App,
  page: { limit: number; offset: number; activeOnly: boolean },
): Promise<{ items: PinnedMessage[]; total: number }> {
  return listMessages(app.db, page);
}

/** Null while none is active. */
export function readActiveMessage(app: App): Promise<PinnedMessage | null> {
  return findActive(app.db);
}

/** @throws AppError 404 'Pinned message not found' */
export async function readPinnedMessage(app: App, id: number): Promise<PinnedMessage> {
  const message = await findMessage(app.db, id);
  if (!message) throw messageNotFound();
  return message;
}

/**
 * Null and absent fields stay as they are, so a file can be replaced and not removed. Nothing is sent again.
 * @param language of a refusal; null = Russian
 * @throws ValidationError 422 | AppError 404 | AppError 400 what is left could not be sent
 */
export function updatePinnedMessage(
  app: App,
  id: number,
  changes: PinnedChanges,
  language: Language | null,
): Promise<PinnedMessage> {
  const { media, ...given } = givenFields(changes);
  if (media) checkFileId(media);
  return inTransaction(app, async (t) => {
    const before = await lockMessage(t.db, id);
    if (!before) throw messageNotFound();
    if (!media && Object.keys(given).length === 0) return before;
    const file = media ? await storedMedia(t, media) : {};
    const content = given.content === undefined ? before.content : storedContent(t, given.content);
    const after = { ...before, ...given, ...file, content, updatedAt: t.clock.now() };
    if (media || given.content !== undefined) checkSendable(t, after, language);
    await updateMessage(t.db, after);
    t.audit?.record({ before, after });
    return after;
  });
}

/** The pins in the chats stay. @returns the message, which is inactive then; null when none was active */
export function deactivateMessage(app: App): Promise<PinnedMessage | null> {
  return inTransaction(app, async (t) => {
    await lockActivation(t.db);
    const message = await deactivateActive(t.db, t.clock.now());
    if (message) t.audit?.record({ resourceId: message.id, before: { isActive: true }, after: { isActive: false } });
    return message;
  });
}

/**
 * Deletes a message and ends its broadcast; the pins in the chats stay.
 * @param mayBeActive otherwise an active message is refused
 * @throws AppError 404 | AppError 409 it is active
 */
export function deletePinnedMessage(app: App, id: number, { mayBeActive }: { mayBeActive: boolean }): Promise<void> {
  return inTransaction(app, async (t) => {
    const before = await lockMessage(t.db, id);
    if (!before) throw messageNotFound();
    if (before.isActive && !mayBeActive) throw pinnedMessageActive();
    await stopSends(t, 'pinned', id);
    await deleteMessage(t.db, id);
    t.audit?.record({ before, after: null });
  });
}

/** Longest id of a file that can be stored. */
const MAX_FILE_ID = 255;

/** @throws ValidationError 422 a blank id, or one of more than 255 characters */
function checkFileId({ fileId }: PinnedMedia): void {
  const loc = ['body', 'media', 'file_id'];
  if (fileId.trim() === '') throw new ValidationError([validationIssue('string_too_short', loc, fileId, { min_length: 1 })]);
  if (countCharacters(fileId) > MAX_FILE_ID) {
    throw new ValidationError([validationIssue('string_too_long', loc, fileId, { max_length: MAX_FILE_ID })]);
  }
}

/** The file of a message as it is stored; the file is known from then on. In a transaction. */
async function storedMedia(t: App, media: PinnedMedia): Promise<Pick<PinnedMessage, 'mediaType' | 'mediaFileId'>> {
  const fileId = await storedFileId(t, media.fileId.trim());
  await recordReceived(t, fileId, media.type, 'pinned');
  return { mediaType: media.type, mediaFileId: fileId };
}

export const broadcastCooldown = refusal('broadcast_cooldown', 429, 'Broadcast cooldown active. Try again in <n> seconds.');

/** Row of `service_state`. */
const KEY = 'pinned-messages:cooldown';
const WINDOW_MS = MINUTE_MS;

/**
 * What reaches every user happens once a minute, on all instances and in both areas together. The window begins with a
 * call that succeeds: it is written in the transaction of the call, whose rollback leaves it unchanged. First step of the transaction;
 * calls at once wait here for each other.
 * @throws AppError 429 with `Retry-After`
 */
async function takeCooldown(t: App): Promise<void> {
  const { startedAt } = await lockState<{ startedAt: string }>(t.db, KEY);
  const now = t.clock.now();
  const passedMs = startedAt === undefined ? WINDOW_MS : now.getTime() - new Date(startedAt).getTime();
  // The clock of another instance may be a little ahead.
  if (Math.abs(passedMs) < WINDOW_MS) throw cooldownActive(Math.min(WINDOW_MS, WINDOW_MS - passedMs));
  await writeState(t.db, KEY, { startedAt: now.toISOString() });
}

function cooldownActive(leftMs: number) {
  const seconds = Math.ceil(leftMs / SECOND_MS);
  return broadcastCooldown({
    detail: `Broadcast cooldown active. Try again in ${seconds} seconds.`,
    headers: { 'Retry-After': String(seconds) },
  });
}
