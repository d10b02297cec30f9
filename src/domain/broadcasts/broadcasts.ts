import type { AdminActor, TokenActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal, ValidationError } from '../../core/errors.ts';
import { isRowId } from '../../core/row-id.ts';
import { namedSegment } from '../audience/segments.ts';
import { checkMessengerText } from '../content/chat-texts/chat-menu.ts';
import { findUserById } from '../identity/find-user.ts';
import { runOnce } from '../ledger/run-once.ts';
import { pauseSends, readSends, resumeSends, retryUnconfirmed, startSend, stopSends } from '../mass-sends/control-sends.ts';
import type { MassSend } from '../mass-sends/types.ts';
import { knownFile, recordReceived, storedFileId } from '../media/media.ts';
import { MessengerError } from '../messaging/ports.ts';
import { knownLanguage, text } from '../messaging/texts.ts';
import { announceProgress } from './announce-progress.ts';
import { checkTarget, isBroadcastSegment, languageOf } from './audiences.ts';
import { findBroadcast, insertBroadcast, listBroadcasts } from './repo.ts';
import { broadcastNotFound, captionOf, isButtonKey, MAX_CAPTION, trimmedDraft, withProgress } from './rules.ts';
import type { Broadcast, BroadcastDraft, BroadcastRow } from './types.ts';

export const textMissing = refusal('text_missing', 400, 'Message text must not be empty');
export const mailTitleMissing = refusal('subject_missing', 400, 'Email subject is required for email broadcast');
export const contentMissing = refusal('content_missing', 400, 'Email HTML content is required for email broadcast');
export const buttonUnknown = refusal('button_unknown', 400, 'Invalid button key');
export const messengerUnavailable = refusal('messenger_unavailable', 502, 'The messenger does not answer');
export const captionTooLong = refusal(
  'caption_too_long',
  400,
  'The caption of the file is too long: <n> characters, at most <n> are allowed',
);

/**
 * An API token sends a message to a segment, through the messenger (spec 05 section 3.3).
 * @throws AppError 400 an empty text or a caption that is too long; ValidationError 422 an unknown target or button
 */
export async function createByToken(
  app: App,
  actor: TokenActor,
  request: Pick<BroadcastDraft, 'target' | 'messageText' | 'media'> & { selectedButtons: readonly string[] },
  idempotencyKey: string | null,
): Promise<Broadcast> {
  const target = checkedSegment(request.target);
  const selectedButtons = checkedButtons(request.selectedButtons);
  const mail = { emailSubject: null, emailHtmlContent: null };
  const draft = trimmedDraft({ ...request, ...mail, channel: 'messenger', target, selectedButtons, customButtons: [] });
  if (draft.messageText === null) throw textMissing();
  await checkMessage(app, app.settings.get('DEFAULT_LANGUAGE'), draft);
  const author = { adminId: null, adminName: actor.name };
  return store(app, actor, draft, author, { key: idempotencyKey, operation: 'broadcast.create', input: request });
}

/** @throws ValidationError 422 */
function checkedSegment(target: string): string {
  const name = namedSegment(target);
  // The aliases of offers are not among them.
  const isAlias = ['all_users', 'active_subscribers', 'trial_users'].includes(target.trim().toLowerCase());
  if (name === null || isAlias || !isBroadcastSegment(name)) throw fieldRefused('target', 'Unsupported target value', target);
  return name;
}

function checkedButtons(given: readonly string[]): string[] {
  const keys = [...new Set(given.map((key) => key.trim()).filter((key) => key !== ''))];
  const unknown = keys.find((key) => !isButtonKey(key));
  if (unknown !== undefined) throw fieldRefused('selected_buttons', `Unsupported button '${unknown}'`, given);
  return keys;
}

function fieldRefused(field: string, why: string, input: unknown): ValidationError {
  return new ValidationError([{ loc: ['body', field], type: 'value_error', msg: `Value error, ${why}`, input }]);
}

/**
 * An administrator sends a message through the messenger.
 * @throws AppError 400 in this order: target, buttons, text, caption
 */
export async function createMessage(
  app: App,
  actor: AdminActor,
  request: Omit<BroadcastDraft, 'channel' | 'emailSubject' | 'emailHtmlContent'>,
  idempotencyKey: string | null,
): Promise<Broadcast> {
  await checkTarget(app, 'messenger', request.target);
  checkKeys(request.selectedButtons);
  const mail = { emailSubject: null, emailHtmlContent: null };
  const draft = trimmedDraft({ ...request, ...mail, channel: 'messenger' });
  if (draft.messageText === null) throw textMissing();
  await checkMessage(app, await languageOf(app, actor), draft);
  const once = { key: idempotencyKey, operation: 'broadcast.create', input: request };
  return store(app, actor, draft, await authorOf(app, actor), once);
}

/**
 * An administrator sends a message, a mail or both; the mail of both goes to everyone with a verified address.
 * @throws AppError 400 in this order: of the messenger target, text, buttons, caption; of the mail target, subject, content
 */
export async function sendBroadcast(
  app: App,
  actor: AdminActor,
  request: BroadcastDraft,
  idempotencyKey: string | null,
): Promise<Broadcast> {
  const draft = trimmedDraft(request);
  const { channel, target } = draft;
  if (channel !== 'email') {
    await checkTarget(app, 'messenger', target);
    if (draft.messageText === null) throw textMissing({ detail: 'Message text is required for Messenger broadcast' });
    checkKeys(draft.selectedButtons);
    await checkMessage(app, await languageOf(app, actor), draft);
  }
  if (channel !== 'messenger') {
    if (channel === 'email') await checkTarget(app, 'email', target);
    if (draft.emailSubject === null) throw mailTitleMissing();
    if (draft.emailHtmlContent === null) throw contentMissing();
  }
  const once = { key: idempotencyKey, operation: 'broadcast.send', input: request };
  return store(app, actor, draft, await authorOf(app, actor), once);
}

function checkKeys(keys: readonly string[]): void {
  if (!keys.every(isButtonKey)) throw buttonUnknown();
}

/**
 * Refuses before anything is sent what the messenger would refuse of every message (spec 10 O7): a caption that is too long, markup that it
 * cannot read, a file that does not exist.
 * @throws AppError 400 `caption_too_long` | `messenger_html` | `message_too_long`, 502 the messenger does not answer about the file;
 *   ValidationError 422 there is no such file
 */
async function checkMessage(app: App, language: string, draft: BroadcastDraft): Promise<void> {
  checkCaption(language, draft);
  const { media, messageText } = draft;
  const html = media ? captionOf({ mediaCaption: media.caption, messageText }) : (messageText ?? '');
  checkMessengerText(app, html, knownLanguage(language), { isCaption: media !== null });
  if (media) await requireFile(app, media.fileId);
}

/** A file is one that is known here, or one of the messenger that a bot has received. */
async function requireFile(app: App, reference: string): Promise<void> {
  if ((await knownFile(app, reference)) !== null) return;
  let isThere: boolean;
  try {
    isThere = await app.ports.messenger.hasFile(await storedFileId(app, reference));
  } catch (error) {
    if (!(error instanceof MessengerError)) throw error;
    throw messengerUnavailable({ cause: error });
  }
  if (isThere) return;
  const msg = 'Value error, there is no such file';
  throw new ValidationError([{ loc: ['body', 'media', 'file_id'], type: 'value_error', msg, input: reference }]);
}

/** The text of this refusal is in the reader's language (spec 00, Texts). */
function checkCaption(language: string, { media, messageText }: BroadcastDraft): void {
  if (!media) return;
  const { length } = [...captionOf({ mediaCaption: media.caption, messageText })];
  if (length > MAX_CAPTION) {
    throw captionTooLong({ detail: text(language, 'broadcasts.caption_too_long', { limit: MAX_CAPTION, length }) });
  }
}

async function authorOf(app: App, actor: AdminActor): Promise<{ adminId: number; adminName: string }> {
  const user = await findUserById(app, actor.userId);
  return { adminId: actor.userId, adminName: user?.username || `Admin #${actor.userId}` };
}

/** Row, parts and jobs in one transaction; an answer that is repeated by its key shows the broadcast as stored. */
async function store(
  app: App,
  actor: AdminActor | TokenActor,
  draft: BroadcastDraft,
  author: { adminId: number | null; adminName: string },
  once: Parameters<typeof runOnce>[2],
): Promise<Broadcast> {
  const fileId = draft.media && (await storedFileId(app, draft.media.fileId));
  return runOnce(app, actor, once, async (t) => {
    const now = t.clock.now();
    const { media, channel, target, ...texts } = draft;
    if (media && fileId !== null) await recordReceived(t, fileId, media.type, 'broadcast');
    const row = await insertBroadcast(t.db, {
      ...{ ...texts, ...author, channel, targetType: target, selectedButtons: [...draft.selectedButtons], createdAt: now },
      ...{ hasMedia: media !== null, mediaType: media?.type ?? null, mediaFileId: fileId, mediaCaption: media?.caption ?? null },
    });
    const part = { kind: 'broadcast', sourceId: row.id } as const;
    const sends = [];
    if (channel !== 'email') sends.push(await startSend(t, { ...part, channel: 'messenger', audience: target }));
    const mailAudience = channel === 'both' ? 'all_email' : target;
    if (channel !== 'messenger') sends.push(await startSend(t, { ...part, channel: 'email', audience: mailAudience }));
    t.audit?.record({
      resourceId: row.id,
      before: null,
      after: { channel, target, message_text: row.messageText, email_subject: row.emailSubject, media: row.mediaType },
    });
    return withProgress(row, sends, t.env, now);
  });
}

export const broadcastNotRunning = refusal('broadcast_not_running', 400, 'Broadcast is not running');
export const broadcastNotPaused = refusal('broadcast_not_paused', 400, 'Broadcast is not paused');
export const broadcastConfirmed = refusal(
  'broadcast_confirmed',
  400,
  'Broadcast has no unconfirmed recipients to send it to again',
);

/**
 * Ends a broadcast, on all its channels: what is under way is still sent, nothing after it.
 * @throws AppError 404; 400 when it has ended
 */
export function stopBroadcast(app: App, id: number): Promise<Broadcast> {
  return control(app, id, stopSends, broadcastNotRunning);
}

/** Holds a broadcast until it is resumed. @throws AppError 404; 400 when it has ended, is to stop or is paused */
export function pauseBroadcast(app: App, id: number): Promise<Broadcast> {
  return control(app, id, pauseSends, broadcastNotRunning);
}

/** Continues a paused broadcast. @throws AppError 404; 400 when it is not paused */
export function resumeBroadcast(app: App, id: number): Promise<Broadcast> {
  return control(app, id, resumeSends, broadcastNotPaused);
}

/**
 * Sends a broadcast again to recipients of whom it is unknown whether they got it, because a process ended while their message was under way;
 * they may get it twice (spec 10 O14). A paused one is resumed, one that has ended goes on for them.
 * @throws AppError 404; 400 when nobody is unconfirmed, or it was stopped
 */
export function retryBroadcast(app: App, id: number): Promise<Broadcast> {
  return control(app, id, retryParts, broadcastConfirmed);
}

async function retryParts(t: App, kind: 'broadcast', sourceId: number): Promise<MassSend[] | null> {
  const sends = await retryUnconfirmed(t, kind, sourceId);
  return sends && ((await resumeSends(t, kind, sourceId)) ?? sends);
}

const recorded = ({ status, sentCount, totalCount }: Broadcast) => ({ status, sent: sentCount, total: totalCount });

function control(
  app: App,
  id: number,
  change: (t: App, kind: 'broadcast', sourceId: number) => Promise<MassSend[] | null>,
  refusal: () => Error,
): Promise<Broadcast> {
  return inTransaction(app, async (t) => {
    const row = isRowId(id) ? await findBroadcast(t.db, id) : null;
    if (!row) throw broadcastNotFound();
    const before = withProgress(row, await readSends(t, 'broadcast', [id]), t.env, t.clock.now());
    const sends = await change(t, 'broadcast', id);
    if (!sends) throw refusal();
    const after = withProgress(row, sends, t.env, t.clock.now());
    t.audit?.record({ resourceId: id, before: recorded(before), after: recorded(after) });
    await announceProgress(t, after);
    return after;
  });
}

/** All broadcasts of all channels, newest first. */
export async function listAllBroadcasts(
  app: App,
  page: { limit: number; offset: number },
): Promise<{ items: Broadcast[]; total: number }> {
  const { items, total } = await listBroadcasts(app.db, page);
  return { items: await allWithProgress(app, items), total };
}

/** @throws AppError 404 */
export async function readBroadcast(app: App, id: number): Promise<Broadcast> {
  const row = isRowId(id) ? await findBroadcast(app.db, id) : null;
  if (!row) throw broadcastNotFound();
  const [broadcast] = await allWithProgress(app, [row]);
  return broadcast!;
}

async function allWithProgress(app: App, rows: readonly BroadcastRow[]): Promise<Broadcast[]> {
  const sends = await readSends(
    app,
    'broadcast',
    rows.map(({ id }) => id),
  );
  const now = app.clock.now();
  return rows.map((row) =>
    withProgress(
      row,
      sends.filter(({ sourceId }) => sourceId === row.id),
      app.env,
      now,
    ),
  );
}
