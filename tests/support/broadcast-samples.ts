import type { App } from '../../src/core/app.ts';
import { broadcastKind } from '../../src/domain/broadcasts/broadcast-kind.ts';
import { createMessage, readBroadcast, sendBroadcast } from '../../src/domain/broadcasts/broadcasts.ts';
import type { Broadcast, BroadcastDraft } from '../../src/domain/broadcasts/types.ts';
import { contestRoundKind } from '../../src/domain/engagement/daily-contests/rounds.ts';
import { readSends } from '../../src/domain/mass-sends/control-sends.ts';
import { type RunResult, runSend } from '../../src/domain/mass-sends/run-send.ts';
import type { SendKinds } from '../../src/domain/mass-sends/types.ts';
import type { MessengerFile, SendOptions } from '../../src/domain/messaging/ports.ts';
import { pinnedKind, unpinKind } from '../../src/domain/pinned-messages/deliver.ts';
import { aUser } from './builders.ts';

/** Nothing waits: the pace is tested where it is the subject. */
export const FAST = { MESSENGER_SENDS_PER_SECOND: '1000', BROADCAST_MAILS_PER_SECOND: '1000' };

export const KINDS: SendKinds = {
  broadcast: broadcastKind,
  contest_round: contestRoundKind,
  pinned: pinnedKind,
  unpin: unpinKind,
};

const DRAFT: Omit<BroadcastDraft, 'channel' | 'target'> = {
  messageText: 'Maintenance tonight',
  selectedButtons: [],
  customButtons: [],
  media: null,
  emailSubject: 'News',
  emailHtmlContent: '<p>Hello</p>',
};

async function anAdmin(app: App) {
  const { id } = await aUser(app, { language: 'en' });
  return { kind: 'admin', userId: id, level: 100, isConfigAdmin: true } as const;
}

/** A broadcast through the messenger that no worker has yet. */
export async function aBroadcast(app: App, target: string, draft: Partial<BroadcastDraft> = {}): Promise<Broadcast> {
  const { messageText, selectedButtons, customButtons, media } = { ...DRAFT, ...draft };
  return createMessage(app, await anAdmin(app), { target, messageText, selectedButtons, customButtons, media }, null);
}

export async function aMailing(app: App, target: string, draft: Partial<BroadcastDraft> = {}): Promise<Broadcast> {
  return sendBroadcast(app, await anAdmin(app), { ...DRAFT, channel: 'email', target, ...draft }, null);
}

/** Runs each part once. */
export async function runParts(
  app: App,
  { id }: Pick<Broadcast, 'id'>,
  options: { leaseMs?: number; signal?: AbortSignal } = {},
) {
  const results: RunResult[] = [];
  for (const send of await readSends(app, 'broadcast', [id])) {
    results.push(await runSend(app, KINDS, send.id, { signal: new AbortController().signal, ...options }));
  }
  return results;
}

export async function delivered(app: App, broadcast: Pick<Broadcast, 'id'>): Promise<Broadcast> {
  await runParts(app, broadcast);
  return readBroadcast(app, broadcast.id);
}

interface SentMessage extends SendOptions {
  chatId: number;
  html: string;
  file?: MessengerFile;
  kind?: string;
}

/** The app with a messenger that records what it sends; `fail` throws for a chat. */
export function recordingMessenger(app: App, fail: (chatId: number) => void | Promise<void> = () => undefined) {
  const sent: SentMessage[] = [];
  let id = 0;
  const messenger: App['ports']['messenger'] = {
    ...app.ports.messenger,
    isConfigured: () => true,
    sendMessage: async (chatId, html, options = {}) => {
      await fail(chatId);
      sent.push({ chatId, html, ...options });
      id += 1;
      return { messageId: id };
    },
    sendFile: async (chatId, kind, file, html, options = {}) => {
      await fail(chatId);
      sent.push({ chatId, html, file, kind, ...options });
      id += 1;
      return { messageId: id, fileId: 'fileId' in file ? file.fileId : `uploaded${id}`, fileUniqueId: 'unique' };
    },
  };
  return { app: { ...app, ports: { ...app.ports, messenger } }, sent };
}

export interface RecipientRow {
  userId: number;
  state: string;
  isRepeated: boolean;
  attempts: number;
  messageId: number | null;
}

export async function recipientsOf(app: App, { id }: Pick<Broadcast, 'id'>): Promise<RecipientRow[]> {
  return app.db.sql<RecipientRow>(
    `SELECT r.user_id, r.state, r.is_repeated, r.attempts::int AS attempts, r.message_id FROM mass_send_recipients r
     JOIN mass_sends m ON m.id = r.send_id WHERE m.kind = 'broadcast' AND m.source_id = $1::int ORDER BY r.user_id`,
    [id],
  );
}
