import { Composer, InlineKeyboard } from 'grammy';
import { type BotContext, onceFor, show } from './context.ts';
import { dataOf } from './service.ts';
import { rubles } from './texts.ts';

const AMOUNTS_KOPEKS = [10_000, 30_000, 50_000, 100_000, 300_000];
/** Paid inside the messenger; every other method is a link to the page of its provider. */
const STARS = 'messenger_stars';

export const topUp = new Composer<BotContext>();

topUp.callbackQuery(['menu_balance', 'balance_topup'], async (ctx) => {
  const methods = await methodsOf(ctx);
  const keyboard = new InlineKeyboard();
  for (const { id, name } of methods) keyboard.text(name, `method:${id}`).row();
  const balance = ctx.texts.balance(rubles(ctx.profile.balance_kopeks));
  const question = methods.length > 0 ? ctx.texts.chooseMethod : ctx.texts.noMethods;
  await show(ctx, `${balance}\n\n${question}`, keyboard.text(ctx.texts.toMenu, 'back_to_menu'));
});

topUp.callbackQuery(/^method:(\w+)$/, async (ctx) => {
  const id = ctx.match[1];
  const method = (await methodsOf(ctx)).find((one) => one.id === id);
  const { min_amount_kopeks: min = 0, max_amount_kopeks: max = 0 } = method ?? {};
  const amounts = AMOUNTS_KOPEKS.filter((amount) => amount >= min && amount <= max);
  const keyboard = new InlineKeyboard();
  // A method whose bounds none of these amounts meets is offered with its smallest one.
  for (const amount of amounts.length > 0 || !method ? amounts : [min])
    keyboard.text(rubles(amount), `sum:${id}:${amount}`).row();
  await show(ctx, method ? ctx.texts.chooseAmount : ctx.texts.noMethods, keyboard.text(ctx.texts.toMenu, 'back_to_menu'));
});

topUp.callbackQuery(/^sum:(\w+):(\d+)$/, async (ctx) => {
  const method = ctx.match[1] ?? '';
  const amount = Number(ctx.match[2]);
  const link = method === STARS ? await starsInvoice(ctx, amount) : await paymentPage(ctx, method, amount);
  const keyboard = new InlineKeyboard()
    .url(ctx.texts.pay(rubles(amount)), link)
    .row()
    .text(ctx.texts.toMenu, 'back_to_menu');
  await show(ctx, ctx.texts.payHere, keyboard);
});

async function methodsOf({ cabinet }: BotContext) {
  const methods = dataOf(await cabinet.GET('/cabinet/balance/payment-methods'));
  return methods.filter(({ is_available: isAvailable }) => isAvailable !== false);
}

async function starsInvoice(ctx: BotContext, amount: number): Promise<string> {
  const headers = onceFor(ctx, 'stars');
  const answer = await ctx.cabinet.POST('/cabinet/balance/stars-invoice', { body: { amount_kopeks: amount }, headers });
  return dataOf(answer).invoice_url;
}

async function paymentPage(ctx: BotContext, method: string, amount: number): Promise<string> {
  const headers = onceFor(ctx, 'top-up');
  const body = { amount_kopeks: amount, payment_method: method };
  return dataOf(await ctx.cabinet.POST('/cabinet/balance/topup', { body, headers })).payment_url;
}
