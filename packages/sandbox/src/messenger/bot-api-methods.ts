import { randomBytes } from 'node:crypto';
import type { StoredState } from '../stored-state.ts';
import { BotApiRefusal } from './bot-api-refusal.ts';
import {
  isSentFile,
  MAX_MESSAGES,
  type MessengerState,
  type SandboxMessage,
  type SandboxStarsInvoice,
  type SandboxStarsTransfer,
  type SandboxUpdate,
  type SentFile,
  type SentFiles,
} from './messenger-state.ts';
import type { UpdateQueue } from './update-queue.ts';

export interface MethodContext {
  state: StoredState<MessengerState>;
  files: SentFiles;
  queue: UpdateQueue;
  /** Posts updates that waited for a webhook. */
  postQueued: (updates: SandboxUpdate[]) => void;
  bot: { id: number; username: string; first_name: string };
  now: () => Date;
  baseUrl: () => string;
  /** Passes the pre-checkout answer to the payment that waits for it; false when none does. */
  answerPreCheckout: (queryId: string, ok: boolean) => boolean;
  /** Posts a service message about Stars to the webhook. */
  postStarsMessage: (message: Record<string, unknown>) => Promise<void>;
}

export type Payload = Record<string, unknown>;

const FILE_ID = /^[\w-]{8,255}$/;
const MAX_FILE_TEXT = 64 * 1024;

type MediaField = 'photo' | 'video' | 'document';
export type BotApiMethod = (context: MethodContext, payload: Payload) => Promise<unknown>;

/** Messages, money and members, as the real Bot API answers the methods. */
export const BOT_API_METHODS: Readonly<Record<string, BotApiMethod>> = {
  getMe: async ({ bot }) => ({ ...bot, is_bot: true, can_join_groups: true, has_main_web_app: true }),
  sendMessage,
  sendPhoto: (context, payload) => sendMedia(context, payload, 'photo'),
  sendVideo: (context, payload) => sendMedia(context, payload, 'video'),
  sendDocument: (context, payload) => sendMedia(context, payload, 'document'),
  getFile,
  deleteMessage: async ({ state }, payload) =>
    state.update((current) => {
      const before = current.messages.length;
      current.messages = current.messages.filter(({ messageId }) => messageId !== payload.message_id);
      if (current.messages.length === before) throw new BotApiRefusal(400, 'Bad Request: message to delete not found');
      return true;
    }),
  pinChatMessage: (context, payload) => setPinned(context, payload, true),
  unpinChatMessage: (context, payload) => setPinned(context, payload, false),
  createInvoiceLink,
  refundStarPayment,
  getStarTransactions,
  answerPreCheckoutQuery: async ({ answerPreCheckout }, payload) => {
    if (!answerPreCheckout(String(payload.pre_checkout_query_id), payload.ok === true)) {
      throw new BotApiRefusal(400, 'Bad Request: query is too old and response timeout expired or query ID is invalid');
    }
    return true;
  },
  getChatMember,
  getChat,
};

async function sendMessage(context: MethodContext, payload: Payload): Promise<unknown> {
  const text = String(payload.text ?? '');
  if (text === '') throw new BotApiRefusal(400, 'Bad Request: message text is empty');
  if (parsedLength(payload, text) > 4_096) throw new BotApiRefusal(400, 'Bad Request: message is too long');
  return keepMessage(context, payload, { text });
}

async function sendMedia(context: MethodContext, payload: Payload, kind: MediaField): Promise<unknown> {
  const sent = payload[kind];
  const text = String(payload.caption ?? '');
  if (parsedLength(payload, text) > 1_024) throw new BotApiRefusal(400, 'Bad Request: message caption is too long');
  if (isSentFile(sent)) {
    if (sent.bytes.length === 0) throw new BotApiRefusal(400, 'Bad Request: file must be non-empty');
    const stored = context.files.keep(sent);
    return keepMessage(context, payload, { text, [kind]: stored.fileId, ...documentOf(kind, sent) });
  }
  const fileId = String(sent ?? '');
  if (!FILE_ID.test(fileId)) throw new BotApiRefusal(400, 'Bad Request: wrong file identifier/HTTP URL specified');
  return keepMessage(context, payload, { text, [kind]: fileId });
}

/** The messenger counts a text without its tags, and an entity as one character. */
export function parsedLength({ parse_mode: mode }: Payload, text: string): number {
  const parsed = mode === 'HTML' ? text.replace(/<[^>]*>/g, '').replace(/&(?:lt|gt|amp|quot|#\d+|#x[\da-f]+);/gi, 'x') : text;
  return parsed.length;
}

/** One message of the chat; others stay as they are, and what the user does in the chat is not known here. */
async function setPinned({ state }: MethodContext, payload: Payload, isPinned: boolean): Promise<boolean> {
  const chatId = Number(payload.chat_id);
  await state.update((current) => {
    refuseUnreachable(current, chatId);
    const message = current.messages.find((one) => one.chatId === chatId && one.messageId === payload.message_id);
    if (!message) throw new BotApiRefusal(400, `Bad Request: message to ${isPinned ? 'pin' : 'unpin'} not found`);
    if (isPinned) message.isPinned = true;
    else delete message.isPinned;
  });
  return true;
}

export function refuseUnreachable({ unknown, blocked }: MessengerState, chatId: number): void {
  if (!Number.isSafeInteger(chatId) || unknown.includes(chatId)) throw new BotApiRefusal(400, 'Bad Request: chat not found');
  if (blocked.includes(chatId)) throw new BotApiRefusal(403, 'Forbidden: bot was blocked by the user');
}

/** What a text file says, for the list of messages. */
function documentOf(kind: MediaField, { name, bytes }: SentFile): Pick<SandboxMessage, 'file'> {
  return kind === 'document' ? { file: { name, text: bytes.toString('utf8').slice(0, MAX_FILE_TEXT) } } : {};
}

/** Returns files that were sent before. */
async function getFile({ state, files }: MethodContext, payload: Payload): Promise<unknown> {
  const fileId = String(payload.file_id ?? '');
  const { messages } = await state.read();
  const isSent = messages.some(({ photo, video, document }) => [photo, video, document].includes(fileId));
  if (!isSent) throw new BotApiRefusal(400, 'Bad Request: invalid file_id');
  const uniqueId = fileId.slice(-16);
  const stored = files.byUniqueId(uniqueId);
  const size = stored ? { file_size: stored.bytes.length } : {};
  return { file_id: fileId, file_unique_id: uniqueId, file_path: `files/${uniqueId}.${extensionOf(stored?.name)}`, ...size };
}

function extensionOf(name: string | undefined): string {
  return /\.(\w{1,8})$/.exec(name ?? '')?.[1] ?? 'jpg';
}

async function keepMessage(
  { state, now }: MethodContext,
  payload: Payload,
  { text, ...attached }: Pick<SandboxMessage, 'text' | MediaField | 'file'>,
): Promise<unknown> {
  const chatId = Number(payload.chat_id);
  const place = typeof payload.message_thread_id === 'number' ? { threadId: payload.message_thread_id } : {};
  const sound = payload.disable_notification === true ? { isSilent: true as const } : {};
  const markup = payload.reply_markup as { inline_keyboard?: SandboxMessage['buttons'] } | undefined;
  const sentAt = now();
  const messageId = await state.update((current) => {
    refuseUnreachable(current, chatId);
    const id = current.nextId++;
    const buttons = markup?.inline_keyboard ?? [];
    const html = payload.parse_mode === 'HTML' ? { isHtml: true as const } : {};
    const message = {
      messageId: id,
      chatId,
      text,
      buttons,
      ...html,
      sentAt: sentAt.toISOString(),
      ...attached,
      ...place,
      ...sound,
    };
    current.messages = [...current.messages, message].slice(-MAX_MESSAGES);
    return id;
  });
  return {
    message_id: messageId,
    date: Math.floor(sentAt.getTime() / 1_000),
    chat: { id: chatId, type: chatId < 0 ? 'supergroup' : 'private', first_name: 'Sandbox' },
    text,
    ...sentMedia(attached),
  };
}

/** Of a picture the messenger returns several sizes, the largest last. */
function sentMedia({ photo, video, document }: Partial<Record<MediaField, string>>): Record<string, unknown> {
  const idsOf = (fileId: string) => ({ file_id: fileId, file_unique_id: fileId.slice(-16) });
  if (photo !== undefined) return { photo: [{ ...idsOf(photo), file_id: `${photo}-s` }, idsOf(photo)] };
  if (video !== undefined) return { video: idsOf(video) };
  return document === undefined ? {} : { document: idsOf(document) };
}

async function createInvoiceLink({ state, baseUrl }: MethodContext, payload: Payload): Promise<unknown> {
  const { title, description, payload: invoicePayload, currency, prices } = payload;
  const stars = Array.isArray(prices) && prices.length === 1 ? Number((prices[0] as { amount?: unknown }).amount) : Number.NaN;
  if (currency !== 'XTR') throw new BotApiRefusal(400, 'Bad Request: CURRENCY_INVALID');
  if (!Number.isSafeInteger(stars) || stars < 1) throw new BotApiRefusal(400, 'Bad Request: STARS_INVOICE_INVALID');
  checkLength(title, 32, 'INVOICE_TITLE_INVALID');
  checkLength(description, 255, 'INVOICE_DESCRIPTION_INVALID');
  checkLength(invoicePayload, 128, 'INVOICE_PAYLOAD_INVALID');
  const link = `${baseUrl()}/invoice/${randomBytes(12).toString('base64url')}`;
  await state.update(({ invoices }) => {
    invoices.push({
      link,
      title: String(title),
      description: String(description),
      payload: String(invoicePayload),
      stars,
      status: 'pending',
      chargeId: null,
      payerId: null,
    });
  });
  return link;
}

/** Refunds a charge, and reports it as the real messenger does. */
async function refundStarPayment({ state, now, postStarsMessage }: MethodContext, payload: Payload): Promise<unknown> {
  const { user_id: payerId, telegram_payment_charge_id: chargeId } = payload;
  const invoice = await state.update((current) => {
    const paid = current.invoices.find((known) => known.chargeId === chargeId && known.payerId === payerId);
    if (!paid) throw new BotApiRefusal(400, 'Bad Request: CHARGE_NOT_FOUND');
    if (paid.status === 'refunded') throw new BotApiRefusal(400, 'Bad Request: CHARGE_ALREADY_REFUNDED');
    paid.status = 'refunded';
    current.transfers = [
      ...(current.transfers ?? []),
      transferOf({ ...paid, chargeId: String(chargeId) }, Number(payerId), now(), true),
    ];
    return { ...paid };
  });
  await postStarsMessage(starsMessage('refunded_payment', invoice, Number(payerId), now()));
  return true;
}

/** What the list of transfers says of a payment in Stars, or of its return. */
export function transferOf(
  { stars, payload, chargeId }: Pick<SandboxStarsInvoice, 'stars' | 'payload'> & { chargeId: string },
  payerId: number,
  now: Date,
  isRefund: boolean,
): SandboxStarsTransfer {
  return { chargeId, stars, payerId, payload, isRefund, date: Math.floor(now.getTime() / 1_000) };
}

/** Transfers in the order of time, as the real messenger lists them. */
async function getStarTransactions({ state }: MethodContext, payload: Payload): Promise<unknown> {
  const { offset = 0, limit = 100 } = payload as { offset?: number; limit?: number };
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > 100)
    throw new BotApiRefusal(400, 'Bad Request: invalid limit specified');
  if (!Number.isSafeInteger(offset) || offset < 0) throw new BotApiRefusal(400, 'Bad Request: invalid offset specified');
  const { transfers = [] } = await state.read();
  return {
    transactions: transfers
      .slice(offset, offset + limit)
      .map(({ chargeId, stars, payerId, payload: invoice, isRefund, date }) => {
        const user = { id: payerId, is_bot: false, first_name: 'Sandbox' };
        const partner = { type: 'user', transaction_type: 'invoice_payment', user, invoice_payload: invoice };
        return { id: chargeId, amount: stars, date, ...(isRefund ? { receiver: partner } : { source: partner }) };
      }),
  };
}

/** The service message about a payment in Stars, or about its return. */
export function starsMessage(
  kind: 'successful_payment' | 'refunded_payment',
  { stars, payload, chargeId }: Pick<SandboxStarsInvoice, 'stars' | 'payload' | 'chargeId'>,
  payerId: number,
  now: Date,
): Record<string, unknown> {
  const seconds = Math.floor(now.getTime() / 1_000);
  const charge = { telegram_payment_charge_id: chargeId, provider_payment_charge_id: '' };
  return {
    message_id: seconds % 2_000_000_000,
    date: seconds,
    chat: { id: payerId, type: 'private', first_name: 'Sandbox' },
    from: { id: payerId, is_bot: false, first_name: 'Sandbox' },
    [kind]: { currency: 'XTR', total_amount: stars, invoice_payload: payload, ...charge },
  };
}

function checkLength(value: unknown, max: number, problem: string): void {
  const bytes = typeof value === 'string' ? Buffer.byteLength(value) : 0;
  const characters = typeof value === 'string' ? value.length : 0;
  const size = problem === 'INVOICE_PAYLOAD_INVALID' ? bytes : characters;
  if (size < 1 || size > max) throw new BotApiRefusal(400, `Bad Request: ${problem}`);
}

/** Resolves the names that were made known; others are unknown, as with the real messenger. */
async function getChat({ state }: MethodContext, payload: Payload): Promise<unknown> {
  const name = String(payload.chat_id).replace(/^@/, '').toLowerCase();
  const id = (await state.read()).people?.[name];
  if (id === undefined) throw new BotApiRefusal(400, 'Bad Request: chat not found');
  return { id, type: 'private', first_name: 'Sandbox', username: name };
}

/** The bot is an administrator of every channel, unless a status of it is set; it is notified of members only then. */
async function getChatMember({ state, bot }: MethodContext, payload: Payload): Promise<unknown> {
  const chatId = String(payload.chat_id);
  const userId = Number(payload.user_id);
  const { memberships, unknown } = await state.read();
  if (unknown.includes(Number(chatId))) throw new BotApiRefusal(400, 'Bad Request: chat not found');
  const statusOf = (id: number) => memberships.find((entry) => entry.chatId === chatId && entry.userId === id)?.status;
  const botStatus = statusOf(bot.id) ?? 'administrator';
  if (botStatus === 'left' || botStatus === 'kicked')
    throw new BotApiRefusal(403, 'Forbidden: bot is not a member of the channel chat');
  if (userId !== bot.id && botStatus !== 'administrator')
    throw new BotApiRefusal(400, 'Bad Request: member list is inaccessible');
  return {
    status: userId === bot.id ? botStatus : (statusOf(userId) ?? 'member'),
    user: { id: userId, is_bot: false, first_name: 'Sandbox' },
  };
}
