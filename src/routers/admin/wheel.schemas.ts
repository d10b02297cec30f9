import { z } from 'zod';
import { MomentInput } from '../moment-input.ts';
import { Moment } from '../shared.schemas.ts';

/** Contract group `Admin Fortune Wheel` (spec 04 section 13.6). */

const Color = z.string().regex(/^#[0-9A-Fa-f]{6}$/);
const PrizeTypeName = z.enum(['subscription_days', 'balance_bonus', 'traffic_gb', 'promocode', 'nothing']);

export const WheelPrizePath = z.object({ prize_id: z.int() });

export const WheelPrizeAdminResponse = z
  .object({
    id: z.int(),
    config_id: z.int(),
    prize_type: z.string(),
    prize_value: z.int(),
    display_name: z.string(),
    emoji: z.string(),
    color: z.string(),
    prize_value_kopeks: z.int(),
    sort_order: z.int(),
    manual_probability: z.number().nullish(),
    is_active: z.boolean(),
    promo_balance_bonus_kopeks: z.int().default(0),
    promo_subscription_days: z.int().default(0),
    promo_traffic_gb: z.int().default(0),
    created_at: Moment.nullish(),
    updated_at: Moment.nullish(),
  })
  .meta({ id: 'WheelPrizeAdminResponse' });

export const AdminWheelConfigResponse = z
  .object({
    id: z.int(),
    is_enabled: z.boolean(),
    name: z.string(),
    spin_cost_stars: z.int(),
    spin_cost_days: z.int(),
    spin_cost_stars_enabled: z.boolean(),
    spin_cost_days_enabled: z.boolean(),
    rtp_percent: z.int(),
    daily_spin_limit: z.int(),
    min_subscription_days_for_day_payment: z.int(),
    promo_prefix: z.string(),
    promo_validity_days: z.int(),
    prizes: WheelPrizeAdminResponse.array(),
    /** Average payout of a spin paid in stars, in percent; beyond the contract (spec 04 section 13.3). */
    expected_rtp_percent: z.number().nullable(),
    created_at: Moment.nullish(),
    updated_at: Moment.nullish(),
  })
  .meta({ id: 'AdminWheelConfigResponse' });

export const UpdateWheelConfigRequest = z
  .object({
    is_enabled: z.boolean().nullish(),
    name: z.string().min(1).max(255).nullish(),
    spin_cost_stars: z.int().min(1).max(1000).nullish(),
    spin_cost_days: z.int().min(1).max(30).nullish(),
    spin_cost_stars_enabled: z.boolean().nullish(),
    spin_cost_days_enabled: z.boolean().nullish(),
    rtp_percent: z.int().min(0).max(100).nullish(),
    daily_spin_limit: z.int().min(0).max(100).nullish(),
    min_subscription_days_for_day_payment: z.int().min(1).max(30).nullish(),
    promo_prefix: z.string().min(1).max(20).nullish(),
    promo_validity_days: z.int().min(1).max(365).nullish(),
  })
  .meta({
    id: 'UpdateWheelConfigRequest',
    example: { is_enabled: true, name: 'Wheel of fortune', spin_cost_stars: 10, daily_spin_limit: 3, promo_prefix: 'WHEEL' },
  });

export const CreatePrizeRequest = z
  .object({
    prize_type: PrizeTypeName,
    prize_value: z.int().min(0),
    display_name: z.string().min(1).max(100),
    emoji: z.string().max(10).default('🎁'),
    color: Color.default('#3B82F6'),
    prize_value_kopeks: z.int().min(0),
    sort_order: z.int().min(0).default(0),
    manual_probability: z.number().min(0).max(1).nullish(),
    is_active: z.boolean().default(true),
    promo_balance_bonus_kopeks: z.int().min(0).default(0),
    promo_subscription_days: z.int().min(0).default(0),
    promo_traffic_gb: z.int().min(0).default(0),
  })
  .meta({
    id: 'CreatePrizeRequest',
    example: { prize_type: 'balance_bonus', prize_value: 5000, display_name: '50 ₽', prize_value_kopeks: 5000, color: '#3B82F6' },
  });

export const UpdatePrizeRequest = z
  .object({
    prize_type: PrizeTypeName.nullish(),
    prize_value: z.int().min(0).nullish(),
    display_name: z.string().min(1).max(100).nullish(),
    emoji: z.string().max(10).nullish(),
    color: Color.nullish(),
    prize_value_kopeks: z.int().min(0).nullish(),
    sort_order: z.int().min(0).nullish(),
    manual_probability: z.number().min(0).max(1).nullish(),
    is_active: z.boolean().nullish(),
    promo_balance_bonus_kopeks: z.int().min(0).nullish(),
    promo_subscription_days: z.int().min(0).nullish(),
    promo_traffic_gb: z.int().min(0).nullish(),
  })
  .meta({ id: 'UpdatePrizeRequest', example: { display_name: '50 ₽', color: '#3B82F6', manual_probability: 0.25 } });

export const ReorderPrizesRequest = z.object({ prize_ids: z.int().array() }).meta({ id: 'ReorderPrizesRequest' });

const period = { date_from: MomentInput.nullish(), date_to: MomentInput.nullish() };

export const WheelStatisticsQuery = z.object(period);

const SpinSum = z.object({ count: z.int(), total_kopeks: z.int() });

const PrizeSum = SpinSum.extend({ prize_type: z.string(), display_name: z.string() });

const TopWin = z.object({
  user_id: z.int(),
  username: z.string().nullable(),
  prize_display_name: z.string(),
  prize_value_kopeks: z.int(),
  created_at: Moment,
});

export const WheelStatisticsResponse = z
  .object({
    total_spins: z.int(),
    total_revenue_kopeks: z.int(),
    total_payout_kopeks: z.int(),
    actual_rtp_percent: z.number(),
    configured_rtp_percent: z.int(),
    spins_by_payment_type: z.record(z.string(), SpinSum),
    prizes_distribution: PrizeSum.array(),
    top_wins: TopWin.array(),
    period_from: z.string().nullish(),
    period_to: z.string().nullish(),
  })
  .meta({ id: 'WheelStatisticsResponse' });

export const AdminSpinsQuery = z.object({
  user_id: z.int().nullish(),
  ...period,
  page: z.int().min(1).default(1),
  per_page: z.int().min(1).max(100).default(50),
});

export const AdminSpinItem = z
  .object({
    id: z.int(),
    user_id: z.int(),
    username: z.string().nullish(),
    payment_type: z.string(),
    payment_amount: z.int(),
    payment_value_kopeks: z.int(),
    prize_type: z.string(),
    prize_value: z.int(),
    prize_display_name: z.string(),
    prize_value_kopeks: z.int(),
    is_applied: z.boolean(),
    created_at: Moment,
  })
  .meta({ id: 'AdminSpinItem' });

export const AdminSpinsResponse = z
  .object({ items: AdminSpinItem.array(), total: z.int(), page: z.int(), per_page: z.int(), pages: z.int() })
  .meta({ id: 'AdminSpinsResponse' });
