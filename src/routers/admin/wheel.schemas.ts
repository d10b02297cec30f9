import { z } from 'zod';
import { Timestamp, TimestampInput } from '../shared.schemas.ts';

/** Contract group `Admin Fortune Wheel`. */

const Color = z.string().regex(/^#[0-9A-Fa-f]{6}$/);
const PrizeTypeName = z.enum(['subscription_days', 'balance_bonus', 'traffic_gb', 'promocode', 'nothing']);

export const WheelPrizePath = z.object({ prize_id: z.int().describe('Id of the prize.') });

export const WheelPrizeAdminResponse = z
  .object({
    id: z.int().describe('Id of the prize of the wheel.'),
    config_id: z.int().describe('Id of the wheel.'),
    prize_type: z.string().describe('`subscription_days`, `balance_bonus`, `traffic_gb`, `promocode` or `nothing`.'),
    prize_value: z.int().describe('Size of the prize: days, kopeks or GB, by its type.'),
    display_name: z.string().describe('Name shown to users.'),
    emoji: z.string().describe('Emoji shown beside the name.'),
    color: z.string().describe('Colour as `#RRGGBB`.'),
    prize_value_kopeks: z
      .int()
      .describe(
        'Value of the prize in kopeks; used to compute probabilities, and credited when the prize itself cannot be given.',
      ),
    sort_order: z.int().describe('Place in the list; smaller numbers come first.'),
    manual_probability: z
      .number()
      .nullish()
      .describe('Fixed probability, 0 to 1; null or 0 to compute it from the return to player.'),
    is_active: z.boolean().describe('Whether the prize is on the wheel and can be won.'),
    promo_balance_bonus_kopeks: z.int().default(0).describe('Balance bonus of the promo code that is won, kopeks.'),
    promo_subscription_days: z
      .int()
      .default(0)
      .describe('Subscription days of the promo code that is won; above 0 they take precedence.'),
    promo_traffic_gb: z.int().default(0).describe('Traffic of the promo code that is won, GB. Stored, without effect.'),
    created_at: Timestamp.nullish().describe('When the prize of the wheel was created (UTC).'),
    updated_at: Timestamp.nullish().describe('When the prize was last changed (UTC).'),
  })
  .meta({ id: 'WheelPrizeAdminResponse' });

export const AdminWheelConfigResponse = z
  .object({
    id: z.int().describe('Id of the settings of the wheel.'),
    is_enabled: z.boolean().describe('Whether users can spin the wheel; otherwise every spin is refused.'),
    name: z.string().describe('Title of the wheel of fortune, shown to users.'),
    spin_cost_stars: z.int().describe('Price of a spin in Stars.'),
    spin_cost_days: z.int().describe('Price of a spin in subscription days.'),
    spin_cost_stars_enabled: z.boolean().describe('Whether a spin can be paid at its price in Stars.'),
    spin_cost_days_enabled: z.boolean().describe('Whether a spin can be paid in subscription days.'),
    rtp_percent: z.int().describe('Return to player: value of the prizes in percent of what is paid.'),
    daily_spin_limit: z.int().describe('Spins a user has per day (UTC); 0 for no limit.'),
    min_subscription_days_for_day_payment: z.int().describe('Days that must remain after a payment in days.'),
    promo_prefix: z.string().describe('Start of the promo codes that are won.'),
    promo_validity_days: z.int().describe('Days for which a won promo code is valid.'),
    prizes: WheelPrizeAdminResponse.array().describe('Prizes in the order of the wheel.'),
    /** Average payout of a spin paid in stars, in percent; beyond the contract. */
    expected_rtp_percent: z
      .number()
      .nullable()
      .describe(
        'Return to player that follows from the prizes and their probabilities, percent; null when it cannot be computed.',
      ),
    created_at: Timestamp.nullish().describe('When the settings of the wheel was created (UTC).'),
    updated_at: Timestamp.nullish().describe(
      'When the settings of the wheel were last changed (UTC); changes of its prizes do not count.',
    ),
  })
  .meta({ id: 'AdminWheelConfigResponse' });

export const UpdateWheelConfigRequest = z
  .object({
    is_enabled: z.boolean().nullish().describe('Whether users can spin the wheel; null leaves it unchanged.'),
    name: z
      .string()
      .min(1)
      .max(255)
      .nullish()
      .describe('New title of the wheel of fortune, 1 to 255 characters; null leaves it unchanged.'),
    spin_cost_stars: z.int().min(1).max(1000).nullish().describe('Price of a spin in Stars; null when a spin cannot be paid so.'),
    spin_cost_days: z
      .int()
      .min(1)
      .max(30)
      .nullish()
      .describe('Price of a spin in subscription days; null when a spin cannot be paid so.'),
    spin_cost_stars_enabled: z
      .boolean()
      .nullish()
      .describe('Whether a spin can be paid at its price in Stars. Null in a request leaves it unchanged.'),
    spin_cost_days_enabled: z
      .boolean()
      .nullish()
      .describe('Whether a spin can be paid in subscription days. Null in a request leaves it unchanged.'),
    rtp_percent: z
      .int()
      .min(0)
      .max(100)
      .nullish()
      .describe('Return to player: value of the prizes in percent of what is paid. Null in a request leaves it unchanged.'),
    daily_spin_limit: z
      .int()
      .min(0)
      .max(100)
      .nullish()
      .describe('Spins a user has per day (UTC); 0 for no limit. Null in a request leaves it unchanged.'),
    min_subscription_days_for_day_payment: z
      .int()
      .min(1)
      .max(30)
      .nullish()
      .describe('Days that must remain after a payment in days. Null in a request leaves it unchanged.'),
    promo_prefix: z
      .string()
      .min(1)
      .max(20)
      .nullish()
      .describe('Start of the promo codes that are won. Null in a request leaves it unchanged.'),
    promo_validity_days: z
      .int()
      .min(1)
      .max(365)
      .nullish()
      .describe('Days for which a won promo code is valid. Null in a request leaves it unchanged.'),
  })
  .meta({
    id: 'UpdateWheelConfigRequest',
    example: { is_enabled: true, name: 'Wheel of fortune', spin_cost_stars: 10, daily_spin_limit: 3, promo_prefix: 'WHEEL' },
  });

export const CreatePrizeRequest = z
  .object({
    prize_type: PrizeTypeName.describe('`subscription_days`, `balance_bonus`, `traffic_gb`, `promocode` or `nothing`.'),
    prize_value: z.int().min(0).describe('Size of the prize: days, kopeks or GB, by its type.'),
    display_name: z.string().min(1).max(100).describe('Name shown to users.'),
    emoji: z.string().max(10).default('🎁').describe('Emoji shown beside the name.'),
    color: Color.default('#3B82F6').describe('Colour as `#RRGGBB`.'),
    prize_value_kopeks: z
      .int()
      .min(0)
      .describe(
        'Value of the prize in kopeks; used to compute probabilities, and credited when the prize itself cannot be given.',
      ),
    sort_order: z.int().min(0).default(0).describe('Place in the list; smaller numbers come first.'),
    manual_probability: z
      .number()
      .min(0)
      .max(1)
      .nullish()
      .describe('Fixed probability, 0 to 1; null or 0 to compute it from the return to player.'),
    is_active: z.boolean().default(true).describe('Whether the prize can be won.'),
    promo_balance_bonus_kopeks: z.int().min(0).default(0).describe('Balance bonus of the promo code that is won, kopeks.'),
    promo_subscription_days: z
      .int()
      .min(0)
      .default(0)
      .describe('Subscription days of the promo code that is won; above 0 they take precedence.'),
    promo_traffic_gb: z.int().min(0).default(0).describe('Traffic of the promo code that is won, GB. Stored, without effect.'),
  })
  .meta({
    id: 'CreatePrizeRequest',
    example: { prize_type: 'balance_bonus', prize_value: 5000, display_name: '50 ₽', prize_value_kopeks: 5000, color: '#3B82F6' },
  });

export const UpdatePrizeRequest = z
  .object({
    prize_type: PrizeTypeName.nullish().describe(
      '`subscription_days`, `balance_bonus`, `traffic_gb`, `promocode` or `nothing`; null leaves it unchanged.',
    ),
    prize_value: z
      .int()
      .min(0)
      .nullish()
      .describe('Size of the prize: days, kopeks or GB, by its type. Null leaves it unchanged.'),
    display_name: z.string().min(1).max(100).nullish().describe('New name shown to users; null leaves it unchanged.'),
    emoji: z.string().max(10).nullish().describe('Emoji shown beside the name; null leaves it unchanged.'),
    color: Color.nullish().describe('Colour as `#RRGGBB`; null leaves it unchanged.'),
    prize_value_kopeks: z
      .int()
      .min(0)
      .nullish()
      .describe(
        'Value of the prize in kopeks; used to compute probabilities, and credited when the prize itself cannot be given. Null leaves it unchanged.',
      ),
    sort_order: z.int().min(0).nullish().describe('Place in the list; smaller numbers come first. Null leaves it unchanged.'),
    manual_probability: z
      .number()
      .min(0)
      .max(1)
      .nullish()
      .describe('Fixed probability, 0 to 1; null or 0 to compute it from the return to player, absent leaves it unchanged.'),
    is_active: z.boolean().nullish().describe('Whether the prize can be won; null leaves it unchanged.'),
    promo_balance_bonus_kopeks: z
      .int()
      .min(0)
      .nullish()
      .describe('Balance bonus of the promo code that is won, kopeks; null leaves it unchanged.'),
    promo_subscription_days: z
      .int()
      .min(0)
      .nullish()
      .describe('Subscription days of the promo code that is won; above 0 they take precedence. Null leaves them unchanged.'),
    promo_traffic_gb: z
      .int()
      .min(0)
      .nullish()
      .describe('Traffic of the promo code that is won, GB. Stored, without effect. Null leaves it unchanged.'),
  })
  .meta({ id: 'UpdatePrizeRequest', example: { display_name: '50 ₽', color: '#3B82F6', manual_probability: 0.25 } });

export const ReorderPrizesRequest = z
  .object({ prize_ids: z.int().array().describe('All ids in the wanted order.') })
  .meta({ id: 'ReorderPrizesRequest' });

const period = {
  date_from: TimestampInput.nullish().describe('Only records from this moment on (UTC, inclusive).'),
  date_to: TimestampInput.nullish().describe('Only records up to this moment (UTC, inclusive).'),
};

export const WheelStatisticsQuery = z.object(period);

const SpinSum = z.object({
  count: z.int().describe('Number of spins that were paid in this way.'),
  total_kopeks: z.int().describe('Value of what was paid so, kopeks.'),
});

const PrizeSum = z.object({
  count: z.int().describe('How often the prize was won.'),
  total_kopeks: z.int().describe('Value of these prizes, kopeks.'),
  prize_type: z.string().describe('`subscription_days`, `balance_bonus`, `traffic_gb`, `promocode` or `nothing`.'),
  display_name: z.string().describe('Name shown to users.'),
});

const TopWin = z.object({
  user_id: z.int().describe('Internal id of the user.'),
  username: z.string().nullable().describe('User name in the messenger, without `@`; null when the user has none.'),
  prize_display_name: z.string().describe('Name of the prize for display.'),
  prize_value_kopeks: z
    .int()
    .describe('Value of the prize in kopeks; used to compute probabilities, and credited when the prize itself cannot be given.'),
  created_at: Timestamp.describe('When the prize was won (UTC).'),
});

export const WheelStatisticsResponse = z
  .object({
    total_spins: z.int().describe('Number of spins.'),
    total_revenue_kopeks: z.int().describe('Value of what was paid, kopeks.'),
    total_payout_kopeks: z.int().describe('Value of the prizes, kopeks.'),
    actual_rtp_percent: z.number().describe('Value of the prizes in percent of what was paid, two decimals; 0 without spins.'),
    configured_rtp_percent: z.int().describe('Return to player of the settings, percent.'),
    spins_by_payment_type: z.record(z.string(), SpinSum).describe('Payment type to `count` and `total_kopeks`.'),
    prizes_distribution: PrizeSum.array().describe('Prizes with `prize_type`, `display_name`, `count` and `total_kopeks`.'),
    top_wins: TopWin.array().describe('The ten most valuable prizes that were won.'),
    period_from: z.string().nullish().describe('Start of the period (UTC); null for no start.'),
    period_to: z.string().nullish().describe('End of the period (UTC); null for no end.'),
  })
  .meta({ id: 'WheelStatisticsResponse' });

export const AdminSpinsQuery = z.object({
  user_id: z.int().nullish().describe('Only spins of this user (internal id).'),
  ...period,
  page: z.int().min(1).default(1).describe('Number of the page, from 1.'),
  per_page: z.int().min(1).max(100).default(50).describe('Number of records per page.'),
});

const AdminSpinItem = z
  .object({
    id: z.int().describe('Id of the spin.'),
    user_id: z.int().describe('Internal id of the user.'),
    username: z.string().nullish().describe('User name in the messenger, without `@`; null when the user has none.'),
    payment_type: z.string().describe('How the spin is paid: `messenger_stars` or `subscription_days`.'),
    payment_amount: z.int().describe('Price that was paid: Stars or days.'),
    payment_value_kopeks: z.int().describe('Value of what was paid in kopeks.'),
    prize_type: z.string().describe('`subscription_days`, `balance_bonus`, `traffic_gb`, `promocode` or `nothing`.'),
    prize_value: z.int().describe('Size of the prize: days, kopeks or GB, by its type.'),
    prize_display_name: z.string().describe('Name of the prize for display.'),
    prize_value_kopeks: z
      .int()
      .describe(
        'Value of the prize in kopeks; used to compute probabilities, and credited when the prize itself cannot be given.',
      ),
    is_applied: z.boolean().describe('Whether the prize was given.'),
    created_at: Timestamp.describe('When the wheel was spun (UTC).'),
  })
  .meta({ id: 'AdminSpinItem' });

export const AdminSpinsResponse = z
  .object({
    items: AdminSpinItem.array().describe('A page of spins of all users, newest first.'),
    total: z.int().describe('Number of spins of all users that match the filters, on all pages.'),
    page: z.int().describe('Number of this page, from 1.'),
    per_page: z.int().describe('Page size that was applied.'),
    pages: z.int().describe('Number of pages; at least 1.'),
  })
  .meta({ id: 'AdminSpinsResponse' });
