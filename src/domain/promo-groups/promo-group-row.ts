import type { PromoGroup } from '../catalog/types.ts';

/** A promo group as SQL gives it, alone or as JSON inside a wider row of another module. */
export interface PromoGroupRow {
  id: number;
  name: string;
  isDefault: boolean;
  priority: number;
  serverDiscountPercent: number;
  trafficDiscountPercent: number;
  deviceDiscountPercent: number;
  periodDiscounts: Record<string, number>;
  applyDiscountsToAddons: boolean;
}

export const PROMO_GROUP_COLUMNS = `id, name, is_default, priority, server_discount_percent, traffic_discount_percent,
  device_discount_percent, period_discounts, apply_discounts_to_addons`;

export function toPromoGroup(row: PromoGroupRow): PromoGroup {
  return {
    id: row.id,
    name: row.name,
    isDefault: row.isDefault,
    priority: row.priority,
    serverDiscountPercent: row.serverDiscountPercent,
    trafficDiscountPercent: row.trafficDiscountPercent,
    deviceDiscountPercent: row.deviceDiscountPercent,
    periodDiscounts: row.periodDiscounts as Record<number, number>,
    applyDiscountsToAddons: row.applyDiscountsToAddons,
  };
}
