import { z } from 'zod';
import { camelCase } from '../../core/camel-case.ts';
import { GivenQuote, publishedAsFreeForm, SignedQuote, Timestamp } from '../shared.schemas.ts';
import type { CamelCase } from '../wire.ts';
import { SubscriptionData } from './subscription.schemas.ts';

/** Contract group `Cabinet Subscription`: what is paid from the balance. */

export const RenewalRequest = z
  .object({ period_days: z.int().min(1).max(3650).describe('Length of the period in days.'), quote: GivenQuote })
  .meta({ id: 'RenewalRequest', example: { period_days: 30 } });

export const TariffPurchaseRequest = z
  .object({
    tariff_id: z.int().describe('Id of the tariff.'),
    period_days: z.int().min(1).max(3650).describe('Length of the period in days.'),
    traffic_gb: z
      .int()
      .min(0)
      .max(100_000)
      .nullish()
      .describe('Chosen traffic in GB, where the tariff sells it by the GB; null for the limit of the tariff.'),
    quote: GivenQuote,
  })
  .meta({ id: 'TariffPurchaseRequest', example: { tariff_id: 1, period_days: 30 } });

const PurchaseSelectionRequest = z
  .object({
    period_id: z.string().nullish().describe('Id of the period (`days:{n}`); may be left out when `period_days` is given.'),
    period_days: z.int().min(1).max(3650).nullish().describe('Length of the period in days; null for none.'),
    traffic_value: z.int().min(0).max(100_000).nullish().describe('Traffic package in GB; 0 = unlimited; null for the default.'),
    servers: z
      .array(z.string())
      .nullable()
      .default([])
      .describe('UUIDs of the servers; null or empty for the default selection.'),
    devices: z.int().min(1).max(100).nullish().describe('Number of devices; null for the default.'),
  })
  .meta({ id: 'PurchaseSelectionRequest' });

export const PurchasePreviewRequest = z
  .object({
    selection: PurchaseSelectionRequest.describe('What is to be bought: period, traffic, servers and devices.'),
    quote: GivenQuote,
  })
  .meta({
    id: 'PurchasePreviewRequest',
    example: {
      selection: { period_id: 'days:30', traffic_value: 100, servers: ['0198a2c4-7b1e-7c3a-9d54-3f2b1c0e8a77'], devices: 2 },
    },
  });

/** Untyped in the contract, like all answers below (spec 02 sections 5.2 and 5.7 to 5.12). Absent = there was no discount. */
export const RenewalResponse = publishedAsFreeForm(
  z.object({
    message: z.string(),
    new_end_date: Timestamp,
    amount_paid_kopeks: z.int(),
    promo_discount_percent: z.int().optional(),
    promo_discount_amount_kopeks: z.int().optional(),
    original_price_kopeks: z.int().optional(),
  }),
);

export const TariffPurchaseResponse = publishedAsFreeForm(
  z.object({
    success: z.literal(true),
    message: z.string(),
    subscription: SubscriptionData,
    tariff_id: z.int(),
    tariff_name: z.string(),
    charged_amount: z.int(),
    charged_label: z.string(),
    balance_kopeks: z.int(),
    balance_label: z.string(),
    discount_percent: z.int().optional(),
    original_price_kopeks: z.int().optional(),
    original_price_label: z.string().optional(),
    discount_amount_kopeks: z.int().optional(),
    discount_label: z.string().optional(),
    promo_group_name: z.string().nullish(),
    promo_offer_discount_percent: z.int().optional(),
    promo_offer_discount_amount_kopeks: z.int().optional(),
    promo_offer_discount_label: z.string().optional(),
    price_before_promo_offer_kopeks: z.int().optional(),
  }),
);

/** Clients read these fields in both spellings. */
const previewFields = {
  total_price_kopeks: z.int(),
  total_price_label: z.string(),
  original_price_kopeks: z.int().nullable(),
  original_price_label: z.string().nullable(),
  discount_percent: z.int(),
  discount_label: z.string().nullable(),
  discount_lines: z.array(z.string()),
  per_month_price_kopeks: z.int(),
  per_month_price_label: z.string(),
  balance_kopeks: z.int(),
  balance_label: z.string(),
  missing_amount_kopeks: z.int(),
  missing_amount_label: z.string().nullable(),
  can_purchase: z.boolean(),
  status_message: z.string(),
};

export const ClassicPreviewResponse = publishedAsFreeForm(
  z.object({
    ...previewFields,
    ...inCamelCase(previewFields),
    breakdown: z.array(z.object({ label: z.string(), value: z.string() })),
    quote: SignedQuote,
  }),
);

export const ClassicPurchaseResponse = publishedAsFreeForm(
  z.object({
    success: z.literal(true),
    message: z.string(),
    subscription: SubscriptionData,
    was_trial_conversion: z.boolean(),
  }),
);

const switchDiscount = { discount_percent: z.int().optional(), discount_kopeks: z.int().optional() };

export const switchPreviewFields = {
  can_switch: z.boolean(),
  current_tariff_id: z.int().nullable(),
  current_tariff_name: z.string(),
  new_tariff_id: z.int(),
  new_tariff_name: z.string(),
  remaining_days: z.int(),
  upgrade_cost_kopeks: z.int(),
  upgrade_cost_label: z.string(),
  balance_kopeks: z.int(),
  balance_label: z.string(),
  has_enough_balance: z.boolean(),
  missing_amount_kopeks: z.int(),
  missing_amount_label: z.string(),
  is_upgrade: z.boolean(),
  ...switchDiscount,
  base_upgrade_cost_kopeks: z.int().optional(),
  quote: SignedQuote,
};

export const TariffSwitchPreviewResponse = publishedAsFreeForm(z.object(switchPreviewFields));

export const TariffSwitchResponse = publishedAsFreeForm(
  z.object({
    success: z.literal(true),
    message: z.string(),
    subscription: SubscriptionData,
    old_tariff_name: z.string(),
    new_tariff_id: z.int(),
    new_tariff_name: z.string(),
    charged_kopeks: z.int(),
    balance_kopeks: z.int(),
    balance_label: z.string(),
    ...switchDiscount,
    base_charged_kopeks: z.int().optional(),
  }),
);

/** The same fields under their names in camel case. */
function inCamelCase<Shape extends z.ZodRawShape>(shape: Shape) {
  return Object.fromEntries(Object.entries(shape).map(([name, schema]) => [camelCase(name), schema])) as {
    [Name in keyof Shape as CamelCase<Name & string>]: Shape[Name];
  };
}
