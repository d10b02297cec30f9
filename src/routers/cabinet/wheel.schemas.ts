import { z } from 'zod';
import { Moment } from '../shared.schemas.ts';

/** Contract group `Fortune Wheel` (spec 04 section 13). */

export const WheelPrizeDisplay = z
  .object({ id: z.int(), display_name: z.string(), emoji: z.string(), color: z.string(), prize_type: z.string() })
  .meta({ id: 'WheelPrizeDisplay' });

export const WheelConfigResponse = z
  .object({
    is_enabled: z.boolean(),
    name: z.string(),
    spin_cost_stars: z.int().nullish(),
    spin_cost_days: z.int().nullish(),
    spin_cost_stars_enabled: z.boolean(),
    spin_cost_days_enabled: z.boolean(),
    prizes: WheelPrizeDisplay.array(),
    daily_limit: z.int(),
    user_spins_today: z.int(),
    can_spin: z.boolean(),
    can_spin_reason: z.string().nullish(),
    can_pay_stars: z.boolean().default(false),
    can_pay_days: z.boolean().default(false),
    user_balance_kopeks: z.int().default(0),
    required_balance_kopeks: z.int().default(0),
    has_subscription: z.boolean().default(false),
  })
  .meta({ id: 'WheelConfigResponse' });

export const SpinAvailabilityResponse = z
  .object({
    can_spin: z.boolean(),
    reason: z.string().nullish(),
    spins_remaining_today: z.int(),
    can_pay_stars: z.boolean(),
    can_pay_days: z.boolean(),
    min_subscription_days: z.int(),
    user_subscription_days: z.int(),
    user_balance_kopeks: z.int().default(0),
    required_balance_kopeks: z.int().default(0),
  })
  .meta({ id: 'SpinAvailabilityResponse' });

export const SpinRequest = z
  .object({ payment_type: z.enum(['messenger_stars', 'subscription_days']) })
  .meta({ id: 'SpinRequest' });

export const SpinResultResponse = z
  .object({
    success: z.boolean(),
    prize_id: z.int().nullish(),
    prize_type: z.string().nullish(),
    prize_value: z.int().default(0),
    prize_display_name: z.string().default(''),
    emoji: z.string().default('🎁'),
    color: z.string().default('#3B82F6'),
    rotation_degrees: z.number().default(0),
    message: z.string().default(''),
    promocode: z.string().nullish(),
    error: z.string().nullish(),
  })
  .meta({ id: 'SpinResultResponse' });

export const SpinHistoryQuery = z.object({ page: z.int().default(1), per_page: z.int().default(20) });

export const SpinHistoryItem = z
  .object({
    id: z.int(),
    payment_type: z.string(),
    payment_amount: z.int(),
    prize_type: z.string(),
    prize_value: z.int(),
    prize_display_name: z.string(),
    emoji: z.string().default('🎁'),
    color: z.string().default('#3B82F6'),
    prize_value_kopeks: z.int(),
    created_at: Moment,
  })
  .meta({ id: 'SpinHistoryItem' });

export const SpinHistoryResponse = z
  .object({ items: SpinHistoryItem.array(), total: z.int(), page: z.int(), per_page: z.int(), pages: z.int() })
  .meta({ id: 'SpinHistoryResponse' });

export const CabinetWheelStarsInvoiceResponse = z
  .object({ invoice_url: z.string(), stars_amount: z.int() })
  .meta({ id: 'CabinetWheelStarsInvoiceResponse' });
