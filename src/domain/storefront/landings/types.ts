/** Public sales pages (spec 03 section 7.1). Times are UTC, money is kopeks, periods are days. */
import type { Rows } from '../../../core/db/columns.ts';

/** Texts by locale (`ru`, `en`, `zh`, `fa`). */
export type LocaleTexts = Readonly<Record<string, string>>;

/** A payment method as the page offers it. */
export interface LandingMethod {
  methodId: string;
  displayName: string;
  description: string | null;
  iconUrl: string | null;
  sortOrder: number;
  minAmountKopeks: number | null;
  maxAmountKopeks: number | null;
  currency: string | null;
  /** Where the payer comes back to; `{token}` stands for the purchase. */
  returnUrl: string | null;
  /** Sub-options of the provider; false = not offered here. */
  subOptions: Record<string, boolean> | null;
}

export type LandingBackground = {
  enabled: boolean;
  type: string;
  settings?: Record<string, string | number | boolean | null>;
  opacity?: number;
  blur?: number;
  reducedOnMobile?: boolean;
};

/**
 * A page. `allowedPeriods` are days by tariff id, and a tariff without an entry is sold for its own periods; `discountOverrides` are
 * percent by tariff id. Percent, start and end of the discount are all set or all null.
 */
export type Landing = Omit<Rows['LandingPage'], 'paymentMethods'> & { paymentMethods: LandingMethod[] };

/** Everything that an administrator writes. */
export type LandingContent = Omit<Landing, 'id' | 'displayOrder' | 'createdAt' | 'updatedAt'>;

/** Fields that every page has. */
export type RequiredLandingField =
  | 'slug'
  | 'isActive'
  | 'title'
  | 'features'
  | 'allowedTariffIds'
  | 'allowedPeriods'
  | 'paymentMethods'
  | 'giftEnabled';

/** A new page; absent and null are the same for the optional fields. */
export type NewLanding = Pick<LandingContent, RequiredLandingField> & {
  [Field in Exclude<keyof LandingContent, RequiredLandingField>]?: LandingContent[Field] | undefined;
};
