import { z } from 'zod';
import { Timestamp } from '../shared.schemas.ts';

/** Contract group `Cabinet Admin Partners`. */

export const PartnerSettingsResponse = z
  .object({
    withdrawal_enabled: z.boolean().describe('Whether rewards can be withdrawn.'),
    withdrawal_min_amount_kopeks: z.int().describe('Smallest withdrawal in kopeks.'),
    withdrawal_cooldown_days: z.int().describe('Days between two withdrawals.'),
    withdrawal_requisites_text: z.string().describe('Text that asks for the payment details.'),
    partner_section_visible: z.boolean().describe('Whether the cabinet shows the page for partners.'),
    referral_program_enabled: z.boolean().describe('Whether the referral programme is switched on.'),
  })
  .meta({ id: 'PartnerSettingsResponse' });

export const PartnerSettingsUpdateRequest = z
  .object({
    withdrawal_enabled: z
      .boolean()
      .nullish()
      .describe('Whether rewards can be withdrawn. Null in a request leaves it unchanged.'),
    withdrawal_min_amount_kopeks: z
      .int()
      .min(0)
      .max(100_000_000)
      .nullish()
      .describe('Smallest withdrawal in kopeks. Null in a request leaves it unchanged.'),
    withdrawal_cooldown_days: z
      .int()
      .min(0)
      .max(365)
      .nullish()
      .describe('Days between two withdrawals. Null in a request leaves it unchanged.'),
    withdrawal_requisites_text: z
      .string()
      .max(2_000)
      .nullish()
      .describe('Text that asks for the payment details. Null in a request leaves it unchanged.'),
    partner_section_visible: z
      .boolean()
      .nullish()
      .describe('Whether the cabinet shows the page for partners. Null in a request leaves it unchanged.'),
    referral_program_enabled: z
      .boolean()
      .nullish()
      .describe('Whether the referral programme is switched on. Null in a request leaves it unchanged.'),
  })
  .meta({
    id: 'PartnerSettingsUpdateRequest',
    example: { withdrawal_enabled: true, withdrawal_min_amount_kopeks: 100000, withdrawal_requisites_text: 'Card number' },
  });

const Slice = {
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
  limit: z.int().min(1).max(100).default(50).describe('Greatest number of records in the answer.'),
};

export const PartnerListQuery = z.object(Slice);
export const ApplicationListQuery = z.object({
  status: z
    .enum(['pending', 'approved', 'rejected', 'none'])
    .nullish()
    .describe('Only applications in this state: `pending`, `approved` or `rejected`; null for all.'),
  ...Slice,
});

export const ApplicationPath = z.object({ application_id: z.int().describe('Id of the application.') });
export const PartnerPath = z.object({ user_id: z.int().describe('Internal id of the user.') });
export const PartnerCampaignPath = PartnerPath.extend({ campaign_id: z.int().describe('Id of the campaign.') });

/** Fields of an application in every answer. */
export const ApplicationFields = {
  company_name: z.string().nullish().describe('Name of the company; null for none.'),
  website_url: z.string().nullish().describe('Address of the web site; null for none.'),
  messenger_channel: z.string().nullish().describe('Channel in the messenger; null for none.'),
  description: z.string().nullish().describe('What the user wrote about the plans as a partner; null for nothing.'),
  expected_monthly_referrals: z.int().nullish().describe('Referrals a month that the applicant expects; null when not given.'),
  desired_commission_percent: z.int().nullish().describe('Commission that the applicant asks for, percent; null when not given.'),
  status: z.string().describe('State of the application: `pending` (waits for a decision), `approved` or `rejected`.'),
  admin_comment: z.string().nullish().describe('Comment of the administrator; null for none.'),
  approved_commission_percent: z.int().nullish().describe('Commission that was granted, percent; null while none was.'),
  created_at: Timestamp.describe('When the application was sent (UTC).'),
  processed_at: Timestamp.nullish().describe('When the application was decided (UTC); null while it was not.'),
};

const Who = {
  user_id: z.int().describe('Internal id of the user.'),
  username: z.string().nullish().describe('User name in the messenger, without `@`; null when the user has none.'),
  first_name: z.string().nullish().describe('First name; null when unknown.'),
  messenger_id: z.int().nullish().describe('Id of the user in the messenger; null for an account without messenger.'),
};

export const AdminPartnerApplicationsResponse = z
  .object({
    items: z
      .array(
        z
          .object({ id: z.int().describe('Id of the application.'), ...Who, ...ApplicationFields })
          .meta({ id: 'AdminPartnerApplicationItem' }),
      )
      .describe('A page of applications of users who want to be partners, newest first.'),
    total: z.int().describe('Number of applications of users who want to be partners that match the filters, on all pages.'),
  })
  .meta({ id: 'AdminPartnerApplicationsResponse' });

const Comment = z.string().max(2_000).nullish();

export const AdminApproveRequest = z
  .object({
    commission_percent: z.int().min(1).max(100).describe('Commission to grant, percent.'),
    comment: Comment.describe('Comment for the other side; null for none.'),
  })
  .meta({ id: 'AdminApproveRequest', example: { commission_percent: 20, comment: 'Welcome' } });

export const AdminRejectRequest = z
  .object({ comment: Comment.describe('Comment for the other side; null for none.') })
  .meta({ id: 'AdminRejectRequest', example: { comment: 'No website' } });

/** Untyped in the contract. */
export const PartnerTotalsResponse = z
  .object({
    total_partners: z.int().describe('Number of partners.'),
    pending_applications: z.int().describe('Number of applications that wait for a decision.'),
    total_referrals: z.int().describe('Number of all referrals.'),
    total_earnings_kopeks: z.int().describe('All rewards in kopeks.'),
  })
  .meta({ id: 'AdminPartnerTotals' });

const PartnerFields = {
  ...Who,
  commission_percent: z
    .number()
    .nullish()
    .describe('Share of top-ups of referrals that is credited, percent; null for the general one.'),
  partner_status: z.string().describe('`none`, `pending`, `approved` or `rejected`.'),
  balance_kopeks: z.int().describe('Balance in kopeks; never negative.'),
  total_referrals: z.int().describe('Number of all referrals.'),
  created_at: Timestamp.describe('When the account of the partner was created (UTC).'),
};

export const AdminPartnerListResponse = z
  .object({
    items: z
      .array(
        z
          .object({ ...PartnerFields, total_earnings_kopeks: z.int().describe('All rewards in kopeks.') })
          .meta({ id: 'AdminPartnerItem' }),
      )
      .describe('A page of partners, newest registration first.'),
    total: z.int().describe('Number of partners, on all pages.'),
  })
  .meta({ id: 'AdminPartnerListResponse' });

export const AdminPartnerDetailResponse = z
  .object({
    ...PartnerFields,
    paid_referrals: z.int().describe('Number of referrals who topped up.'),
    active_referrals: z.int().describe('Number of referrals with an active subscription.'),
    earnings_all_time: z.int().describe('All rewards, kopeks.'),
    earnings_today: z.int().describe('Rewards since 00:00 UTC, kopeks.'),
    earnings_week: z.int().describe('Rewards of the last 7 days, kopeks.'),
    earnings_month: z.int().describe('Rewards of the last 30 days, kopeks.'),
    conversion_to_paid: z.number().describe('Referrals who topped up in percent of all, two decimals.'),
    referral_debt_kopeks: z
      .int()
      .optional()
      .describe(
        'Rewards that were taken back with their payments after they had been spent or withdrawn, kopeks; later rewards pay it first.',
      ),
    campaigns: z
      .array(
        z
          .object({
            id: z.int().describe('Id of the campaign.'),
            name: z.string().describe('Name of the campaign of the partner.'),
            start_parameter: z.string().describe('Part of the links that marks the campaign; unique, case-sensitive.'),
            is_active: z
              .boolean()
              .describe('Whether the link of the campaign still registers users, whom the partner then refers.'),
            registrations_count: z.int().describe('Number of users who registered through the campaign.'),
            referrals_count: z.int().describe('Number of referrals.'),
            earnings_kopeks: z.int().describe('Rewards in kopeks.'),
          })
          .meta({ id: 'CampaignSummary' }),
      )
      .describe('Campaigns of the partner.'),
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
      })
      .describe('Share of top-ups of referrals that is credited, percent.'),
  })
  .meta({ id: 'AdminUpdateCommissionRequest' });

export const CommissionAnswer = z
  .object({
    success: z.literal(true).describe('Always true: a refused change of the commission is answered with an error status.'),
    commission_percent: z.number().describe('Share of top-ups of referrals that is credited, percent.'),
  })
  .meta({ id: 'AdminPartnerCommission' });
