import type { z } from 'zod';
import { ValidationError } from '../../core/errors.ts';
import { readBackground } from '../../domain/storefront/landings/background.ts';
import type { LandingFigures, ListedLanding, ListedPurchase } from '../../domain/storefront/landings/read-landings.ts';
import type {
  Landing,
  LandingBackground,
  LandingChanges,
  LandingContent,
  LandingMethod,
} from '../../domain/storefront/landings/types.ts';
import { utcDate } from '../shared.schemas.ts';
import { type LandingPaymentMethodInput, tariffIds } from './landing-fields.schemas.ts';
import type { LandingCreateRequest, LandingUpdateRequest } from './landings.schemas.ts';

/** Wire names of sales pages <-> the domain's. */

/** Name of a tariff that is gone (spec 03 section 7.3). */
const UNKNOWN = 'Unknown';

type CreateInput = z.output<typeof LandingCreateRequest>;
type UpdateInput = z.output<typeof LandingUpdateRequest>;

/** @throws ValidationError 422 for a discount that is incomplete, reversed, or of tariffs that the page does not sell */
export function toLandingContent(input: CreateInput): LandingContent {
  checkNewDiscount(input);
  return {
    slug: input.slug,
    isActive: input.is_active,
    title: input.title,
    subtitle: input.subtitle ?? null,
    footerText: input.footer_text ?? null,
    metaTitle: input.meta_title ?? null,
    metaDescription: input.meta_description ?? null,
    features: input.features,
    allowedTariffIds: tariffIds(input.allowed_tariff_ids),
    allowedPeriods: input.allowed_periods,
    paymentMethods: input.payment_methods.map(toMethod),
    giftEnabled: input.gift_enabled,
    customCss: input.custom_css ?? null,
    discountPercent: input.discount_percent ?? null,
    discountOverrides: input.discount_overrides ?? null,
    discountStartsAt: dateOf(input.discount_starts_at) ?? null,
    discountEndsAt: dateOf(input.discount_ends_at) ?? null,
    discountBadgeText: input.discount_badge_text ?? null,
    backgroundConfig: backgroundOf(input.background_config) ?? null,
  };
}

/** Absent keeps what is stored; null clears what may be empty, and keeps what may not. @throws ValidationError 422 reversed dates */
export function toLandingChanges(input: UpdateInput): LandingChanges {
  checkDates(input);
  return {
    slug: input.slug ?? undefined,
    isActive: input.is_active ?? undefined,
    title: input.title ?? undefined,
    subtitle: input.subtitle,
    footerText: input.footer_text,
    metaTitle: input.meta_title,
    metaDescription: input.meta_description,
    features: input.features ?? undefined,
    allowedTariffIds: input.allowed_tariff_ids ? tariffIds(input.allowed_tariff_ids) : undefined,
    allowedPeriods: input.allowed_periods ?? undefined,
    paymentMethods: input.payment_methods?.map(toMethod),
    giftEnabled: input.gift_enabled ?? undefined,
    customCss: input.custom_css,
    discountPercent: input.discount_percent,
    discountOverrides: input.discount_overrides,
    discountStartsAt: dateOf(input.discount_starts_at),
    discountEndsAt: dateOf(input.discount_ends_at),
    discountBadgeText: input.discount_badge_text,
    backgroundConfig: backgroundOf(input.background_config),
  };
}

function toMethod(input: z.output<typeof LandingPaymentMethodInput>): LandingMethod {
  const hasOptions = input.sub_options && Object.keys(input.sub_options).length > 0;
  return {
    method_id: input.method_id,
    display_name: input.display_name,
    description: input.description ?? null,
    icon_url: input.icon_url || null,
    sort_order: input.sort_order,
    min_amount_kopeks: input.min_amount_kopeks ?? null,
    max_amount_kopeks: input.max_amount_kopeks ?? null,
    currency: input.currency ? input.currency.toUpperCase() : null,
    return_url: input.return_url || null,
    sub_options: hasOptions ? (input.sub_options ?? null) : null,
  };
}

function dateOf(text: string | null | undefined): Date | null | undefined {
  return typeof text === 'string' ? utcDate(text) : text;
}

/** The schema has accepted it; reading it drops what nobody knows. */
function backgroundOf(value: Record<string, unknown> | null | undefined): LandingBackground | null | undefined {
  if (!value) return value;
  const read = readBackground(value);
  return 'problem' in read ? null : read;
}

function checkNewDiscount(input: CreateInput): void {
  const { discount_percent: percent, discount_starts_at: start, discount_ends_at: end, discount_overrides: overrides } = input;
  if (!percent && (start || end)) refuseField(input, 'discount_percent', 'discount dates need discount_percent');
  if (percent && !(start && end)) {
    refuseField(input, 'discount_percent', 'discount_percent needs discount_starts_at and discount_ends_at');
  }
  checkDates(input);
  const allowed = new Set(input.allowed_tariff_ids.map(String));
  const isForeign = allowed.size > 0 && Object.keys(overrides ?? {}).some((id) => !allowed.has(String(Number(id))));
  if (isForeign) refuseField(input, 'discount_overrides', 'discount_overrides names tariffs that are not in allowed_tariff_ids');
}

function checkDates(input: UpdateInput): void {
  const [start, end] = [dateOf(input.discount_starts_at), dateOf(input.discount_ends_at)];
  if (start && end && start >= end) {
    refuseField(input, 'discount_starts_at', 'discount_starts_at must be before discount_ends_at');
  }
}

function refuseField(input: UpdateInput, field: keyof UpdateInput, problem: string): never {
  const msg = `Value error, ${problem}`;
  throw new ValidationError([
    { loc: ['body', field], type: 'value_error', msg, input: input[field] ?? null, ctx: { error: problem } },
  ]);
}

export function toLandingDetail(landing: Landing) {
  return {
    id: landing.id,
    slug: landing.slug,
    title: landing.title,
    subtitle: landing.subtitle,
    is_active: landing.isActive,
    display_order: landing.displayOrder,
    features: [...landing.features],
    footer_text: landing.footerText,
    allowed_tariff_ids: [...landing.allowedTariffIds],
    allowed_periods: Object.fromEntries(Object.entries(landing.allowedPeriods).map(([id, days]) => [id, [...days]])),
    payment_methods: [...landing.paymentMethods],
    gift_enabled: landing.giftEnabled,
    custom_css: landing.customCss,
    meta_title: landing.metaTitle,
    meta_description: landing.metaDescription,
    discount_percent: landing.discountPercent,
    discount_overrides: landing.discountOverrides,
    discount_starts_at: landing.discountStartsAt,
    discount_ends_at: landing.discountEndsAt,
    discount_badge_text: landing.discountBadgeText,
    background_config: landing.backgroundConfig && { ...landing.backgroundConfig },
    created_at: landing.createdAt,
    updated_at: landing.updatedAt,
  };
}

export function toLandingListItem({ landing, purchases, hasActiveDiscount }: ListedLanding) {
  return {
    id: landing.id,
    slug: landing.slug,
    title: landing.title,
    is_active: landing.isActive,
    display_order: landing.displayOrder,
    gift_enabled: landing.giftEnabled,
    tariff_count: landing.allowedTariffIds.length,
    method_count: landing.paymentMethods.length,
    purchase_stats: { ...purchases, total: Object.values(purchases).reduce((sum, count) => sum + count, 0) },
    has_active_discount: hasActiveDiscount,
    created_at: landing.createdAt,
    updated_at: landing.updatedAt,
  };
}

export function toLandingStats(figures: LandingFigures) {
  const { created, successful, revenueKopeks, gifts } = figures;
  return {
    total_purchases: created,
    total_revenue_kopeks: revenueKopeks,
    total_gifts: gifts,
    total_regular: successful - gifts,
    avg_purchase_kopeks: successful === 0 ? 0 : Math.floor(revenueKopeks / successful),
    total_created: created,
    total_successful: successful,
    conversion_rate: created === 0 ? 0 : Math.round((successful / created) * 1000) / 10,
    daily_stats: figures.days.map((day) => ({
      date: day.date,
      created: day.created,
      purchases: day.purchases,
      revenue_kopeks: day.revenueKopeks,
      gifts: day.gifts,
    })),
    tariff_stats: figures.tariffs.map((row) => ({
      tariff_id: row.tariffId,
      tariff_name: row.tariffName ?? UNKNOWN,
      purchases: row.purchases,
      revenue_kopeks: row.revenueKopeks,
    })),
  };
}

/** The token is a credential: the list shows enough of it to know it again. */
export function toPurchaseItem(purchase: ListedPurchase) {
  return {
    id: purchase.id,
    token: `${purchase.token.slice(0, 8)}...`,
    contact_type: purchase.contactType,
    contact_value: purchase.contactValue,
    is_gift: purchase.isGift,
    gift_recipient_type: purchase.giftRecipientType,
    gift_recipient_value: purchase.giftRecipientValue,
    tariff_name: purchase.tariffName ?? UNKNOWN,
    period_days: purchase.periodDays,
    amount_kopeks: purchase.amountKopeks,
    currency: purchase.currency,
    payment_method: purchase.paymentMethod,
    status: purchase.status,
    created_at: purchase.createdAt,
    paid_at: purchase.paidAt,
  };
}
