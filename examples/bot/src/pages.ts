import { Composer, InlineKeyboard } from 'grammy';
import { type BotContext, escaped, show } from './context.ts';
import { dataOf } from './service.ts';

/** A page that is longer is continued in the cabinet. */
const MAX_PAGE = 4_000;

export const pages = new Composer<BotContext>();

pages.callbackQuery('menu_info', async (ctx) => {
  const { texts } = ctx;
  const keyboard = new InlineKeyboard().text(texts.rules, 'menu_rules').text(texts.faq, 'menu_faq').row();
  keyboard.text(texts.offer, 'menu_public_offer').text(texts.privacy, 'menu_privacy_policy').row();
  await show(ctx, texts.information, keyboard.text(texts.toMenu, 'back_to_menu'));
});

pages.callbackQuery('menu_rules', async (ctx) => {
  const query = { language: ctx.language };
  await page(ctx, dataOf(await ctx.service.web.GET('/pages/service-rules', { params: { query } })).content);
});

pages.callbackQuery('menu_public_offer', async (ctx) => {
  const query = { language: ctx.language, include_disabled: false };
  await page(ctx, dataOf(await ctx.service.web.GET('/pages/public-offer', { params: { query } })).content);
});

pages.callbackQuery('menu_privacy_policy', async (ctx) => {
  const query = { language: ctx.language, include_disabled: false };
  await page(ctx, dataOf(await ctx.service.web.GET('/pages/privacy-policy', { params: { query } })).content);
});

pages.callbackQuery('menu_faq', async (ctx) => {
  const query = { language: ctx.language, include_inactive: false };
  const { items } = dataOf(await ctx.service.web.GET('/pages/faq', { params: { query } }));
  await page(ctx, items.map(({ title, content }) => `${title}\n${content}`).join('\n\n'));
});

pages.callbackQuery('menu_language', async (ctx) => {
  const keyboard = new InlineKeyboard().text('Русский', 'language:ru').text('English', 'language:en').row();
  await show(ctx, ctx.texts.chooseLanguage, keyboard.text(ctx.texts.toMenu, 'back_to_menu'));
});

/** Pages have tags of their editor, which the messenger does not know all: they are shown as plain text. */
async function page(ctx: BotContext, content: string): Promise<void> {
  const plain = content.replace(/<[^>]*>/g, '').trim();
  await show(ctx, escaped(plain.slice(0, MAX_PAGE)) || ctx.texts.empty, new InlineKeyboard().text(ctx.texts.toMenu, 'menu_info'));
}
