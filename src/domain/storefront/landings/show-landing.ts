import type { App } from '../../../core/app.ts';
import { formatPrice } from '../../../core/money.ts';
import { listActiveTariffs } from '../../catalog/find-tariff.ts';
import type { Tariff } from '../../catalog/types.ts';
import {
  isMethodConfigured,
  type MethodDefaults,
  methodDefaults,
  methodOptions,
  optionName,
} from '../../payments/payment-methods.ts';
import { landingNotFound, shownBackground } from './landings.ts';
import { findBySlug } from './repo.ts';
import { isDiscountActive, landingPeriodLabel, landingPrice, localised, offeredPeriods } from './rules.ts';
import type { Landing, LandingBackground, LandingMethod } from './types.ts';

/** A period of a tariff on the page; kopeks and their labels. The last three are set only under an active discount. */
interface ShownPeriod {
  days: number;
  label: string;
  priceKopeks: number;
  priceLabel: string;
  originalPriceKopeks: number | null;
  originalPriceLabel: string | null;
  discountPercent: number | null;
}

type ShownTariff = Pick<Tariff, 'id' | 'name' | 'description' | 'trafficLimitGb' | 'deviceLimit' | 'tierLevel'> & {
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

/**
 * Cleans an administrator's style sheet for a public page (spec 03 H23): it cannot leave its `<style>` element, load anything but
 * https images and fonts, or run code.
 *
 * Escapes, markup and control characters are removed first, because a browser reads words that they hide. Then each forbidden word is
 * replaced by a blank and not by nothing, because its neighbours could join to a new forbidden word.
 */
export function cleanCss(css: string): string {
  const plain = withoutEscapes(css)
    // Without these the style element cannot be closed, and no comment of the page around it opened.
    .replace(/[<\\]/g, '')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are removed
    .replace(/[\u0000-\u0008\u000b\u000e-\u001f\u007f]/g, '');
  return plain
    .replace(/@(?:import|charset|namespace)\b[^;{}]*;?/gi, ' ')
    .replace(/\bexpression\s*\(/gi, ' (')
    .replace(/(?:-moz-binding|\bbehaviou?r)\s*:/gi, ' x-removed:')
    .replace(/\b(url|src)\(\s*("[^"]*"|'[^']*'|[^)"']*)\s*\)?/gi, (_whole, name: string, target: string) =>
      cleanUrl(name, target),
    )
    .replace(/\b(?:javascript|vbscript|data|blob|file|ftp|http)\s*:/gi, ' ');
}

/** Replaces escapes by their characters, as a browser reads them. */
function withoutEscapes(css: string): string {
  return css.replace(
    /\\(?:([0-9a-f]{1,6})[ \t\n\f]?|\r?\n|([^0-9a-f]))/gi,
    (_whole, hex: string | undefined, sign: string | undefined) => {
      if (hex === undefined) return sign ?? '';
      const point = Number.parseInt(hex, 16);
      return point === 0 || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff) ? '' : String.fromCodePoint(point);
    },
  );
}

/** Keeps an https address without characters that could end it early; any other becomes empty. */
function cleanUrl(name: string, target: string): string {
  const address = target.replace(/^["']|["']$/g, '').trim();
  return /^https:\/\/[^\s"'()<>{};]+$/i.test(address) ? `${name}("${address}")` : `${name}("")`;
}

/** Methods that need an account. */
const NOT_FOR_GUESTS: ReadonlySet<string> = new Set(['messenger_stars', 'tribute']);

/** A method as the page shows it; `subOptions` null = no choice is shown. */
type OfferedLandingMethod = Omit<LandingMethod, 'subOptions'> & { subOptions: { id: string; name: string }[] | null };

/** The methods of a page that can be used now, in their stored order. */
function offeredMethods(app: App, methods: readonly LandingMethod[], language: string): OfferedLandingMethod[] {
  return methods.flatMap((method) => {
    const known = usableMethod(app, method.methodId);
    if (!known) return [];
    const options = optionsOf(app, method, known).map((id) => ({ id, name: optionName(app, language, known.id, id) }));
    return [{ ...method, subOptions: options.length > 0 ? options : null }];
  });
}

/** The provider's method with this id, if a guest can pay by it now. */
export function usableMethod(app: App, methodId: string): MethodDefaults | null {
  const known = methodDefaults(methodId);
  return known && !NOT_FOR_GUESTS.has(known.id) && isMethodConfigured(app, known) ? known : null;
}

/** Sub-options that the provider has and the page has not switched off. */
function optionsOf(app: App, method: LandingMethod, known: MethodDefaults): string[] {
  return methodOptions(app, known).filter((option) => method.subOptions?.[option] !== false);
}

export interface PaymentChoice {
  method: LandingMethod;
  /** Null = the provider has one way only, or the method names it itself. */
  option: string | null;
}

/**
 * Finds a page's method by its id, or by its id followed by a sub-option (`yookassa_sbp`); of several the longest id is taken.
 * @returns null when the page does not offer it
 */
export function choosePayment(app: App, methods: readonly LandingMethod[], asked: string): PaymentChoice | null {
  const exact = methods.find((method) => method.methodId === asked);
  if (exact) {
    const known = methodDefaults(exact.methodId);
    return { method: exact, option: known?.fixedOption ?? (known && optionsOf(app, exact, known)[0]) ?? null };
  }
  const byLength = [...methods].sort((a, b) => b.methodId.length - a.methodId.length);
  for (const method of byLength) {
    if (!asked.startsWith(`${method.methodId}_`)) continue;
    const known = methodDefaults(method.methodId);
    const option = asked.slice(method.methodId.length + 1);
    if (known && optionsOf(app, method, known).includes(option)) return { method, option };
  }
  return null;
}
