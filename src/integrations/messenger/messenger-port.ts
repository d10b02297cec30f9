import { timingSafeEqual } from 'node:crypto';
import type { InlineKeyboardButton, StarTransaction } from '@grammyjs/types';
import type { HttpClient } from '../../core/http/http-client.ts';
import {
  type MediaKind,
  type MessengerButton,
  MessengerError,
  type MessengerFile,
  type MessengerPort,
  type MessengerWebhookRequest,
  type MessengerWebhookResult,
  type SendOptions,
  type StarsTransfer,
} from '../../domain/messaging/ports.ts';
import { BotApiClient, type BotApiConnection, type EncodedForm, multipartForm } from './bot-api-client.ts';
import type { SendPacer } from './send-pacer.ts';
import { chatMember, parseUpdate } from './updates.ts';

const SECRET_HEADER = 'x-telegram-bot-api-secret-token';
/** Kinds of update that the webhook requests; `chat_member` is sent only when it is listed. */
const ALLOWED_UPDATES = ['message', 'callback_query', 'pre_checkout_query', 'chat_member', 'my_chat_member'] as const;
const MARKUP = { spoilerTag: 'tg-spoiler', emojiTag: 'tg-emoji', emojiIdAttribute: 'emoji-id', linkScheme: 'tg' };
const ALREADY_REFUNDED = /CHARGE_ALREADY_REFUNDED/;
const FILE_METHODS = { photo: 'sendPhoto', video: 'sendVideo', document: 'sendDocument' } as const;
/** Limit of the Bot API for files that are fetched. */
const MAX_DOWNLOAD_BYTES = 20_000_000;
const MAX_TITLE = 32;
const MAX_DESCRIPTION = 255;

export interface MessengerOptions {
  /** Built with `retries: 0`, see `BotApiClient`. */
  http: HttpClient;
  /** Read on every call; null while no bot token is set. */
  connection: () => BotApiConnection | null;
  /** For files, which take longer. Default: `http`. */
  fileHttp?: HttpClient;
  pacer?: SendPacer;
  /** Notified of a group that has another id now; messages to the old one go there while this process runs. */
  onMoved?: (from: number, to: number) => void;
}

/** The messenger over the Bot API (spec 05 section 15). */
export function createMessengerPort(options: MessengerOptions): MessengerPort {
  const { connection } = options;
  const client = new BotApiClient(options);

  return {
    markup: MARKUP,
    isConfigured: () => connection() !== null,
    linkTo: (username) => `https://t.me/${username}`,
    sendMessage: async (chatId, html, options = {}) => {
      const payload = {
        text: html,
        parse_mode: 'HTML',
        link_preview_options: { is_disabled: true },
        ...placed(options),
      } as const;
      const message = await client.send('sendMessage', chatId, payload, options);
      return { messageId: message.message_id };
    },
    sendFile: async (chatId, kind, file, html, options = {}) => {
      const caption = html === '' ? {} : { caption: html, parse_mode: 'HTML' as const };
      const method = FILE_METHODS[kind];
      const message =
        'fileId' in file
          ? await client.send(method, chatId, { [kind]: file.fileId, ...caption, ...placed(options) } as never, options)
          : await client.sendForm(
              method,
              chatId,
              (chat) => fileForm(chat, kind, file, { ...caption, ...placed(options) }),
              options,
            );
      return { messageId: message.message_id, ...idsOf(message, kind) };
    },
    hasFile: async (fileId) => {
      try {
        return (await client.call('getFile', { file_id: fileId })).file_path !== undefined;
      } catch (error) {
        if (error instanceof MessengerError && error.failure.kind === 'rejected') return false;
        throw error;
      }
    },
    downloadFile: async (fileId) => {
      try {
        const { file_path: path, file_size: size } = await client.call('getFile', { file_id: fileId });
        if (path === undefined || (size ?? 0) > MAX_DOWNLOAD_BYTES) return null;
        const bytes = await client.download(path);
        return bytes && { name: path.slice(path.lastIndexOf('/') + 1), bytes };
      } catch (error) {
        if (error instanceof MessengerError && error.failure.kind === 'rejected') return null;
        throw error;
      }
    },
    deleteMessage: async (chatId, messageId) => {
      await client.call('deleteMessage', { chat_id: chatId, message_id: messageId });
    },
    pinMessage: async (chatId, messageId) => {
      await client.call('pinChatMessage', { chat_id: chatId, message_id: messageId, disable_notification: true });
    },
    unpinMessage: async (chatId, messageId) => {
      await client.call('unpinChatMessage', { chat_id: chatId, message_id: messageId });
    },
    createStarsInvoiceLink: async ({ title, description, payload, stars }) =>
      client.call('createInvoiceLink', {
        title: title.slice(0, MAX_TITLE),
        description: description.slice(0, MAX_DESCRIPTION),
        payload,
        provider_token: '',
        currency: 'XTR',
        prices: [{ label: title.slice(0, MAX_TITLE), amount: stars }],
      }),
    refundStars: async (payerMessengerId, chargeId) => {
      try {
        await client.call('refundStarPayment', { user_id: payerMessengerId, telegram_payment_charge_id: chargeId });
      } catch (error) {
        // The answer to an earlier try was lost.
        if (!(error instanceof MessengerError && ALREADY_REFUNDED.test(error.message))) throw error;
      }
    },
    listStarsTransfers: async (offset, limit) =>
      (await client.call('getStarTransactions', { offset, limit })).transactions.map(starsTransfer),
    answerPreCheckout: async (queryId, ok, errorText) => {
      await client.call(
        'answerPreCheckoutQuery',
        ok
          ? { pre_checkout_query_id: queryId, ok: true }
          : { pre_checkout_query_id: queryId, ok: false, error_message: errorText ?? '—' },
      );
    },
    answerCallback: async (queryId, text) => {
      await client.call('answerCallbackQuery', { callback_query_id: queryId, ...(text === undefined ? {} : { text }) });
    },
    getChatMember: async (chatId, messengerId) =>
      chatMember(await client.call('getChatMember', { chat_id: chatId, user_id: messengerId })),
    findPerson: async (username) => {
      try {
        const chat = await client.call('getChat', { chat_id: `@${username}` });
        return chat.type === 'private' ? chat.id : null;
      } catch (error) {
        const kind = error instanceof MessengerError ? error.failure.kind : null;
        if (kind === 'chat_not_found' || kind === 'rejected') return null;
        throw error;
      }
    },
    getMe: async () => {
      const me = await client.call('getMe', {});
      return { messengerId: me.id, username: me.username, firstName: me.first_name };
    },
    setWebhook: async (url) => {
      const secret = connection()?.webhookSecret;
      await client.call('setWebhook', {
        url,
        allowed_updates: [...ALLOWED_UPDATES],
        ...(secret ? { secret_token: secret } : {}),
      });
    },
    readWebhook: async () => (await client.call('getWebhookInfo', {})).url || null,
    receiveUpdate: (request) => checkUpdate(request, connection()?.webhookSecret ?? null),
  };
}

/** A form has texts only: objects are sent as JSON. */
function fileForm(
  chatId: number,
  kind: MediaKind,
  file: Exclude<MessengerFile, { fileId: string }>,
  fields: Record<string, unknown>,
): EncodedForm {
  const texts = Object.entries({ chat_id: chatId, ...fields }).map(([key, value]) => [
    key,
    typeof value === 'object' ? JSON.stringify(value) : String(value),
  ]);
  return multipartForm(Object.fromEntries(texts), { field: kind, name: file.name, type: file.contentType, content: file.bytes });
}

/** Ids of a sent file; of a picture those of its largest size. A video without sound is returned as an animation, a text file as a document. */
function idsOf(message: object, kind: MediaKind): { fileId: string | null; fileUniqueId: string | null } {
  const parts = message as Partial<Record<MediaKind | 'animation', FileIds | FileIds[]>>;
  const found = parts[kind] ?? parts.animation ?? parts.document;
  const file = Array.isArray(found) ? found.at(-1) : found;
  return { fileId: file?.file_id ?? null, fileUniqueId: file?.file_unique_id ?? null };
}

interface FileIds {
  file_id?: string;
  file_unique_id?: string;
}

/** Buttons of a message, its topic, and whether it is heard. */
function placed({ buttons = [], threadId, isSilent = false }: SendOptions) {
  return {
    ...(isSilent ? { disable_notification: true } : {}),
    ...(buttons.length > 0 ? { reply_markup: { inline_keyboard: buttons.map((row) => row.map(wireButton)) } } : {}),
    ...(threadId === undefined ? {} : { message_thread_id: threadId }),
  };
}

function wireButton(button: MessengerButton): InlineKeyboardButton {
  if ('url' in button) return { text: button.text, url: button.url };
  if ('webAppUrl' in button) return { text: button.text, web_app: { url: button.webAppUrl } };
  return { text: button.text, callback_data: button.callbackData };
}

/** Without a configured secret every request is refused (spec 00), because payments arrive here. */
function checkUpdate(request: MessengerWebhookRequest, secret: string | null): MessengerWebhookResult {
  if (!secret) return refused(404, { detail: 'Not Found' });
  if (!equal(request.headers[SECRET_HEADER] ?? '', secret)) return refused(401, { status: 'error', reason: 'invalid_secret' });
  const update = parseUpdate(request.rawBody.toString('utf8'));
  if (!update) return refused(400, { status: 'error', reason: 'invalid_json' });
  return { accepted: true, update, reply: { status: 200, body: JSON.stringify({ status: 'ok' }) } };
}

function refused(status: number, body: unknown): MessengerWebhookResult {
  return { accepted: false, reply: { status, body: JSON.stringify(body) } };
}

function equal(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}

/** A transaction of the Bot API: one with a source came in, one with a receiver went out. A refund has the id of its payment. */
function starsTransfer({ id, amount, date, source, receiver }: StarTransaction): StarsTransfer {
  const partner = source ?? receiver;
  const isOfInvoice = partner?.type === 'user' && partner.transaction_type === 'invoice_payment';
  return {
    kind: !isOfInvoice ? 'other' : source ? 'payment' : 'refund',
    chargeId: id,
    payerMessengerId: partner?.type === 'user' ? partner.user.id : null,
    payload: isOfInvoice ? (partner.invoice_payload ?? null) : null,
    stars: amount,
    at: new Date(date * 1_000),
  };
}
