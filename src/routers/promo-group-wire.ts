import type { z } from 'zod';
import type { PromoGroupRequest } from '../domain/promo-groups/save-promo-group.ts';
import type { PromoGroupRecord } from '../domain/promo-groups/types.ts';
import type { PromoGroupCreateFields, PromoGroupUpdateFields } from './web/promo-groups.schemas.ts';

/** Names of promo groups on the wire, alike at both doors (spec 04 section 8.4). */

export function toPromoGroupAnswer(group: PromoGroupRecord) {
  return {
    id: group.id,
    name: group.name,
    server_discount_percent: group.serverDiscountPercent,
    traffic_discount_percent: group.trafficDiscountPercent,
    device_discount_percent: group.deviceDiscountPercent,
    period_discounts: group.periodDiscounts,
    auto_assign_total_spent_kopeks: group.autoAssignTotalSpentKopeks,
    apply_discounts_to_addons: group.applyDiscountsToAddons,
    is_default: group.isDefault,
    members_count: group.membersCount,
    created_at: group.createdAt,
    updated_at: group.updatedAt,
  };
}

export function toNewPromoGroup(input: z.output<typeof PromoGroupCreateFields>): PromoGroupRequest {
  return {
    name: input.name,
    serverDiscountPercent: input.server_discount_percent,
    trafficDiscountPercent: input.traffic_discount_percent,
    deviceDiscountPercent: input.device_discount_percent,
    periodDiscounts: input.period_discounts ?? {},
    autoAssignTotalSpentKopeks: input.auto_assign_total_spent_kopeks ?? null,
    applyDiscountsToAddons: input.apply_discounts_to_addons,
    isDefault: input.is_default,
  };
}

/** null and absent alike leave a field as it is. */
export function toPromoGroupChanges(input: z.output<typeof PromoGroupUpdateFields>): Partial<PromoGroupRequest> {
  return {
    name: input.name ?? undefined,
    serverDiscountPercent: input.server_discount_percent ?? undefined,
    trafficDiscountPercent: input.traffic_discount_percent ?? undefined,
    deviceDiscountPercent: input.device_discount_percent ?? undefined,
    periodDiscounts: input.period_discounts ?? undefined,
    autoAssignTotalSpentKopeks: input.auto_assign_total_spent_kopeks ?? undefined,
    applyDiscountsToAddons: input.apply_discounts_to_addons ?? undefined,
    isDefault: input.is_default ?? undefined,
  };
}
