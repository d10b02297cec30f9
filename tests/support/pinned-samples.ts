import type { App } from '../../src/core/app.ts';
import { findSend } from '../../src/domain/mass-sends/repo.ts';
import { type RunResult, runSend } from '../../src/domain/mass-sends/run-send.ts';
import type { MassSend } from '../../src/domain/mass-sends/types.ts';
import { MessengerError, type MessengerFile, type SendOptions } from '../../src/domain/messaging/ports.ts';
import type { PinnedDraft } from '../../src/domain/pinned-messages/types.ts';
import { KINDS } from './broadcast-samples.ts';

export const PINNED: PinnedDraft = { content: '<b>Hello</b>', media: null, sendBeforeMenu: true, sendOnEveryStart: true };

export const TOKEN = { kind: 'token', tokenId: 1, name: 'shop' } as const;

export interface ChatMessage extends SendOptions {
  chatId: number;
  messageId: number;
  html: string;
  kind?: string;
  file?: MessengerFile;
}

type Step = 'send' | 'pin' | 'unpin';

/** A messenger that keeps what each chat shows; `fail` throws for a step in a chat, before it has any effect. */
export function chats(app: App, fail: (step: Step, chatId: number) => void | Promise<void> = () => undefined) {
  const messages: ChatMessage[] = [];
  const pinned = new Map<number, Set<number>>();
  const pinsOf = (chatId: number) => pinned.get(chatId) ?? pinned.set(chatId, new Set()).get(chatId)!;
  const add = (message: Omit<ChatMessage, 'messageId'>): { messageId: number } => {
    const messageId = messages.length + 1;
    messages.push({ ...message, messageId });
    return { messageId };
  };
  const known = (chatId: number, messageId: number) => {
    if (!messages.some((one) => one.chatId === chatId && one.messageId === messageId)) {
      throw new MessengerError({ kind: 'rejected' }, 'message not found');
    }
  };
  const messenger: App['ports']['messenger'] = {
    ...app.ports.messenger,
    isConfigured: () => true,
    sendMessage: async (chatId, html, options = {}) => {
      await fail('send', chatId);
      return add({ chatId, html, ...options });
    },
    sendFile: async (chatId, kind, file, html, options = {}) => {
      await fail('send', chatId);
      const { messageId } = add({ chatId, html, kind, file, ...options });
      return { messageId, fileId: 'fileId' in file ? file.fileId : `uploaded${messageId}`, fileUniqueId: 'unique' };
    },
    pinMessage: async (chatId, messageId) => {
      await fail('pin', chatId);
      known(chatId, messageId);
      pinsOf(chatId).add(messageId);
    },
    unpinMessage: async (chatId, messageId) => {
      await fail('unpin', chatId);
      known(chatId, messageId);
      pinsOf(chatId).delete(messageId);
    },
  };
  return {
    app: { ...app, ports: { ...app.ports, messenger } },
    messages,
    /** What the chat got, in its order. */
    of: (chatId: number) => messages.filter((one) => one.chatId === chatId),
    /** Ids of the messages pinned in the chat. */
    pinsOf: (chatId: number) => [...pinsOf(chatId)],
  };
}

/** The newest send of pinned messages. */
export async function lastPinSend(app: App): Promise<MassSend> {
  const [row] = await app.db.sql<{ id: number }>(
    "SELECT id FROM mass_sends WHERE kind IN ('pinned', 'unpin') ORDER BY id DESC LIMIT 1",
  );
  return (await findSend(app.db, row!.id))!;
}

export function runPinSend(
  app: App,
  { id }: Pick<MassSend, 'id'>,
  options: { leaseMs?: number; signal?: AbortSignal } = {},
): Promise<RunResult> {
  return runSend(app, KINDS, id, { signal: new AbortController().signal, ...options });
}

/** Runs the newest send of pinned messages to its end. */
export async function pinSendDone(app: App): Promise<MassSend> {
  const send = await lastPinSend(app);
  const result = await runPinSend(app, send);
  if (!result.isOver) throw new Error(`not over: ${result.waitMs}`);
  return (await findSend(app.db, send.id))!;
}

/** No message is stored, nobody is to get one, and the cooldown is over. */
export async function withoutPinnedMessages(app: App): Promise<void> {
  await app.db.sql("DELETE FROM service_state WHERE key = 'pinned-messages:cooldown' RETURNING key");
  await app.db.sql("UPDATE mass_sends SET state = 'cancelled', finished_at = now() WHERE finished_at IS NULL RETURNING id");
  for (const table of ['pinned_deliveries', 'pinned_messages'])
    await app.db.sql(`DELETE FROM ${table} WHERE true RETURNING 1 AS gone`);
  // Users of other tests in this database.
  await app.db.sql("UPDATE users SET status = 'blocked' WHERE status = 'active' RETURNING id");
  await app.db.sql('DELETE FROM send_paces WHERE true RETURNING channel');
}
