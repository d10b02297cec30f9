import { type Context, GrammyError, type InlineKeyboard, type SessionFlavor } from 'grammy';
import type { components } from './generated/openapi.d.ts';
import type { Service, ServiceClient } from './service.ts';
import type { Texts } from './texts.ts';

export type Profile = components['schemas']['UserResponse'];

/** What the next message of a person is; null = nothing is waited for. */
export type Expected = null | { kind: 'promo-code' } | { kind: 'ticket' } | { kind: 'ticket-message'; ticketId: number };

/** What the bot remembers of a chat. */
export interface ChatState {
  expected: Expected;
  /** The order that a message shows with its price, and what its purchase is sent with. */
  offer?: { messageId: number; order: string; quote: string; idempotencyKey: string };
}

export interface BotContext extends Context, SessionFlavor<ChatState> {
  service: Service;
  /** The cabinet of the person who wrote or pressed. */
  cabinet: ServiceClient;
  profile: Profile;
  texts: Texts;
  language: 'ru' | 'en';
}

/** Replaces the message of the pressed button, or sends a new one. A repeated update shows the same once more. @returns id of the message */
export async function show(ctx: BotContext, text: string, keyboard?: InlineKeyboard): Promise<number> {
  const options = { parse_mode: 'HTML' as const, link_preview_options: { is_disabled: true }, reply_markup: keyboard };
  if (ctx.callbackQuery?.message && 'text' in ctx.callbackQuery.message) {
    try {
      await ctx.editMessageText(text, options);
      return ctx.callbackQuery.message.message_id;
    } catch (error) {
      if (!isBadRequest(error)) throw error;
      if (error.description.includes('message is not modified')) return ctx.callbackQuery.message.message_id;
      // The message is too old to be edited, or was deleted: a new one follows.
    }
  }
  return (await ctx.reply(text, options)).message_id;
}

/** Ends the waiting of the pressed button. A repeated update is too late for that, which changes nothing. */
export async function endWaiting(ctx: BotContext): Promise<void> {
  try {
    await ctx.answerCallbackQuery();
  } catch (error) {
    if (!isBadRequest(error)) throw error;
  }
}

function isBadRequest(error: unknown): error is GrammyError {
  return error instanceof GrammyError && error.error_code === 400;
}

/** Text from people or the service inside a message with tags. */
export function escaped(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}

/**
 * Idempotency-Key of what this update requests: the same when the messenger delivers the update again, so that nothing is paid or
 * opened twice.
 */
export function onceFor(ctx: BotContext, action: string): { 'Idempotency-Key': string } {
  return { 'Idempotency-Key': `bot:${ctx.update.update_id}:${action}` };
}

/** Of what can be had once: two presses of one button are one, too. */
export function onceForMessage(ctx: BotContext, action: string): { 'Idempotency-Key': string } {
  const { message } = ctx.callbackQuery ?? {};
  return { 'Idempotency-Key': `bot:${ctx.chat?.id}:${message?.message_id}:${action}` };
}
