import { InlineKeyboard } from 'grammy';
import type { BotContext } from './context.ts';
import { dataOf, Refusal } from './service.ts';

/** What an order costs. */
export interface Offer {
  title: string;
  /** What the price consists of. */
  lines: string[];
  priceKopeks: number;
  /** Without the discount; the same as the price where there is none. */
  originalKopeks: number;
  discountPercent: number;
  balanceKopeks: number;
  /** Sent with the purchase, which is refused when it would cost anything else. */
  quote: string;
}

interface Price {
  price_kopeks: number;
  original_price_kopeks?: number | null;
  discount_percent?: number;
}

interface Tariff {
  id: number;
  name: string;
  periods: (Price & { days: number; quote: string })[];
}

/** The answer of `purchase-options` is a free object in the contract; these are its fields that are used here, in either sales mode. */
interface TariffsAnswer {
  sales_mode: 'tariffs';
  balance_kopeks: number;
  tariffs: (Tariff & {
    is_available: boolean;
    is_daily: boolean;
    daily_price_kopeks: number;
    original_daily_price_kopeks?: number;
    daily_quote?: string;
  })[];
}
export interface ClassicAnswer {
  sales_mode: 'classic';
  periods: (Price & {
    period_days: number;
    label: string;
    traffic: { selectable: boolean; options?: (Price & { value: number; label: string; is_available: boolean })[] };
  })[];
}

type TariffOptions = { sales_mode: 'tariffs'; balance_kopeks: number; tariffs: Tariff[] };

export async function readOptions({ cabinet }: BotContext): Promise<TariffOptions | ClassicAnswer> {
  const options = dataOf(await cabinet.GET('/cabinet/subscription/purchase-options')) as unknown as TariffsAnswer | ClassicAnswer;
  if (options.sales_mode === 'classic') return options;
  const available = options.tariffs.filter(({ is_available: isAvailable }) => isAvailable);
  return { ...options, tariffs: available.map((tariff) => (tariff.is_daily ? { ...tariff, periods: dayOf(tariff) } : tariff)) };
}

/** A daily tariff is bought for its first day and charged every day. */
function dayOf(tariff: TariffsAnswer['tariffs'][number]): Tariff['periods'] {
  const { daily_price_kopeks: price, original_daily_price_kopeks: original, daily_quote: quote = '' } = tariff;
  return [{ days: 1, price_kopeks: price, original_price_kopeks: original ?? null, quote }];
}

/** @throws Refusal when it is not on sale any more */
export async function tariffOf(ctx: BotContext, id: number): Promise<{ tariff: Tariff; balanceKopeks: number }> {
  const options = await readOptions(ctx);
  const tariff = options.sales_mode === 'tariffs' ? options.tariffs.find((one) => one.id === id) : undefined;
  if (options.sales_mode !== 'tariffs' || !tariff) throw new Refusal(404, ctx.texts.noTariffs);
  return { tariff, balanceKopeks: options.balance_kopeks };
}

export function backTo({ texts }: BotContext, data: string, keyboard = new InlineKeyboard()): InlineKeyboard {
  return keyboard.text(texts.toMenu, data);
}
