import { Composer, InlineKeyboard, InputFile } from 'grammy';
import QRCode from 'qrcode';
import { type BotContext, escaped, show } from './context.ts';
import { dataOf } from './service.ts';

export const subscription = new Composer<BotContext>();

subscription.callbackQuery('menu_subscription', async (ctx) => {
  const { texts } = ctx;
  const { subscription: mine } = dataOf(await ctx.cabinet.GET('/cabinet/subscription'));
  const keyboard = new InlineKeyboard();
  if (!mine) {
    await show(ctx, texts.noSubscription, keyboard.text(texts.toMenu, 'back_to_menu'));
    return;
  }
  const limit = mine.traffic_limit_gb > 0 ? String(mine.traffic_limit_gb) : texts.unlimited;
  const text = texts.subscription(mine.status, mine.end_date, mine.traffic_used_gb.toFixed(1), limit, mine.device_limit);
  keyboard.text(texts.connect, 'subscription_connect').row();
  await show(ctx, text, keyboard.text(texts.toMenu, 'back_to_menu'));
});

subscription.callbackQuery('subscription_connect', async (ctx) => {
  const { texts } = ctx;
  const keyboard = new InlineKeyboard().text(texts.toMenu, 'back_to_menu');
  const answer = dataOf(await ctx.cabinet.GET('/cabinet/subscription/connection-link'));
  const link = answer.display_link ?? answer.subscription_url;
  if (typeof link !== 'string') {
    await show(ctx, texts.linkHidden, keyboard);
    return;
  }
  const code = await QRCode.toBuffer(link, { width: 512, margin: 2 });
  const caption = texts.link(escaped(link));
  await ctx.replyWithPhoto(new InputFile(code, 'link.png'), { caption, parse_mode: 'HTML', reply_markup: keyboard });
});
