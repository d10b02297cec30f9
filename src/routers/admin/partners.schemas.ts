import { z } from 'zod';
import { Moment } from '../shared.schemas.ts';

/** Contract group `Cabinet Admin Partners` (spec 04 section 3.3). */

export const PartnerSettingsResponse = z
  .object({
    withdrawal_enabled: z.boolean(),
    withdrawal_min_amount_kopeks: z.int(),
    withdrawal_cooldown_days: z.int(),
    withdrawal_requisites_text: z.string(),
    partner_section_visible: z.boolean(),
    referral_program_enabled: z.boolean(),
  })
  .meta({ id: 'PartnerSettingsResponse' });

export const PartnerSettingsUpdateRequest = z
  .object({
    withdrawal_enabled: z.boolean().nullish(),
    withdrawal_min_amount_kopeks: z.int().min(0).max(100_000_000).nullish(),
    withdrawal_cooldown_days: z.int().min(0).max(365).nullish(),
    withdrawal_requisites_text: z.string().max(2_000).nullish(),
    partner_section_visible: z.boolean().nullish(),
    referral_program_enabled: z.boolean().nullish(),
  })
  .meta({
    id: 'PartnerSettingsUpdateRequest',
    example: { withdrawal_enabled: true, withdrawal_min_amount_kopeks: 100000, withdrawal_requisites_text: 'Card number' },
  });

const Slice = { offset: z.int().min(0).default(0), limit: z.int().min(1).max(100).default(50) };

export const PartnerListQuery = z.object(Slice);
export const ApplicationListQuery = z.object({ status: z.enum(['pending', 'approved', 'rejected', 'none']).nullish(), ...Slice });

export const ApplicationPath = z.object({ application_id: z.int() });
export const PartnerPath = z.object({ user_id: z.int() });
export const PartnerCampaignPath = PartnerPath.extend({ campaign_id: z.int() });

/** Fields of an application in every answer. */
export const ApplicationFields = {
  company_name: z.string().nullish(),
  website_url: z.string().nullish(),
  messenger_channel: z.string().nullish(),
  description: z.string().nullish(),
  expected_monthly_referrals: z.int().nullish(),
  desired_commission_percent: z.int().nullish(),
  status: z.string(),
  admin_comment: z.string().nullish(),
  approved_commission_percent: z.int().nullish(),
  created_at: Moment,
  processed_at: Moment.nullish(),
};

const Who = {
  user_id: z.int(),
  username: z.string().nullish(),
  first_name: z.string().nullish(),
  messenger_id: z.int().nullish(),
};

export const AdminPartnerApplicationsResponse = z
  .object({
    items: z.array(z.object({ id: z.int(), ...Who, ...ApplicationFields }).meta({ id: 'AdminPartnerApplicationItem' })),
    total: z.int(),
  })
  .meta({ id: 'AdminPartnerApplicationsResponse' });

const Comment = z.string().max(2_000).nullish();

export const AdminApproveRequest = z
  .object({ commission_percent: z.int().min(1).max(100), comment: Comment })
  .meta({ id: 'AdminApproveRequest', example: { commission_percent: 20, comment: 'Welcome' } });

export const AdminRejectRequest = z
  .object({ comment: Comment })
  .meta({ id: 'AdminRejectRequest', example: { comment: 'No website' } });

/** Untyped in the contract (spec 04 section 3.3). */
export const PartnerTotalsResponse = z
  .object({
    total_partners: z.int(),
    pending_applications: z.int(),
    total_referrals: z.int(),
    total_earnings_kopeks: z.int(),
  })
  .meta({ id: 'AdminPartnerTotals' });

const PartnerFields = {
  ...Who,
  commission_percent: z.number().nullish(),
  partner_status: z.string(),
  balance_kopeks: z.int(),
  total_referrals: z.int(),
  created_at: Moment,
};

export const AdminPartnerListResponse = z
  .object({
    items: z.array(z.object({ ...PartnerFields, total_earnings_kopeks: z.int() }).meta({ id: 'AdminPartnerItem' })),
    total: z.int(),
  })
  .meta({ id: 'AdminPartnerListResponse' });

export const AdminPartnerDetailResponse = z
  .object({
    ...PartnerFields,
    paid_referrals: z.int(),
    active_referrals: z.int(),
    earnings_all_time: z.int(),
    earnings_today: z.int(),
    earnings_week: z.int(),
    earnings_month: z.int(),
    conversion_to_paid: z.number(),
    referral_debt_kopeks: z.int().optional(),
    campaigns: z.array(
      z
        .object({
          id: z.int(),
          name: z.string(),
          start_parameter: z.string(),
          is_active: z.boolean(),
          registrations_count: z.int(),
          referrals_count: z.int(),
          earnings_kopeks: z.int(),
        })
        .meta({ id: 'CampaignSummary' }),
    ),
  })
  .meta({ id: 'AdminPartnerDetailResponse' });

const PERCENT = { minimum: 1, maximum: 100 };

/** Numeric, so that a commission may have a fraction (spec 04 section 0.1); a whole number is what most clients send. */
export const AdminUpdateCommissionRequest = z
  .object({
    commission_percent: z
      .number()
      .min(1)
      .max(100)
      .meta({
        anyOf: [
          { type: 'integer', ...PERCENT },
          { type: 'number', ...PERCENT },
        ],
      }),
  })
  .meta({ id: 'AdminUpdateCommissionRequest' });

export const CommissionAnswer = z
  .object({ success: z.literal(true), commission_percent: z.number() })
  .meta({ id: 'AdminPartnerCommission' });
