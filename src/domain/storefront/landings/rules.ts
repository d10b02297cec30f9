import { applyPercent } from '../../../core/money.ts';
import type { Tariff } from '../../catalog/types.ts';
import { periodKeys } from '../../pricing/periods.ts';
import type { Landing, LandingContent, LocaleTexts } from './types.ts';

/** Locales that a page may be written in (spec 03 section 7.1). */
export const LOCALES = ['ru', 'en', 'zh', 'fa'] as const;

/** Slugs that name, or may name, other paths of the same site. */
const RESERVED_SLUGS: ReadonlySet<string> = new Set([
  ...['purchase', 'admin', 'api', 'health', 'static', 'assets', 'favicon', 'robots', 'sitemap', 'well-known'],
  // A path of the public interface beside `{slug}`.
  'activate',
]);

export function isReservedSlug(slug: string): boolean {
  return RESERVED_SLUGS.has(slug);
}

/** A text in the locale, else in Russian, English or any other locale, else empty. */
export function localised(texts: LocaleTexts | null, locale: string): string {
  if (texts === null) return '';
  const wanted = [locale, 'ru', 'en'].map((name) => (Object.hasOwn(texts, name) ? texts[name] : undefined));
  return [...wanted, ...Object.values(texts)].find((text) => text !== undefined && text !== '') ?? '';
}

type Discount = Pick<LandingContent, 'discountPercent' | 'discountStartsAt' | 'discountEndsAt'>;

/** From the start, included, to the end, excluded. */
export function isDiscountActive({ discountPercent, discountStartsAt, discountEndsAt }: Discount, now: Date): boolean {
  if (discountPercent === null || discountStartsAt === null || discountEndsAt === null) return false;
  return discountStartsAt <= now && now < discountEndsAt;
}

/**
 * The price of a tariff for a period on a page, discount applied: at least one kopek. The same rule for the page and for the purchase.
 * @returns null when the tariff has no price for this period. Tariffs charged by the day have none, because they need a balance
 * @returns what a period costs on a page; kopeks
 */
export function landingPrice(
  landing: Discount & Pick<LandingContent, 'discountOverrides'>,
  tariff: Pick<Tariff, 'id' | 'isDaily' | 'periodPrices'>,
  days: number,
  now: Date,
) {
  const listed = periodPrice(tariff, days);
  if (listed === null) return null;
  const percent = isDiscountActive(landing, now) ? (landing.discountOverrides?.[tariff.id] ?? landing.discountPercent) : null;
  return { kopeks: percent === null ? listed : Math.max(1, applyPercent(listed, percent)), originalKopeks: listed, percent };
}

/** Kopeks of a listed period above zero; null when the tariff is not sold for it. */
export function periodPrice(tariff: Pick<Tariff, 'isDaily' | 'periodPrices'>, days: number): number | null {
  const listed = Object.hasOwn(tariff.periodPrices, days) ? tariff.periodPrices[days] : undefined;
  return tariff.isDaily || listed === undefined || listed <= 0 ? null : listed;
}

/** Periods that a page offers of a tariff, shortest first: the page's selection, else all of the tariff (spec 03 section 7.2). */
export function offeredPeriods(landing: Pick<Landing, 'allowedPeriods'>, tariff: Pick<Tariff, 'id' | 'periodPrices'>): number[] {
  const chosen = chosenPeriods(landing, tariff.id);
  return chosen ? [...new Set(chosen)].sort((a, b) => a - b) : periodKeys(tariff.periodPrices);
}

/** The page's selection of a tariff's periods; null when it has none or an empty one. */
export function chosenPeriods(landing: Pick<Landing, 'allowedPeriods'>, tariffId: number): readonly number[] | null {
  const chosen = Object.hasOwn(landing.allowedPeriods, tariffId) ? landing.allowedPeriods[tariffId] : undefined;
  return chosen && chosen.length > 0 ? chosen : null;
}

const NAMED_PERIODS: Readonly<Record<number, string>> = {
  1: '1 day',
  7: '1 week',
  14: '2 weeks',
  30: '1 month',
  60: '2 months',
  90: '3 months',
  180: '6 months',
  365: '1 year',
  456: '1 year + 3 mo.',
};
const MONTH = 30;

/** The English label of a period. */
export function landingPeriodLabel(days: number): string {
  const named = NAMED_PERIODS[days];
  if (named) return named;
  const [months, rest] = [Math.floor(days / MONTH), days % MONTH];
  if (months === 0) return `${days} days`;
  return rest === 0 ? `${months} mo.` : `${months} mo. + ${rest} d.`;
}
