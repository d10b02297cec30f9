import type { App } from '../../../core/app.ts';
import { formatPrice } from '../../../core/money.ts';
import { listActiveTariffs } from '../../catalog/list-visible-tariffs.ts';
import type { Tariff } from '../../catalog/types.ts';
import { shownBackground } from './background.ts';
import { cleanCss } from './clean-css.ts';
import { landingNotFound } from './errors.ts';
import { type OfferedLandingMethod, offeredMethods } from './payment-choice.ts';
import { findBySlug } from './repo.ts';
import { isDiscountActive, landingPeriodLabel, landingPrice, localised, offeredPeriods } from './rules.ts';
import type { Landing, LandingBackground } from './types.ts';

/** A period of a tariff on the page; kopeks and their labels. The last three are set only under an active discount. */
export interface ShownPeriod {
  days: number;
  label: string;
  priceKopeks: number;
  priceLabel: string;
  originalPriceKopeks: number | null;
  originalPriceLabel: string | null;
  discountPercent: number | null;
}

export type ShownTariff = Pick<Tariff, 'id' | 'name' | 'description' | 'trafficLimitGb' | 'deviceLimit' | 'tierLevel'> & {
  periods: ShownPeriod[];
};

/** A page as the public sees it: texts in one locale, style sheet and background cleaned. */
export interface ShownLanding {
  slug: string;
  title: string;
  subtitle: string | null;
  features: { icon: string; title: string; description: string }[];
  footerText: string | null;
  tariffs: ShownTariff[];
  paymentMethods: OfferedLandingMethod[];
  giftEnabled: boolean;
  customCss: string | null;
  metaTitle: string | null;
  metaDescription: string | null;
  discount: { percent: number; endsAt: Date; badgeText: string | null } | null;
  backgroundConfig: LandingBackground | null;
}

/**
 * The page with a slug (spec 03 section 7.2).
 * @param locale preferred; texts without it are shown in another one
 * @throws AppError 404 'Landing page not found', also for a page that is switched off
 */
export async function showLanding(app: App, slug: string, locale: string): Promise<ShownLanding> {
  const landing = await findBySlug(app.db, slug);
  if (!landing?.isActive) throw landingNotFound();
  const now = app.clock.now();
  const optional = (texts: Landing['subtitle']) => localised(texts, locale) || null;
  const { discountPercent, discountEndsAt } = landing;
  return {
    slug: landing.slug,
    title: localised(landing.title, locale),
    subtitle: optional(landing.subtitle),
    features: landing.features.map(({ icon, title, description }) => ({
      icon,
      title: localised(title, locale),
      description: localised(description, locale),
    })),
    footerText: optional(landing.footerText),
    tariffs: await soldTariffs(app, landing, now),
    paymentMethods: offeredMethods(app, landing.paymentMethods, locale),
    giftEnabled: landing.giftEnabled,
    customCss: landing.customCss === null ? null : cleanCss(landing.customCss),
    metaTitle: optional(landing.metaTitle),
    metaDescription: optional(landing.metaDescription),
    discount:
      isDiscountActive(landing, now) && discountPercent !== null && discountEndsAt !== null
        ? { percent: discountPercent, endsAt: discountEndsAt, badgeText: optional(landing.discountBadgeText) }
        : null,
    backgroundConfig: shownBackground(landing.backgroundConfig),
  };
}

/** Tariffs of the page that are on sale, with the periods that have a price; those without any are left out. */
async function soldTariffs(app: App, landing: Landing, now: Date): Promise<ShownTariff[]> {
  const allowed = new Set(landing.allowedTariffIds);
  const isRounded = app.settings.get('PRICE_ROUNDING_ENABLED');
  return (await listActiveTariffs(app))
    .filter((tariff) => allowed.has(tariff.id))
    .map((tariff) => ({
      ...tariff,
      periods: offeredPeriods(landing, tariff).flatMap((days): ShownPeriod[] => {
        const price = landingPrice(landing, tariff, days, now);
        if (!price) return [];
        const isReduced = price.percent !== null;
        return [
          {
            days,
            label: landingPeriodLabel(days),
            priceKopeks: price.kopeks,
            priceLabel: formatPrice(price.kopeks, isRounded),
            originalPriceKopeks: isReduced ? price.originalKopeks : null,
            originalPriceLabel: isReduced ? formatPrice(price.originalKopeks, isRounded) : null,
            discountPercent: price.percent,
          },
        ];
      }),
    }))
    .filter(({ periods }) => periods.length > 0);
}
