import { Composer, InlineKeyboard } from 'grammy';
import { type BotContext, escaped, onceFor, show } from './context.ts';
import { dataOf } from './service.ts';

export const promoCode = new Composer<BotContext>();

promoCode.callbackQuery('menu_promocode', async (ctx) => {
  ctx.session.expected = { kind: 'promo-code' };
  await show(ctx, ctx.texts.askPromoCode, new InlineKeyboard().text(ctx.texts.toMenu, 'back_to_menu'));
});

promoCode
  .on('message:text')
  .filter((ctx) => ctx.session.expected?.kind === 'promo-code')
  .use(async (ctx) => {
    const body = { code: ctx.message.text.trim().slice(0, 50) };
    const headers = onceFor(ctx, 'promo-code');
    const activated = dataOf(await ctx.cabinet.POST('/cabinet/promocode/activate', { body, headers }));
    // Only now: after a refusal the person may send another code.
    ctx.session.expected = null;
    const bonus = activated.bonus_description ? `\n${escaped(activated.bonus_description)}` : '';
    const keyboard = new InlineKeyboard().text(ctx.texts.toMenu, 'back_to_menu');
    await show(ctx, `✅ ${escaped(activated.message)}${bonus}`, keyboard);
  });
