/** Public sales pages (spec 03 section 7.1). Times are UTC, money is kopeks, periods are days. */

/** Texts by locale (`ru`, `en`, `zh`, `fa`). */
export type LocaleTexts = Readonly<Record<string, string>>;

export interface LandingFeature {
  icon: string;
  title: LocaleTexts;
  description: LocaleTexts;
}

/** A way to pay as the page offers it; its keys are stored as they are. */
export interface LandingMethod {
  method_id: string;
  display_name: string;
  description: string | null;
  icon_url: string | null;
  sort_order: number;
  min_amount_kopeks: number | null;
  max_amount_kopeks: number | null;
  currency: string | null;
  /** Where the payer comes back to; `{token}` stands for the purchase. */
  return_url: string | null;
  /** Sub-options of the provider; false = not offered here. */
  sub_options: Readonly<Record<string, boolean>> | null;
}

export interface LandingBackground {
  enabled: boolean;
  type: string;
  settings?: Readonly<Record<string, string | number | boolean | null>>;
  opacity?: number;
  blur?: number;
  reducedOnMobile?: boolean;
}

/** Everything an administrator writes. */
export interface LandingContent {
  slug: string;
  isActive: boolean;
  title: LocaleTexts;
  subtitle: LocaleTexts | null;
  footerText: LocaleTexts | null;
  metaTitle: LocaleTexts | null;
  metaDescription: LocaleTexts | null;
  features: readonly LandingFeature[];
  allowedTariffIds: readonly number[];
  /** Days by tariff id; a tariff without an entry is sold for its own periods. */
  allowedPeriods: Readonly<Record<string, readonly number[]>>;
  paymentMethods: readonly LandingMethod[];
  giftEnabled: boolean;
  customCss: string | null;
  /** Percent with both dates, or none of the three. */
  discountPercent: number | null;
  /** Percent by tariff id. */
  discountOverrides: Readonly<Record<string, number>> | null;
  discountStartsAt: Date | null;
  discountEndsAt: Date | null;
  discountBadgeText: LocaleTexts | null;
  backgroundConfig: LandingBackground | null;
}

export interface Landing extends LandingContent {
  id: number;
  displayOrder: number;
  createdAt: Date;
  updatedAt: Date;
}

/** Undefined = as stored. */
export type LandingChanges = Partial<LandingContent>;
