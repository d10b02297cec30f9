import { z } from 'zod';
import { Timestamp } from '../shared.schemas.ts';

/** Contract group `promo-groups`. Fields without value are left out of its answers. */

const PeriodDiscounts = z.record(z.string(), z.int());

export const PromoGroupPath = z.object({ group_id: z.int().describe('Id of the promo group.') });

export const PromoGroupListQuery = z.object({
  limit: z.int().min(1).max(200).default(50).describe('Greatest number of records in the answer.'),
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
});

export const PromoGroupFields = z.object({
  id: z.int().describe('Id of the promo group.'),
  name: z.string().describe('Name of the promo group, unique.'),
  server_discount_percent: z.int().describe('Discount on servers in percent, 0 to 100.'),
  traffic_discount_percent: z.int().describe('Discount on traffic in percent, 0 to 100.'),
  device_discount_percent: z.int().describe('Discount on devices in percent, 0 to 100.'),
  period_discounts: PeriodDiscounts.default({}).describe('Discounts on periods: length in days (as text) to percent.'),
  auto_assign_total_spent_kopeks: z
    .int()
    .nullish()
    .describe('Spending in kopeks from which users join the group automatically; null or 0 for never.'),
  apply_discounts_to_addons: z
    .boolean()
    .describe('Whether traffic, devices and servers bought in mid-period are discounted too.'),
  is_default: z.boolean().describe('Whether it is the default group. Exactly one group is.'),
  members_count: z.int().default(0).describe('Number of members.'),
  created_at: Timestamp.nullish().describe('When the promo group was created (UTC).'),
  updated_at: Timestamp.nullish().describe(
    'When the promo group was last changed (UTC); joining and leaving members do not count.',
  ),
});

export const PromoGroupCreateFields = z.object({
  name: z.string().describe('Unique name of the group. Trimmed.'),
  server_discount_percent: z.int().default(0).describe('Discount on servers in percent, 0 to 100.'),
  traffic_discount_percent: z.int().default(0).describe('Discount on traffic in percent, 0 to 100.'),
  device_discount_percent: z.int().default(0).describe('Discount on devices in percent, 0 to 100.'),
  period_discounts: PeriodDiscounts.nullish().describe('Discounts on periods: length in days (as text) to percent.'),
  auto_assign_total_spent_kopeks: z
    .int()
    .nullish()
    .describe('Spending in kopeks from which users join the group automatically; null or 0 for never.'),
  apply_discounts_to_addons: z
    .boolean()
    .default(true)
    .describe('Whether traffic, devices and servers bought in mid-period are discounted too.'),
  is_default: z.boolean().default(false).describe('Whether it is the default group. Exactly one group is.'),
});

export const PromoGroupUpdateFields = z.object({
  name: z.string().nullish().describe('New unique name of the group; null leaves it unchanged.'),
  server_discount_percent: z
    .int()
    .nullish()
    .describe('Discount on servers in percent, 0 to 100. Null in an update leaves it unchanged.'),
  traffic_discount_percent: z
    .int()
    .nullish()
    .describe('Discount on traffic in percent, 0 to 100. Null in an update leaves it unchanged.'),
  device_discount_percent: z
    .int()
    .nullish()
    .describe('Discount on devices in percent, 0 to 100. Null in an update leaves it unchanged.'),
  period_discounts: PeriodDiscounts.nullish().describe('Discounts on periods: length in days (as text) to percent.'),
  auto_assign_total_spent_kopeks: z
    .int()
    .nullish()
    .describe('Spending in kopeks from which users join the group automatically; 0 for never, null leaves it unchanged.'),
  apply_discounts_to_addons: z
    .boolean()
    .nullish()
    .describe('Whether traffic, devices and servers bought in mid-period are discounted too.'),
  is_default: z.boolean().nullish().describe('Whether it is the default group. Exactly one group is.'),
});

/** A request that every schema of this group accepts. */
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
  .object({
    items: PromoGroupResponse.array().describe('A page of promo groups, by priority and name.'),
    total: z.int().describe('Number of promo groups, on all pages.'),
    limit: z.int().describe('Page size that was applied.'),
    offset: z.int().describe('Number of records skipped before this page.'),
  })
  .meta({ id: 'PromoGroupListResponse' });

export const PromoGroupCreateRequest = PromoGroupCreateFields.meta({
  id: 'PromoGroupCreateRequest',
  example: PROMO_GROUP_EXAMPLE,
});

const changeable = PromoGroupUpdateFields.shape;

export const PromoGroupUpdateRequest = PromoGroupUpdateFields.extend({
  period_discounts: changeable.period_discounts.describe(
    'Discounts on periods: length in days (as text) to percent. They replace the stored ones; null leaves them unchanged.',
  ),
  apply_discounts_to_addons: changeable.apply_discounts_to_addons.describe(
    'Whether traffic, devices and servers bought in mid-period are discounted too; null leaves it unchanged.',
  ),
  is_default: changeable.is_default.describe(
    'Whether it is the default group. Exactly one group is: false makes another one the default; null leaves it unchanged.',
  ),
}).meta({
  id: 'PromoGroupUpdateRequest',
  example: PROMO_GROUP_EXAMPLE,
});
