import { z } from 'zod';
import { Moment } from '../shared.schemas.ts';

/** Contract group `promo-groups` (spec 04 section 8). Fields without value are left out of its answers. */

const PeriodDiscounts = z.record(z.string(), z.int());

export const PromoGroupPath = z.object({ group_id: z.int() });

export const PromoGroupListQuery = z.object({
  limit: z.int().min(1).max(200).default(50),
  offset: z.int().min(0).default(0),
});

export const PromoGroupFields = z.object({
  id: z.int(),
  name: z.string(),
  server_discount_percent: z.int(),
  traffic_discount_percent: z.int(),
  device_discount_percent: z.int(),
  period_discounts: PeriodDiscounts.default({}),
  auto_assign_total_spent_kopeks: z.int().nullish(),
  apply_discounts_to_addons: z.boolean(),
  is_default: z.boolean(),
  members_count: z.int().default(0),
  created_at: Moment.nullish(),
  updated_at: Moment.nullish(),
});

export const PromoGroupCreateFields = z.object({
  name: z.string(),
  server_discount_percent: z.int().default(0),
  traffic_discount_percent: z.int().default(0),
  device_discount_percent: z.int().default(0),
  period_discounts: PeriodDiscounts.nullish(),
  auto_assign_total_spent_kopeks: z.int().nullish(),
  apply_discounts_to_addons: z.boolean().default(true),
  is_default: z.boolean().default(false),
});

export const PromoGroupUpdateFields = z.object({
  name: z.string().nullish(),
  server_discount_percent: z.int().nullish(),
  traffic_discount_percent: z.int().nullish(),
  device_discount_percent: z.int().nullish(),
  period_discounts: PeriodDiscounts.nullish(),
  auto_assign_total_spent_kopeks: z.int().nullish(),
  apply_discounts_to_addons: z.boolean().nullish(),
  is_default: z.boolean().nullish(),
});

/** A request that every schema of this group takes. */
export const PROMO_GROUP_EXAMPLE = {
  name: 'Regulars',
  server_discount_percent: 5,
  traffic_discount_percent: 10,
  device_discount_percent: 0,
  period_discounts: { '30': 5, '90': 10 },
  auto_assign_total_spent_kopeks: 500_000,
  apply_discounts_to_addons: true,
  is_default: false,
};

export const PromoGroupResponse = PromoGroupFields.meta({ id: 'PromoGroupResponse' });

export const PromoGroupListResponse = z
  .object({ items: PromoGroupResponse.array(), total: z.int(), limit: z.int(), offset: z.int() })
  .meta({ id: 'PromoGroupListResponse' });

export const PromoGroupCreateRequest = PromoGroupCreateFields.meta({
  id: 'PromoGroupCreateRequest',
  example: PROMO_GROUP_EXAMPLE,
});

export const PromoGroupUpdateRequest = PromoGroupUpdateFields.meta({
  id: 'PromoGroupUpdateRequest',
  example: PROMO_GROUP_EXAMPLE,
});
