import type { PromoGroup } from '../catalog/types.ts';

/** A promo group as SQL gives it, alone or as JSON inside a wider row of another module. */
export interface PromoGroupRow {
  id: number;
  name: string;
  is_default: boolean;
  priority: number;
  server_discount_percent: number;
  traffic_discount_percent: number;
  device_discount_percent: number;
  period_discounts: Record<string, number>;
  apply_discounts_to_addons: boolean;
}

export const PROMO_GROUP_COLUMNS = `id, name, is_default, priority, server_discount_percent, traffic_discount_percent,
  device_discount_percent, period_discounts, apply_discounts_to_addons`;

export function toPromoGroup(row: PromoGroupRow): PromoGroup {
  return {
    id: row.id,
    name: row.name,
    isDefault: row.is_default,
    priority: row.priority,
    serverDiscountPercent: row.server_discount_percent,
    trafficDiscountPercent: row.traffic_discount_percent,
    deviceDiscountPercent: row.device_discount_percent,
    periodDiscounts: row.period_discounts as Record<number, number>,
    applyDiscountsToAddons: row.apply_discounts_to_addons,
  };
}
