import { rublesOf } from '../../core/money.ts';
import { listMyEarnings, listMyReferrals, readMyReferralInfo, readReferralTerms } from '../../domain/referrals/my-referrals.ts';
import { cabinetProcedure, publicProcedure, router } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';
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
