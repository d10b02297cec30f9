import { z } from 'zod';
import { Timestamp } from '../shared.schemas.ts';

/** Contract group `Fortune Wheel` (spec 04 section 13). */

const WheelPrizeDisplay = z
  .object({
    id: z.int().describe('Id of the prize of the wheel.'),
    display_name: z.string().describe('Name shown to users.'),
    emoji: z.string().describe('Emoji shown beside the name.'),
    color: z.string().describe('Colour as `#RRGGBB`.'),
    prize_type: z.string().describe('`subscription_days`, `balance_bonus`, `traffic_gb`, `promocode` or `nothing`.'),
  })
  .meta({ id: 'WheelPrizeDisplay' });

export const WheelConfigResponse = z
  .object({
    is_enabled: z.boolean().describe('Whether users can spin the wheel.'),
    name: z.string().describe('Title of the wheel of fortune.'),
    spin_cost_stars: z.int().nullish().describe('Price of a spin in Stars; null when a spin cannot be paid so.'),
    spin_cost_days: z.int().nullish().describe('Price of a spin in subscription days; null when a spin cannot be paid so.'),
    spin_cost_stars_enabled: z.boolean().describe('Whether a spin can be paid at its price in Stars.'),
    spin_cost_days_enabled: z.boolean().describe('Whether a spin can be paid in subscription days.'),
    prizes: WheelPrizeDisplay.array().describe('Prizes in the order of the wheel.'),
    daily_limit: z.int().describe('Spins per day (UTC); 0 for no limit.'),
    user_spins_today: z.int().describe('Spins of the user since 00:00 UTC.'),
    can_spin: z.boolean().describe('Whether the user can spin now.'),
    can_spin_reason: z.string().nullish().describe('Machine code of the reason why not; null when the user can spin.'),
    can_pay_stars: z.boolean().default(false).describe('Whether the balance suffices for a spin at its price in Stars.'),
    can_pay_days: z.boolean().default(false).describe('Whether the subscription has enough days for a spin.'),
    user_balance_kopeks: z.int().default(0).describe('Balance of the user in kopeks.'),
    required_balance_kopeks: z.int().default(0).describe('Balance that a spin needs, kopeks.'),
    has_subscription: z.boolean().default(false).describe('Whether the user has a subscription.'),
  })
  .meta({ id: 'WheelConfigResponse' });

export const SpinAvailabilityResponse = z
  .object({
    can_spin: z.boolean().describe('Whether the user can spin now.'),
    reason: z.string().nullish().describe('Machine code of the reason why not; null when the user can spin.'),
    spins_remaining_today: z.int().describe('Spins left today; 999 without a limit.'),
    can_pay_stars: z.boolean().describe('Whether the balance suffices for a spin at its price in Stars.'),
    can_pay_days: z.boolean().describe('Whether the subscription has enough days for a spin.'),
    min_subscription_days: z.int().describe('Days that must remain after a payment in days.'),
    user_subscription_days: z.int().describe('Whole days until the end of the subscription.'),
    user_balance_kopeks: z.int().default(0).describe('Balance of the user in kopeks.'),
    required_balance_kopeks: z.int().default(0).describe('Balance that a spin needs, kopeks.'),
  })
  .meta({ id: 'SpinAvailabilityResponse' });

export const SpinRequest = z
  .object({
    payment_type: z
      .enum(['messenger_stars', 'subscription_days'])
      .describe('How the spin is paid: `messenger_stars` or `subscription_days`.'),
  })
  .meta({ id: 'SpinRequest' });

export const SpinResultResponse = z
  .object({
    success: z.boolean().describe('Whether the spin was made. A refusal is answered with status 200 and `error`.'),
    prize_id: z.int().nullish().describe('Id of the prize; null when nothing was won.'),
    prize_type: z.string().nullish().describe('`subscription_days`, `balance_bonus`, `traffic_gb`, `promocode` or `nothing`.'),
    prize_value: z.int().default(0).describe('Size of the prize: days, kopeks or GB, by its type.'),
    prize_display_name: z.string().default('').describe('Name of the prize for display.'),
    emoji: z.string().default('🎁').describe('Emoji shown beside the name.'),
    color: z.string().default('#3B82F6').describe('Colour as `#RRGGBB`.'),
    rotation_degrees: z.number().default(0).describe('Angle at which the wheel stops, for the animation.'),
    message: z.string().default('').describe('Sentence for people that describes the outcome. Not for programs.'),
    promocode: z.string().nullish().describe('Promo code that was won; null for another prize.'),
    error: z.string().nullish().describe('Machine code of the failure; null when there was none.'),
  })
  .meta({ id: 'SpinResultResponse' });

export const SpinHistoryQuery = z.object({
  page: z.int().default(1).describe('Number of the page, from 1.'),
  per_page: z.int().default(20).describe('Number of records per page.'),
});

const SpinHistoryItem = z
  .object({
    id: z.int().describe('Id of the spin.'),
    payment_type: z.string().describe('How the spin is paid: `messenger_stars` or `subscription_days`.'),
    payment_amount: z.int().describe('Price that was paid: Stars or days.'),
    prize_type: z.string().describe('`subscription_days`, `balance_bonus`, `traffic_gb`, `promocode` or `nothing`.'),
    prize_value: z.int().describe('Size of the prize: days, kopeks or GB, by its type.'),
    prize_display_name: z.string().describe('Name of the prize for display.'),
    emoji: z.string().default('🎁').describe('Emoji shown beside the name.'),
    color: z.string().default('#3B82F6').describe('Colour as `#RRGGBB`.'),
    prize_value_kopeks: z
      .int()
      .describe(
        'Value of the prize in kopeks; used to compute probabilities, and credited when the prize itself cannot be given.',
      ),
    created_at: Timestamp.describe('When the wheel was spun (UTC).'),
  })
  .meta({ id: 'SpinHistoryItem' });

export const SpinHistoryResponse = z
  .object({
    items: SpinHistoryItem.array().describe('A page of own spins, newest first.'),
    total: z.int().describe('Number of own spins, on all pages.'),
    page: z.int().describe('Number of this page, from 1.'),
    per_page: z.int().describe('Page size that was applied.'),
    pages: z.int().describe('Number of pages; at least 1.'),
  })
  .meta({ id: 'SpinHistoryResponse' });

export const CabinetWheelStarsInvoiceResponse = z
  .object({
    invoice_url: z.string().describe('Link of the messenger to pay the invoice in Stars.'),
    stars_amount: z.int().describe('Number of Stars of the invoice.'),
  })
  .meta({ id: 'CabinetWheelStarsInvoiceResponse' });
