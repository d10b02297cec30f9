import { rublesOf } from '../../core/money.ts';
import { pageCount } from '../../core/paging.ts';
import { listEarningsOf, listReferralsOf, readOwnReferralInfo, readReferralTerms } from '../../domain/referrals/own/read-own.ts';
import { cabinetProcedure, publicProcedure, router } from '../trpc.ts';
import {
  ReferralEarningsListResponse,
  ReferralInfoResponse,
  ReferralListResponse,
  ReferralPageQuery,
  ReferralTermsResponse,
} from './referral.schemas.ts';

const tags: [string] = ['Cabinet Referral'];

export const referralRouter = router({
  info: cabinetProcedure
    .meta({ openapi: { method: 'GET', path: '/cabinet/referral', tags, summary: 'My links and what they brought' } })
    .output(ReferralInfoResponse)
    .query(async ({ ctx }) => {
      const info = await readOwnReferralInfo(ctx.app, ctx.actor);
      return {
        referral_code: info.referralCode,
        referral_link: info.referralLink,
        bot_referral_link: info.botReferralLink,
        total_referrals: info.totalReferrals,
        active_referrals: info.activeReferrals,
        total_earnings_kopeks: info.earnedKopeks,
        total_earnings_rubles: rublesOf(info.earnedKopeks),
        commission_percent: info.commissionPercent,
        available_balance_kopeks: info.availableKopeks,
        available_balance_rubles: rublesOf(info.availableKopeks),
        withdrawn_kopeks: info.withdrawnKopeks,
      };
    }),

  list: cabinetProcedure
    .meta({ openapi: { method: 'GET', path: '/cabinet/referral/list', tags, summary: 'Whom I invited, newest first' } })
    .input(ReferralPageQuery)
    .output(ReferralListResponse)
    .query(async ({ ctx, input: { page, per_page: perPage } }) => {
      const { items, total } = await listReferralsOf(ctx.app, ctx.actor, { page, perPage });
      return {
        items: items.map((item) => ({
          id: item.id,
          username: item.username,
          first_name: item.firstName,
          created_at: item.createdAt,
          has_subscription: item.hasSubscription,
          has_paid: item.hasPaid,
        })),
        total,
        page,
        per_page: perPage,
        pages: pageCount(total, perPage),
      };
    }),

  earnings: cabinetProcedure
    .meta({ openapi: { method: 'GET', path: '/cabinet/referral/earnings', tags, summary: 'My rewards, newest first' } })
    .input(ReferralPageQuery)
    .output(ReferralEarningsListResponse)
    .query(async ({ ctx, input: { page, per_page: perPage } }) => {
      const { items, total, totalKopeks } = await listEarningsOf(ctx.app, ctx.actor, { page, perPage });
      return {
        items: items.map((item) => ({
          id: item.id,
          amount_kopeks: item.amountKopeks,
          amount_rubles: rublesOf(item.amountKopeks),
          reason: item.reason,
          referral_username: item.referralUsername,
          referral_first_name: item.referralFirstName,
          campaign_name: item.campaignName,
          created_at: item.createdAt,
        })),
        total,
        total_amount_kopeks: totalKopeks,
        total_amount_rubles: rublesOf(totalKopeks),
        page,
        per_page: perPage,
        pages: pageCount(total, perPage),
      };
    }),

  terms: publicProcedure('cabinet')
    .meta({ openapi: { method: 'GET', path: '/cabinet/referral/terms', tags, summary: 'The terms of the referral programme' } })
    .output(ReferralTermsResponse)
    .query(({ ctx }) => {
      const terms = readReferralTerms(ctx.app);
      return {
        is_enabled: terms.isEnabled,
        commission_percent: terms.commissionPercent,
        minimum_topup_kopeks: terms.minimumTopupKopeks,
        minimum_topup_rubles: rublesOf(terms.minimumTopupKopeks),
        first_topup_bonus_kopeks: terms.firstTopupBonusKopeks,
        first_topup_bonus_rubles: rublesOf(terms.firstTopupBonusKopeks),
        inviter_bonus_kopeks: terms.inviterBonusKopeks,
        inviter_bonus_rubles: rublesOf(terms.inviterBonusKopeks),
        max_commission_payments: terms.maxCommissionPayments,
        partner_section_visible: terms.isPartnerSectionVisible,
      };
    }),
});
