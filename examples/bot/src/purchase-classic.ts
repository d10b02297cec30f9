import { InlineKeyboard } from 'grammy';
import { type BotContext, show } from './context.ts';
import { backTo, type ClassicAnswer, type Offer, readOptions } from './purchase-options.ts';
import { dataOf, Refusal } from './service.ts';
import { rubles } from './texts.ts';

/**
 * An installation without tariffs: period and traffic are chosen here; servers and devices are those that the service preselects, which a
 * customer has already where he has a subscription. The cabinet offers the whole choice.
 */

/** The answer of `purchase-preview` is a free object in the contract; these are the fields that are used here. */
interface Preview {
  total_price_kopeks: number;
  original_price_kopeks: number | null;
  discount_percent: number;
  balance_kopeks: number;
  breakdown: { label: string; value: string }[];
  quote: string;
}

export async function showClassicPeriods(ctx: BotContext, { periods }: ClassicAnswer): Promise<void> {
  const keyboard = new InlineKeyboard();
  for (const { period_days: days, price_kopeks: price } of periods) {
    keyboard.text(ctx.texts.periodFrom(days, rubles(price)), `classic:${days}`).row();
  }
  await show(
    ctx,
    periods.length > 0 ? ctx.texts.choosePeriod('VPN') : ctx.texts.noTariffs,
    backTo(ctx, 'back_to_menu', keyboard),
  );
}

/** Asks for the traffic of a period. @returns false where there is nothing to choose */
export async function showTraffic(ctx: BotContext, days: number): Promise<boolean> {
  const { traffic } = await periodOf(ctx, days);
  const packages = (traffic.options ?? []).filter(({ is_available: isAvailable }) => isAvailable);
  if (!traffic.selectable || packages.length === 0) return false;
  const keyboard = new InlineKeyboard();
  for (const { value, label, price_kopeks: price } of packages) {
    keyboard.text(`${label} · ${rubles(price)}`, `traffic:${days}:${value}`).row();
  }
  await show(ctx, ctx.texts.chooseTraffic, backTo(ctx, 'menu_buy', keyboard));
  return true;
}

/** @param trafficGb undefined where there is nothing to choose */
export async function classicOffer(ctx: BotContext, days: number, trafficGb: number | undefined): Promise<Offer> {
  await periodOf(ctx, days);
  const selection = { period_days: days, ...(trafficGb === undefined ? {} : { traffic_value: trafficGb }) };
  const answer = dataOf(await ctx.cabinet.POST('/cabinet/subscription/purchase-preview', { body: { selection } }));
  const preview = answer as unknown as Preview;
  return {
    title: ctx.texts.order('VPN', days),
    lines: preview.breakdown.map(({ label, value }) => `${label}: ${value}`),
    priceKopeks: preview.total_price_kopeks,
    originalKopeks: preview.original_price_kopeks ?? preview.total_price_kopeks,
    discountPercent: preview.discount_percent,
    balanceKopeks: preview.balance_kopeks,
    quote: preview.quote,
  };
}

async function periodOf(ctx: BotContext, days: number): Promise<ClassicAnswer['periods'][number]> {
  const options = await readOptions(ctx);
  const period = options.sales_mode === 'classic' ? options.periods.find((one) => one.period_days === days) : undefined;
  if (!period) throw new Refusal(404, ctx.texts.noTariffs);
  return period;
}
