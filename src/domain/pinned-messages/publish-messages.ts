import type { AdminActor, TokenActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { awaitSend } from '../mass-sends/await-send.ts';
import { startSend, stopKinds } from '../mass-sends/control-sends.ts';
import type { MassSend } from '../mass-sends/types.ts';
import type { Language } from '../messaging/texts.ts';
import { takeCooldown } from './cooldown.ts';
import { checkFileId, storedMedia } from './message-media.ts';
import { PIN_KINDS } from './pinned-kinds.ts';
import { deactivateActive, deactivateOthers, insertMessage, lockActivation, lockMessage, updateMessage } from './repo.ts';
import { checkSendable, messageNotFound, storedContent } from './rules.ts';
import type { PinnedDraft, PinnedMessage, PublishedMessage } from './types.ts';

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

export interface UnpinResult {
  unpinnedCount: number;
  failedCount: number;
  /** False: none was active, and nothing is unpinned. */
  wasActive: boolean;
}

/** Deactivates the active message and unpins what was sent, in every chat. @throws AppError 429 */
export async function unpinMessage(app: App): Promise<UnpinResult> {
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
