import { Composer, InlineKeyboard, type MiddlewareFn } from 'grammy';
import type { User } from 'grammy/types';
import { type BotContext, escaped, show } from './context.ts';
import { showMenu } from './menu.ts';
import { dataOf, type Service } from './service.ts';
import { TEXTS } from './texts.ts';

/** Finds who wrote or pressed: the account, its language and its cabinet. A new person gets an account and is welcomed. */
export function person(service: Service): MiddlewareFn<BotContext> {
  return async (ctx, next) => {
    const { from } = ctx;
    if (!from || ctx.chat?.type !== 'private') return;
    ctx.service = service;
    ctx.cabinet = service.cabinetOf(from);
    const start = /^\/start(?:@\w+)?\s+(\S+)$/.exec(ctx.message?.text ?? '')?.[1];
    const known = await profileOf(service, from);
    // A campaign counts for known persons, too; a referral code only for a new one.
    if (!known || start !== undefined) await service.signIn(from, start ?? '');
    const profile = known && start === undefined ? known : await profileOf(service, from);
    if (!profile) throw new Error('The service does not know the person whom it has just signed in');
    ctx.profile = profile;
    setLanguage(ctx, profile.language);
    if (known || !(await welcome(ctx))) return next();
  };
}

async function profileOf({ web }: Service, { id }: User): Promise<BotContext['profile'] | null> {
  const answer = await web.GET('/users/by-messenger-id/{messenger_id}', { params: { path: { messenger_id: id } } });
  return answer.response.status === 404 ? null : dataOf(answer);
}

function setLanguage(ctx: BotContext, language: string): void {
  ctx.language = language === 'ru' ? 'ru' : 'en';
  ctx.texts = TEXTS[ctx.language];
}

/** The welcome text of the operator, instead of the menu. @returns false when there is none */
async function welcome(ctx: BotContext): Promise<boolean> {
  const query = { include_inactive: false };
  const { items } = dataOf(await ctx.service.web.GET('/welcome-texts', { params: { query } }));
  const text = items.find((one) => one.is_active && one.is_enabled)?.text;
  if (text === undefined) return false;
  const { first_name: first, username } = ctx.from ?? {};
  const name = first || ctx.texts.stranger;
  const values: Record<string, string> = {
    user_name: first || username || name,
    first_name: name,
    username: username ? `@${username}` : name,
    username_clean: username ?? name,
  };
  const filled = text.replace(/\{(\w+)\}/g, (placeholder, key: string) =>
    key in values ? escaped(values[key] ?? '') : placeholder,
  );
  const keyboard = new InlineKeyboard().text(ctx.texts.activate, 'trial_activate').row();
  await show(ctx, filled, keyboard.text(ctx.texts.toMenu, 'back_to_menu'));
  return true;
}

export const language = new Composer<BotContext>();

language.callbackQuery(/^language:(ru|en)$/, async (ctx) => {
  const wanted = ctx.match[1] ?? 'en';
  dataOf(await ctx.cabinet.PATCH('/cabinet/info/user/language', { body: { language: wanted } }));
  setLanguage(ctx, wanted);
  await showMenu(ctx);
});
