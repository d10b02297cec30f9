import type { StoredState } from '../stored-state.ts';
import {
  MAX_MESSAGES,
  type MessengerState,
  type SandboxMessage,
  type SandboxMessengerUser,
  type SandboxStarsInvoice,
  type SentFile,
  type SentFiles,
  wireUser,
} from './messenger-state.ts';

const MAX_PEOPLE = 50;

/** One chat of a person with the bot, oldest message first. */
export interface Conversation {
  person: SandboxMessengerUser;
  messages: SandboxMessage[];
  /** Stars invoices that are offered by a button, by link. */
  invoices: Record<string, SandboxStarsInvoice>;
  /** The latest answer of the bot to a pressed button. */
  answer: { queryId: string; text: string; isAlert: boolean } | null;
}

/** What persons do in their chats with the bot; false or null when there is no such person, button or invoice. */
export interface Conversations {
  bot(): Promise<{ username: string; commands: { command: string; description: string }[] }>;
  people(): Promise<SandboxMessengerUser[]>;
  /** Adds a person, or changes the names of a known one. */
  add(person: SandboxMessengerUser): Promise<void>;
  read(userId: number): Promise<Conversation | null>;
  sendText(userId: number, text: string): Promise<boolean>;
  sendPhoto(userId: number, photo: SentFile, caption: string): Promise<boolean>;
  press(userId: number, messageId: number, data: string): Promise<boolean>;
  pay(userId: number, link: string): Promise<SandboxStarsInvoice | null>;
  /** Delivers the latest update of the person again. */
  repeat(userId: number): Promise<boolean>;
  /** Content of a file of a message; null when it is no longer known. */
  file(fileId: string): SentFile | null;
}

export interface ConversationOptions {
  state: StoredState<MessengerState>;
  files: SentFiles;
  bot: { id: number; username: string; first_name: string };
  now: () => Date;
  postUpdate: (content: Record<string, unknown>) => Promise<number>;
  payStars: (link: string, payer: SandboxMessengerUser) => Promise<SandboxStarsInvoice | null>;
  repeat: (userId: number) => Promise<boolean>;
}

export function createConversations(options: ConversationOptions): Conversations {
  const { state, files, bot, now, postUpdate } = options;
  const personOf = async (userId: number) => (await state.read()).chatters?.find(({ id }) => id === userId) ?? null;

  /** Stores the message beside those of the bot and reports it. */
  const send = async (
    userId: number,
    stored: Pick<SandboxMessage, 'text' | 'photo'>,
    wire: Record<string, unknown>,
  ): Promise<boolean> => {
    const person = await personOf(userId);
    if (!person) return false;
    const sentAt = now();
    const messageId = await state.update((current) => {
      const id = current.nextId++;
      const message = { messageId: id, chatId: userId, senderId: userId, buttons: [], sentAt: sentAt.toISOString(), ...stored };
      current.messages = [...current.messages, message].slice(-MAX_MESSAGES);
      // Who writes to a bot has unblocked it.
      current.blocked = current.blocked.filter((blocked) => blocked !== userId);
      return id;
    });
    const date = Math.floor(sentAt.getTime() / 1_000);
    await postUpdate({ message: { message_id: messageId, date, chat: chatOf(person), from: wireUser(person), ...wire } });
    return true;
  };

  return {
    bot: async () => ({ username: bot.username, commands: (await state.read()).commands ?? [] }),
    people: async () => (await state.read()).chatters ?? [],
    add: (person) =>
      state.update((current) => {
        const others = (current.chatters ?? []).filter(({ id }) => id !== person.id);
        current.chatters = [...others, person].slice(-MAX_PEOPLE);
      }),
    read: async (userId) => {
      const { chatters = [], messages, invoices, answers = [] } = await state.read();
      const person = chatters.find(({ id }) => id === userId);
      if (!person) return null;
      const shown = messages.filter(({ chatId }) => chatId === userId);
      const links = new Set(shown.flatMap(({ buttons }) => buttons.flat().map(({ url }) => url)));
      const offered = invoices.filter(({ link }) => links.has(link));
      const answer = answers.findLast((one) => one.userId === userId) ?? null;
      return { person, messages: shown, invoices: Object.fromEntries(offered.map((one) => [one.link, one])), answer };
    },
    sendText: (userId, text) => {
      const command = /^\/[a-z0-9_]+(?:@\w+)?/i.exec(text)?.[0];
      const entities = command === undefined ? {} : { entities: [{ type: 'bot_command', offset: 0, length: command.length }] };
      return send(userId, { text }, { text, ...entities });
    },
    sendPhoto: (userId, photo, caption) => {
      const { fileId, fileUniqueId } = files.keep(photo);
      const size = { file_id: fileId, file_unique_id: fileUniqueId, width: 800, height: 600, file_size: photo.bytes.length };
      return send(userId, { text: caption, photo: fileId }, { photo: [size], ...(caption === '' ? {} : { caption }) });
    },
    press: async (userId, messageId, data) => {
      const { chatters = [], messages } = await state.read();
      const person = chatters.find(({ id }) => id === userId);
      const message = messages.find((one) => one.chatId === userId && one.messageId === messageId);
      if (!person || !message?.buttons.flat().some((button) => button.callback_data === data)) return false;
      const id = await state.update((current) => current.nextId++);
      const date = Math.floor(Date.parse(message.sentAt) / 1_000);
      await postUpdate({
        callback_query: {
          id: String(id),
          from: wireUser(person),
          chat_instance: String(userId),
          data,
          message: {
            message_id: messageId,
            date,
            chat: chatOf(person),
            from: { ...bot, is_bot: true },
            ...(message.photo === undefined ? { text: message.text } : { caption: message.text, photo: [] }),
            reply_markup: { inline_keyboard: message.buttons },
          },
        },
      });
      return true;
    },
    pay: async (userId, link) => {
      const person = await personOf(userId);
      return person && options.payStars(link, person);
    },
    repeat: options.repeat,
    file: (fileId) => files.byUniqueId(fileId.slice(-16)),
  };
}

function chatOf({ id, first_name, username }: SandboxMessengerUser): Record<string, unknown> {
  return { id, type: 'private', first_name, ...(username === undefined ? {} : { username }) };
}
