import { z } from 'zod';
import { rublesOf } from '../../core/money.ts';
import { listMyEarnings, listMyReferrals, readMyReferralInfo, readReferralTerms } from '../../domain/referrals/my-referrals.ts';
import { Timestamp } from '../shared.schemas.ts';
import { cabinetProcedure, publicProcedure, router } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';

/** Contract group `Cabinet Referral`. */

const ReferralPageQuery = z.object({
  page: z.int().min(1).default(1).describe('Number of the page, from 1.'),
  per_page: z.int().min(1).max(100).default(20).describe('Number of records per page.'),
});

const Paged = {
  page: z.int().describe('Number of this page, from 1.'),
  per_page: z.int().describe('Page size that was applied.'),
  pages: z.int().describe('Number of pages; at least 1.'),
};

const ReferralInfoResponse = z
  .object({
    referral_code: z.string().describe('Code of the account for invitations.'),
    referral_link: z.string().describe('Link to the cabinet that carries the code; empty when no address is configured.'),
    bot_referral_link: z.string().describe('Link to the bot that carries the code.'),
    total_referrals: z.int().describe('Number of all referrals.'),
    active_referrals: z.int().describe('Number of referrals with an active subscription.'),
    total_earnings_kopeks: z.int().describe('All rewards in kopeks.'),
    total_earnings_rubles: z.number().describe('All rewards in rubles.'),
    commission_percent: z.number().describe('Share of top-ups of referrals that is credited, percent.'),
    available_balance_kopeks: z.int().describe('Rewards that can still be withdrawn, kopeks.'),
    available_balance_rubles: z.number().describe('Rewards that can still be withdrawn, rubles.'),
    withdrawn_kopeks: z.int().describe('Rewards that were withdrawn, kopeks.'),
  })
  .meta({ id: 'ReferralInfoResponse' });

const ReferralListResponse = z
  .object({
    items: z
      .array(
        z
          .object({
            id: z.int().describe('Internal id of the referral.'),
            username: z.string().nullish().describe('User name in the messenger, without `@`; null when the user has none.'),
            first_name: z.string().nullish().describe('First name; null when unknown.'),
            created_at: Timestamp.describe('When the invited user registered (UTC).'),
            has_subscription: z.boolean().describe('Whether the user has a subscription.'),
            has_paid: z.boolean().describe('Whether the user ever paid.'),
          })
          .meta({ id: 'ReferralItemResponse' }),
      )
      .describe('A page of own referrals, newest first.'),
    total: z.int().describe('Number of own referrals, on all pages.'),
    ...Paged,
  })
  .meta({ id: 'ReferralListResponse' });

const ReferralEarningsListResponse = z
  .object({
    items: z
      .array(
        z
          .object({
            id: z.int().describe('Id of the reward.'),
            amount_kopeks: z.int().describe('Amount in kopeks (1 ruble = 100 kopeks).'),
            amount_rubles: z.number().describe('Amount in rubles: kopeks / 100, with two decimals.'),
            reason: z
              .string()
              .describe('`referral_registration_pending`, `referral_first_topup` or `referral_commission_topup`.'),
            referral_username: z.string().nullish().describe('User name of the referral; null when there is none.'),
            referral_first_name: z.string().nullish().describe('First name of the referral; null when unknown.'),
            campaign_name: z.string().nullish().describe('Name of the campaign; null for none.'),
            created_at: Timestamp.describe('When the reward was credited (UTC).'),
          })
          .meta({ id: 'ReferralEarningResponse' }),
      )
      .describe('A page of own rewards, newest first.'),
    total_amount_kopeks: z.int().describe('Sum of all rewards, not only of this page, kopeks.'),
    total_amount_rubles: z.number().describe('Sum of all rewards, not only of this page, rubles.'),
    total: z.int().describe('Number of own rewards, on all pages.'),
    ...Paged,
  })
  .meta({ id: 'ReferralEarningsListResponse' });

const ReferralTermsResponse = z
  .object({
    is_enabled: z.boolean().describe('Whether the referral programme is switched on.'),
    commission_percent: z.int().describe('Share of top-ups of referrals that is credited, percent.'),
    minimum_topup_kopeks: z.int().describe('Smallest first top-up that gives the bonuses, kopeks.'),
    minimum_topup_rubles: z.number().describe('Smallest first top-up that gives the bonuses, rubles.'),
    first_topup_bonus_kopeks: z.int().describe('Bonus of the referral at the first top-up, kopeks.'),
    first_topup_bonus_rubles: z.number().describe('Bonus of the referral at the first top-up, rubles.'),
    inviter_bonus_kopeks: z.int().describe('Bonus of the referrer at the first top-up of a referral, kopeks.'),
    inviter_bonus_rubles: z.number().describe('Bonus of the referrer at the first top-up of a referral, rubles.'),
    max_commission_payments: z.int().describe('How many commissions one referral can bring; 0 for no limit.'),
    partner_section_visible: z.boolean().describe('Whether the cabinet shows the page for partners.'),
  })
  .meta({ id: 'ReferralTermsResponse' });

const tags: [string] = ['Cabinet Referral'];

export const referralRouter = router({
  info: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/referral', tags, summary: 'Own referral links and statistics' },
      description: 'Returns own links, number of referrals and rewards.',
    })
    .output(toWire(ReferralInfoResponse))
    .query(async ({ ctx }) => {
      const info = await readMyReferralInfo(ctx.app, ctx.actor);
      return {
        ...info,
        totalEarningsRubles: rublesOf(info.totalEarningsKopeks),
        availableBalanceRubles: rublesOf(info.availableBalanceKopeks),
      };
    }),

  list: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/referral/list', tags, summary: 'List own referrals, newest first' },
      description: 'Lists own referrals, newest first.',
    })
    .input(fromWire(ReferralPageQuery))
    .output(toWire(ReferralListResponse))
    .query(({ ctx, input }) => listMyReferrals(ctx.app, ctx.actor, input)),

  earnings: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/referral/earnings', tags, summary: 'My rewards, newest first' },
      description: 'Lists own rewards, newest first. Registrations that wait for a first top-up are listed with 0.',
    })
    .input(fromWire(ReferralPageQuery))
    .output(toWire(ReferralEarningsListResponse))
    .query(async ({ ctx, input }) => {
      const page = await listMyEarnings(ctx.app, ctx.actor, input);
      return {
        ...page,
        items: page.items.map((item) => ({ ...item, amountRubles: rublesOf(item.amountKopeks) })),
        totalAmountRubles: rublesOf(page.totalAmountKopeks),
      };
    }),

  terms: publicProcedure('cabinet')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/referral/terms', tags, summary: 'The terms of the referral programme' },
      description: 'Returns the terms of the referral programme. Needs no credential.',
    })
    .output(toWire(ReferralTermsResponse))
    .query(({ ctx }) => {
      const terms = readReferralTerms(ctx.app);
      return {
        ...terms,
        minimumTopupRubles: rublesOf(terms.minimumTopupKopeks),
        firstTopupBonusRubles: rublesOf(terms.firstTopupBonusKopeks),
        inviterBonusRubles: rublesOf(terms.inviterBonusKopeks),
      };
    }),
});
