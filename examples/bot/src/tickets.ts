import { Composer, InlineKeyboard } from 'grammy';
import { type BotContext, escaped, onceFor, show } from './context.ts';
import { dataOf, type ServiceClient } from './service.ts';

const MIN_TEXT = 10;
const MAX_TITLE = 60;
/** The messages of a ticket that fit into one message of the messenger. */
const SHOWN_MESSAGES = 5;

interface Photo {
  media_type: string;
  media_file_id: string;
}

/** @param botToken for the download of photos @param apiRoot of the Bot API */
export function tickets(botToken: string, apiRoot: string): Composer<BotContext> {
  const composer = new Composer<BotContext>();

  composer.callbackQuery('menu_support', async (ctx) => {
    const { texts } = ctx;
    const config = dataOf(await ctx.cabinet.GET('/cabinet/info/support-config'));
    const keyboard = new InlineKeyboard();
    if (config.tickets_enabled) keyboard.text(texts.newTicket, 'create_ticket').row().text(texts.myTickets, 'my_tickets').row();
    const contact = config.support_username ? texts.ticketsOff(escaped(config.support_username)) : '';
    const text = config.tickets_enabled ? texts.support : contact || texts.support;
    await show(ctx, text, keyboard.text(texts.toMenu, 'back_to_menu'));
  });

  composer.callbackQuery('create_ticket', async (ctx) => {
    ctx.session.expected = { kind: 'ticket' };
    await show(ctx, ctx.texts.askTicket, new InlineKeyboard().text(ctx.texts.toMenu, 'back_to_menu'));
  });

  composer.callbackQuery('my_tickets', async (ctx) => {
    const { items } = dataOf(await ctx.cabinet.GET('/cabinet/tickets'));
    const keyboard = new InlineKeyboard();
    for (const { id, title, status } of items) keyboard.text(`#${id} ${title} (${status})`.slice(0, 64), `ticket:${id}`).row();
    await show(
      ctx,
      items.length > 0 ? ctx.texts.myTickets : ctx.texts.noTickets,
      keyboard.text(ctx.texts.toMenu, 'back_to_menu'),
    );
  });

  // The second form is of the service's notice of an answer.
  composer.callbackQuery([/^ticket:(\d+)$/, /^view_ticket_(\d+)$/], async (ctx) => {
    const { texts } = ctx;
    const path = { ticket_id: Number(ctx.match[1]) };
    const ticket = dataOf(await ctx.cabinet.GET('/cabinet/tickets/{ticket_id}', { params: { path } }));
    const messages = (ticket.messages ?? []).slice(-SHOWN_MESSAGES).map(({ is_from_admin: isFromAdmin, message_text: text }) => {
      return `${isFromAdmin ? texts.fromSupport : texts.fromYou}: ${escaped(text.slice(0, 500))}`;
    });
    const keyboard = new InlineKeyboard();
    if (ticket.status !== 'closed') keyboard.text(texts.answerTicket, `reply:${ticket.id}`).row();
    const text = [texts.ticket(ticket.id, escaped(ticket.title), ticket.status), ...messages].join('\n\n');
    await show(ctx, text, keyboard.text(texts.toMenu, 'back_to_menu'));
  });

  composer.callbackQuery(/^close_ticket_notification_\d+$/, async (ctx) => void (await ctx.deleteMessage()));

  composer.callbackQuery(/^reply:(\d+)$/, async (ctx) => {
    ctx.session.expected = { kind: 'ticket-message', ticketId: Number(ctx.match[1]) };
    await show(ctx, ctx.texts.askTicketMessage, new InlineKeyboard().text(ctx.texts.toMenu, 'back_to_menu'));
  });

  composer.on(['message:text', 'message:photo'], async (ctx, next) => {
    const { expected } = ctx.session;
    if (expected?.kind !== 'ticket' && expected?.kind !== 'ticket-message') return next();
    const text = (ctx.message.text ?? ctx.message.caption ?? '').trim();
    const isOpening = expected.kind === 'ticket';
    if (text.length < (isOpening ? MIN_TEXT : 1)) {
      await show(ctx, isOpening ? ctx.texts.ticketTooShort : ctx.texts.askTicketMessage);
      return;
    }
    const photo = await photoOf(ctx);
    const id = isOpening ? await open(ctx, text, photo) : await reply(ctx, expected.ticketId, text, photo);
    ctx.session.expected = null;
    const keyboard = new InlineKeyboard().text(ctx.texts.myTickets, `ticket:${id}`).row().text(ctx.texts.toMenu, 'back_to_menu');
    await show(ctx, isOpening ? ctx.texts.ticketOpened(id) : ctx.texts.ticketSent, keyboard);
  });

  /** Hands the photo of the message to the service: the largest of its sizes. */
  const photoOf = async (ctx: BotContext): Promise<Photo | null> => {
    const size = ctx.message?.photo?.at(-1);
    if (!size) return null;
    const { file_path: path } = await ctx.api.getFile(size.file_id);
    const file = await fetch(`${apiRoot}/file/bot${botToken}/${path}`);
    if (!file.ok) throw new Error(`The photo of a ticket could not be fetched: ${file.status}`);
    return upload(ctx.cabinet, await file.blob());
  };

  return composer;
}

async function upload(cabinet: ServiceClient, content: Blob): Promise<Photo> {
  const uploaded = await cabinet.POST('/cabinet/media/upload', {
    body: { file: '', media_type: 'photo' },
    bodySerializer: () => {
      const form = new FormData();
      form.append('file', new File([content], 'photo.jpg', { type: 'image/jpeg' }));
      form.append('media_type', 'photo');
      return form;
    },
  });
  const { file_id: id, media_type: type } = dataOf(uploaded);
  return { media_type: type, media_file_id: id };
}

async function open(ctx: BotContext, text: string, photo: Photo | null): Promise<number> {
  const title = (text.split('\n')[0] ?? text).slice(0, MAX_TITLE).padEnd(3, '.');
  const body = { title, message: text.slice(0, 4_000), ...photo };
  return dataOf(await ctx.cabinet.POST('/cabinet/tickets', { body, headers: onceFor(ctx, 'ticket') })).id;
}

async function reply(ctx: BotContext, ticketId: number, text: string, photo: Photo | null): Promise<number> {
  const body = { message: text.slice(0, 4_000), ...photo };
  const params = { path: { ticket_id: ticketId } };
  const headers = onceFor(ctx, 'ticket-message');
  dataOf(await ctx.cabinet.POST('/cabinet/tickets/{ticket_id}/messages', { params, body, headers }));
  return ticketId;
}
