import { timingSafeEqual } from 'node:crypto';
import type { InlineKeyboardButton } from '@grammyjs/types';
import type { HttpClient } from '../../core/http/http-client.ts';
import {
  type MessengerButton,
  MessengerError,
  type MessengerPort,
  type MessengerWebhookRequest,
  type MessengerWebhookResult,
} from '../../domain/messaging/ports.ts';
import { BotApiClient, type BotApiConnection } from './bot-api-client.ts';
import { multipartForm } from './multipart-form.ts';
import type { SendPacer } from './send-pacer.ts';
import { starsTransfer } from './stars-transfer.ts';
import { chatMember, parseUpdate } from './updates.ts';

const SECRET_HEADER = 'x-telegram-bot-api-secret-token';
/** Kinds of update that the webhook requests; `chat_member` is sent only when it is listed. */
const ALLOWED_UPDATES = ['message', 'callback_query', 'pre_checkout_query', 'chat_member', 'my_chat_member'] as const;
const MARKUP = { spoilerTag: 'tg-spoiler', emojiTag: 'tg-emoji', emojiIdAttribute: 'emoji-id', linkScheme: 'tg' };
const ALREADY_REFUNDED = /CHARGE_ALREADY_REFUNDED/;
const MAX_TITLE = 32;
const MAX_DESCRIPTION = 255;

export interface MessengerOptions {
  /** Built with `retries: 0`, see `BotApiClient`. */
  http: HttpClient;
  /** Read on every call; null while no bot token is set. */
  connection: () => BotApiConnection | null;
  pacer?: SendPacer;
}

/** The messenger over the Bot API (spec 05 section 15). */
export function createMessengerPort(options: MessengerOptions): MessengerPort {
  const { connection } = options;
  const client = new BotApiClient(options);

  return {
    markup: MARKUP,
    isConfigured: () => connection() !== null,
    linkTo: (username) => `https://t.me/${username}`,
    sendMessage: async (chatId, html, buttons = [], threadId) => {
      const message = await client.send('sendMessage', chatId, {
        chat_id: chatId,
        text: html,
        parse_mode: 'HTML',
        link_preview_options: { is_disabled: true },
        ...placed(buttons, threadId),
      });
      return { messageId: message.message_id };
    },
    sendPhoto: async (chatId, fileId, html, buttons = [], threadId) => {
      const caption = html === '' ? {} : { caption: html, parse_mode: 'HTML' as const };
      const message = await client.send('sendPhoto', chatId, {
        chat_id: chatId,
        photo: fileId,
        ...caption,
        ...placed(buttons, threadId),
      });
      return { messageId: message.message_id };
    },
    sendDocument: async (chatId, file, html) => {
      const form = multipartForm({ chat_id: String(chatId), caption: html, parse_mode: 'HTML' }, { field: 'document', ...file });
      const message = await client.sendForm('sendDocument', chatId, form);
      return { messageId: message.message_id };
    },
    hasFile: async (fileId) => {
      try {
        return (await client.call('getFile', { file_id: fileId })).file_path !== undefined;
      } catch (error) {
        if (error instanceof MessengerError && error.failure.kind === 'rejected') return false;
        throw error;
      }
    },
    deleteMessage: async (chatId, messageId) => {
      await client.call('deleteMessage', { chat_id: chatId, message_id: messageId });
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
    receiveUpdate: (request) => checkUpdate(request, connection()?.webhookSecret ?? null),
  };
}

/** Buttons of a message, and its topic. */
function placed(buttons: readonly (readonly MessengerButton[])[], threadId: number | undefined) {
  return {
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
