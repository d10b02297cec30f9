import { z } from 'zod';
import { Moment } from '../shared.schemas.ts';

/** Contract group `Cabinet Referral` (spec 04 section 2). */

export const ReferralPageQuery = z.object({
  page: z.int().min(1).default(1),
  per_page: z.int().min(1).max(100).default(20),
});

const Paged = { total: z.int(), page: z.int(), per_page: z.int(), pages: z.int() };

export const ReferralInfoResponse = z
  .object({
    referral_code: z.string(),
    referral_link: z.string(),
    bot_referral_link: z.string(),
    total_referrals: z.int(),
    active_referrals: z.int(),
    total_earnings_kopeks: z.int(),
    total_earnings_rubles: z.number(),
    commission_percent: z.number(),
    available_balance_kopeks: z.int(),
    available_balance_rubles: z.number(),
    withdrawn_kopeks: z.int(),
  })
  .meta({ id: 'ReferralInfoResponse' });

export const ReferralListResponse = z
  .object({
    items: z.array(
      z
        .object({
          id: z.int(),
          username: z.string().nullish(),
          first_name: z.string().nullish(),
          created_at: Moment,
          has_subscription: z.boolean(),
          has_paid: z.boolean(),
        })
        .meta({ id: 'ReferralItemResponse' }),
    ),
    ...Paged,
  })
  .meta({ id: 'ReferralListResponse' });

export const ReferralEarningsListResponse = z
  .object({
    items: z.array(
      z
        .object({
          id: z.int(),
          amount_kopeks: z.int(),
          amount_rubles: z.number(),
          reason: z.string(),
          referral_username: z.string().nullish(),
          referral_first_name: z.string().nullish(),
          campaign_name: z.string().nullish(),
          created_at: Moment,
        })
        .meta({ id: 'ReferralEarningResponse' }),
    ),
    total_amount_kopeks: z.int(),
    total_amount_rubles: z.number(),
    ...Paged,
  })
  .meta({ id: 'ReferralEarningsListResponse' });

export const ReferralTermsResponse = z
  .object({
    is_enabled: z.boolean(),
    commission_percent: z.int(),
    minimum_topup_kopeks: z.int(),
    minimum_topup_rubles: z.number(),
    first_topup_bonus_kopeks: z.int(),
    first_topup_bonus_rubles: z.number(),
    inviter_bonus_kopeks: z.int(),
    inviter_bonus_rubles: z.number(),
    max_commission_payments: z.int(),
    partner_section_visible: z.boolean(),
  })
  .meta({ id: 'ReferralTermsResponse' });
