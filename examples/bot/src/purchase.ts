import { Composer, InlineKeyboard } from 'grammy';
import { type BotContext, escaped, onceForMessage, show } from './context.ts';
import { dataOf, Refusal } from './service.ts';
import { rubles } from './texts.ts';

/** The answer of `purchase-options` is a free object in the contract; these are the fields of the tariffs mode that are used here. */
interface PurchaseOptions {
  sales_mode: string;
  tariffs?: { id: number; name: string; is_available: boolean; periods: { days: number; price_kopeks: number }[] }[];
}
type Tariff = NonNullable<PurchaseOptions['tariffs']>[number];

export const purchase = new Composer<BotContext>();

purchase.callbackQuery('menu_trial', async (ctx) => {
  const { texts } = ctx;
  const trial = dataOf(await ctx.cabinet.GET('/cabinet/subscription/trial'));
  if (!trial.is_available) {
    await show(ctx, trial.reason_unavailable ?? texts.trialTaken, backToMenu(ctx));
    return;
  }
  const price = trial.requires_payment ? `\n${texts.trialPrice(rubles(trial.price_kopeks ?? 0))}` : '';
  const keyboard = new InlineKeyboard().text(texts.activate, 'trial_activate').row().text(texts.toMenu, 'back_to_menu');
  await show(ctx, `${texts.trial(trial.duration_days, trial.traffic_limit_gb)}${price}`, keyboard);
});

purchase.callbackQuery('trial_activate', async (ctx) => {
  const headers = onceForMessage(ctx, 'trial');
  const subscription = dataOf(await ctx.cabinet.POST('/cabinet/subscription/trial', { headers }));
  const keyboard = new InlineKeyboard().text(ctx.texts.connect, 'subscription_connect').row();
  await show(ctx, ctx.texts.trialIsOn(subscription.end_date), keyboard.text(ctx.texts.toMenu, 'back_to_menu'));
});

purchase.callbackQuery('menu_buy', async (ctx) => {
  const tariffs = await tariffsOf(ctx);
  const keyboard = new InlineKeyboard();
  for (const { id, name } of tariffs) keyboard.text(name, `tariff:${id}`).row();
  const text = tariffs.length > 0 ? ctx.texts.chooseTariff : ctx.texts.noTariffs;
  await show(ctx, text, keyboard.text(ctx.texts.toMenu, 'back_to_menu'));
});

purchase.callbackQuery(/^tariff:(\d+)$/, async (ctx) => {
  const tariff = await tariffOf(ctx, ctx.match[1]);
  const keyboard = new InlineKeyboard();
  for (const { days, price_kopeks: price } of tariff.periods) {
    keyboard.text(ctx.texts.period(days, rubles(price)), `period:${tariff.id}:${days}`).row();
  }
  await show(ctx, ctx.texts.choosePeriod(escaped(tariff.name)), keyboard.text(ctx.texts.toMenu, 'menu_buy'));
});

purchase.callbackQuery(/^period:(\d+):(\d+)$/, async (ctx) => {
  const tariff = await tariffOf(ctx, ctx.match[1]);
  const period = tariff.periods.find(({ days }) => days === Number(ctx.match[2]));
  if (!period) throw new Refusal(404, ctx.texts.noTariffs);
  const keyboard = new InlineKeyboard().text(ctx.texts.buy, `buy:${tariff.id}:${period.days}`).row();
  const text = ctx.texts.confirm(escaped(tariff.name), period.days, rubles(period.price_kopeks));
  await show(ctx, text, keyboard.text(ctx.texts.toMenu, 'back_to_menu'));
});

purchase.callbackQuery(/^buy:(\d+):(\d+)$/, async (ctx) => {
  const { texts } = ctx;
  const body = { tariff_id: Number(ctx.match[1]), period_days: Number(ctx.match[2]) };
  const headers = onceForMessage(ctx, ctx.callbackQuery.data);
  try {
    const bought = dataOf(await ctx.cabinet.POST('/cabinet/subscription/purchase-tariff', { body, headers }));
    const keyboard = new InlineKeyboard().text(texts.connect, 'subscription_connect').row().text(texts.toMenu, 'back_to_menu');
    await show(ctx, texts.bought(escaped(String(bought.tariff_name ?? 'VPN'))), keyboard);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'insufficient_funds') throw error;
    const { missing_amount: missing = 0 } = error.detail as { missing_amount?: number };
    const keyboard = new InlineKeyboard().text(texts.topUp, 'balance_topup').row().text(texts.toMenu, 'back_to_menu');
    await show(ctx, texts.notEnough(rubles(missing)), keyboard);
  }
});

async function tariffsOf({ cabinet }: BotContext): Promise<Tariff[]> {
  const options = dataOf(await cabinet.GET('/cabinet/subscription/purchase-options')) as unknown as PurchaseOptions;
  return (options.tariffs ?? []).filter(({ is_available: isAvailable }) => isAvailable);
}

async function tariffOf(ctx: BotContext, id: string | undefined): Promise<Tariff> {
  const tariff = (await tariffsOf(ctx)).find((one) => one.id === Number(id));
  if (!tariff) throw new Refusal(404, ctx.texts.noTariffs);
  return tariff;
}

function backToMenu({ texts }: BotContext): InlineKeyboard {
  return new InlineKeyboard().text(texts.toMenu, 'back_to_menu');
}
