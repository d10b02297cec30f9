import { randomUUID } from 'node:crypto';
import { Composer, InlineKeyboard } from 'grammy';
import { type BotContext, escaped, onceForMessage, show } from './context.ts';
import { classicOffer, showClassicPeriods, showTraffic } from './purchase-classic.ts';
import { backTo, type Offer, readOptions, tariffOf } from './purchase-options.ts';
import { dataOf, Refusal } from './service.ts';
import { rubles } from './texts.ts';

export const purchase = new Composer<BotContext>();

purchase.callbackQuery('menu_trial', async (ctx) => {
  const { texts } = ctx;
  const trial = dataOf(await ctx.cabinet.GET('/cabinet/subscription/trial'));
  if (!trial.is_available) {
    await show(ctx, trial.reason_unavailable ?? texts.trialTaken, backTo(ctx, 'back_to_menu'));
    return;
  }
  const price = trial.requires_payment ? `\n${texts.trialPrice(rubles(trial.price_kopeks ?? 0))}` : '';
  const keyboard = backTo(ctx, 'back_to_menu', new InlineKeyboard().text(texts.activate, 'trial_activate').row());
  await show(ctx, `${texts.trial(trial.duration_days, trial.traffic_limit_gb)}${price}`, keyboard);
});

purchase.callbackQuery('trial_activate', async (ctx) => {
  const headers = onceForMessage(ctx, 'trial');
  const subscription = dataOf(await ctx.cabinet.POST('/cabinet/subscription/trial', { headers }));
  const keyboard = new InlineKeyboard().text(ctx.texts.connect, 'subscription_connect').row();
  await show(ctx, ctx.texts.trialIsOn(subscription.end_date), backTo(ctx, 'back_to_menu', keyboard));
});

purchase.callbackQuery('menu_buy', (ctx) => showTariffs(ctx));

async function showTariffs(ctx: BotContext): Promise<void> {
  const options = await readOptions(ctx);
  if (options.sales_mode === 'classic') return showClassicPeriods(ctx, options);
  const keyboard = new InlineKeyboard();
  for (const { id, name } of options.tariffs) keyboard.text(name, `tariff:${id}`).row();
  const text = options.tariffs.length > 0 ? ctx.texts.chooseTariff : ctx.texts.noTariffs;
  await show(ctx, text, backTo(ctx, 'back_to_menu', keyboard));
}

purchase.callbackQuery(/^tariff:(\d+)$/, async (ctx) => {
  const { tariff } = await tariffOf(ctx, Number(ctx.match[1]));
  const keyboard = new InlineKeyboard();
  for (const { days, price_kopeks: price } of tariff.periods) {
    keyboard.text(ctx.texts.period(days, rubles(price)), `period:${tariff.id}:${days}`).row();
  }
  await show(ctx, ctx.texts.choosePeriod(escaped(tariff.name)), backTo(ctx, 'menu_buy', keyboard));
});

purchase.callbackQuery(/^classic:(\d+)$/, async (ctx) => {
  const days = Number(ctx.match[1]);
  if (!(await showTraffic(ctx, days))) await showOffer(ctx, `order:${days}`);
});
purchase.callbackQuery(/^period:(\d+:\d+)$/, (ctx) => showOffer(ctx, `buy:${ctx.match[1]}`));
purchase.callbackQuery(/^traffic:(\d+:\d+)$/, (ctx) => showOffer(ctx, `order:${ctx.match[1]}`));

/**
 * Shows what an order costs now, and remembers the quote of exactly that price: `buy:<tariff>:<days>`, and in the classic mode
 * `order:<days>` or `order:<days>:<GB>`.
 */
async function showOffer(ctx: BotContext, order: string, note = ''): Promise<void> {
  const { texts } = ctx;
  const offer = await offerOf(ctx, order);
  const missing = offer.priceKopeks - offer.balanceKopeks;
  const text = [
    ...(note === '' ? [] : [note, '']),
    `<b>${escaped(offer.title)}</b>`,
    ...offer.lines.map(escaped),
    offer.originalKopeks > offer.priceKopeks
      ? texts.reducedPrice(rubles(offer.originalKopeks), rubles(offer.priceKopeks), offer.discountPercent)
      : texts.price(rubles(offer.priceKopeks)),
    missing > 0
      ? texts.balanceMissing(rubles(offer.balanceKopeks), rubles(missing))
      : texts.balanceAfter(rubles(offer.balanceKopeks), rubles(-missing)),
  ].join('\n');
  const keyboard = backTo(ctx, 'menu_buy', new InlineKeyboard().text(texts.buy, order).row());
  const messageId = await show(ctx, text, keyboard);
  ctx.session.offer = { messageId, order, quote: offer.quote, idempotencyKey: `bot:${randomUUID()}` };
}

async function offerOf(ctx: BotContext, order: string): Promise<Offer> {
  const [kind, ...numbers] = order.split(':');
  const [first = 0, second] = numbers.map(Number);
  if (kind === 'order') return classicOffer(ctx, first, second);
  const { tariff, balanceKopeks } = await tariffOf(ctx, first);
  const period = tariff.periods.find(({ days }) => days === second);
  if (!period) throw new Refusal(404, ctx.texts.noTariffs);
  return {
    title: ctx.texts.order(tariff.name, period.days),
    lines: [],
    priceKopeks: period.price_kopeks,
    originalKopeks: period.original_price_kopeks ?? period.price_kopeks,
    discountPercent: period.discount_percent ?? 0,
    balanceKopeks,
    quote: period.quote,
  };
}

/** Of the service's notice that a top-up covers the order that was refused for it. */
purchase.callbackQuery('return_to_saved_cart', (ctx) => {
  const { offer } = ctx.session;
  return offer ? showOffer(ctx, offer.order) : showTariffs(ctx);
});

/** Pays the price that the message shows, or nothing: an order whose offer is not that of the message is shown again. */
purchase.callbackQuery(/^(?:buy:\d+:\d+|order:\d+(?::\d+)?)$/, async (ctx) => {
  const { texts, session } = ctx;
  const order = ctx.callbackQuery.data;
  const { offer } = session;
  if (offer?.order !== order || offer.messageId !== ctx.callbackQuery.message?.message_id) return showOffer(ctx, order);
  try {
    const name = await buy(ctx, order, offer.quote, { 'Idempotency-Key': offer.idempotencyKey });
    const keyboard = new InlineKeyboard().text(texts.connect, 'subscription_connect').row();
    await show(ctx, texts.bought(escaped(name)), backTo(ctx, 'back_to_menu', keyboard));
  } catch (error) {
    if (error instanceof Refusal && error.code === 'quote_changed') return showOffer(ctx, order, texts.priceChanged);
    if (!(error instanceof Refusal) || error.code !== 'insufficient_funds') throw error;
    const { missing_amount: missing = 0 } = error.detail as { missing_amount?: number };
    const keyboard = new InlineKeyboard().text(texts.topUp, 'balance_topup').row();
    await show(ctx, texts.notEnough(rubles(missing)), backTo(ctx, 'back_to_menu', keyboard));
  }
});

/** @returns what was bought */
async function buy(
  { cabinet }: BotContext,
  order: string,
  quote: string,
  headers: { 'Idempotency-Key': string },
): Promise<string> {
  const [kind, ...numbers] = order.split(':');
  const [first = 0, second = 0] = numbers.map(Number);
  if (kind === 'buy') {
    const body = { tariff_id: first, period_days: second, quote };
    const bought = dataOf(await cabinet.POST('/cabinet/subscription/purchase-tariff', { body, headers }));
    return String(bought.tariff_name ?? 'VPN');
  }
  const selection = { period_days: first, ...(numbers.length > 1 ? { traffic_value: second } : {}) };
  dataOf(await cabinet.POST('/cabinet/subscription/purchase', { body: { selection, quote }, headers }));
  return 'VPN';
}
