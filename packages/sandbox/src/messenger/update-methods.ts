import type { BotApiMethod, MethodContext, Payload } from './bot-api-methods.ts';
import { parsedLength, refuseUnreachable } from './bot-api-methods.ts';
import { BotApiRefusal } from './bot-api-refusal.ts';
import type { MessengerState, SandboxMessage } from './messenger-state.ts';

const MAX_ANSWERS = 100;

/** How a bot receives updates, answers buttons and changes messages. */
export const UPDATE_METHODS: Readonly<Record<string, BotApiMethod>> = {
  getUpdates: ({ queue }, payload) => queue.poll(payload),
  deleteWebhook: async ({ queue }, payload) => {
    await queue.receiveBy(null, payload, true);
    return true;
  },
  setWebhook: async ({ queue, postQueued }, payload) => {
    const url = String(payload.url ?? '');
    const secret = typeof payload.secret_token === 'string' ? payload.secret_token : null;
    // An empty address removes the webhook, as in the real Bot API.
    postQueued(await queue.receiveBy(url === '' ? null : { url, secret }, payload, url === ''));
    return true;
  },
  getWebhookInfo: async ({ state }) => {
    const { webhook, queue = [] } = await state.read();
    return { url: webhook?.url ?? '', has_custom_certificate: false, pending_update_count: queue.length };
  },
  answerCallbackQuery: async ({ state }, payload) => {
    const { callback_query_id: queryId, text, show_alert: isAlert } = payload;
    await state.update((current) => {
      const asked = current.recent?.findLast((one) => (one.callback_query as { id?: string } | undefined)?.id === queryId);
      if (!asked || typeof text !== 'string') return;
      const { from } = asked.callback_query as { from: { id: number } };
      const answer = { queryId: String(queryId), userId: from.id, text, isAlert: isAlert === true };
      current.answers = [...(current.answers ?? []), answer].slice(-MAX_ANSWERS);
    });
    return true;
  },
  editMessageText: (context, payload) => {
    const text = String(payload.text ?? '');
    if (text === '') throw new BotApiRefusal(400, 'Bad Request: message text is empty');
    if (parsedLength(payload, text) > 4_096) throw new BotApiRefusal(400, 'Bad Request: message is too long');
    return changeMessage(context, payload, (message) => {
      if (message.photo ?? message.video ?? message.document) {
        throw new BotApiRefusal(400, 'Bad Request: there is no text in the message to edit');
      }
      return { text, buttons: buttonsOf(payload), ...(payload.parse_mode === 'HTML' ? { isHtml: true as const } : {}) };
    });
  },
  editMessageReplyMarkup: (context, payload) => changeMessage(context, payload, () => ({ buttons: buttonsOf(payload) })),
  sendChatAction: async ({ state }, payload) => {
    refuseUnreachable(await state.read(), Number(payload.chat_id));
    return true;
  },
  setMyCommands: async ({ state }, payload) => {
    await state.update((current) => {
      current.commands = (payload.commands ?? []) as NonNullable<MessengerState['commands']>;
    });
    return true;
  },
};

function buttonsOf({ reply_markup: markup }: Payload): SandboxMessage['buttons'] {
  return (markup as { inline_keyboard?: SandboxMessage['buttons'] } | undefined)?.inline_keyboard ?? [];
}

async function changeMessage(
  { state }: MethodContext,
  payload: Payload,
  changeOf: (message: SandboxMessage) => Partial<SandboxMessage>,
): Promise<unknown> {
  const chatId = Number(payload.chat_id);
  return state.update((current) => {
    refuseUnreachable(current, chatId);
    const message = current.messages.find((one) => one.chatId === chatId && one.messageId === payload.message_id);
    if (!message) throw new BotApiRefusal(400, 'Bad Request: message to edit not found');
    if (message.senderId !== undefined) throw new BotApiRefusal(400, "Bad Request: message can't be edited");
    const before = JSON.stringify(message);
    Object.assign(message, changeOf(message));
    if (JSON.stringify(message) === before) {
      throw new BotApiRefusal(400, 'Bad Request: message is not modified');
    }
    const date = Math.floor(Date.parse(message.sentAt) / 1_000);
    return { message_id: message.messageId, date, chat: { id: chatId, type: 'private' }, text: message.text };
  });
}
