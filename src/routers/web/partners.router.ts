import { userNotFound } from '../../domain/identity/errors.ts';
import {
  changeReferrerCommission,
  compareOf,
  listReferrers,
  readDaysOf,
  readReferrerDetail,
  readStatsOf,
  readTopReferralsOf,
} from '../../domain/referrals/referrers/referrers.ts';
import { readDailyStats, readGlobalStats, readTopReferrers } from '../../domain/referrals/stats/read-stats.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
import {
  toComparison,
  toGlobalStats,
  toReferrerDetail,
  toReferrerItem,
  toReferrerStats,
  withFullName,
} from './partner-answers.ts';
import {
  CompareInput,
  DailyStatsResponse,
  DaysQuery,
  GlobalPartnerStats,
  GlobalStatsQuery,
  PartnerReferralCommissionUpdate,
  PartnerReferrerDetail,
  PartnerReferrerItem,
  PartnerReferrerListResponse,
  PeriodComparisonResponse,
  ReferrerDaysInput,
  ReferrerDetailedStats,
  ReferrerDetailInput,
  ReferrerListQuery,
  TopReferralsInput,
  TopReferralsResponse,
  TopReferrersQuery,
  TopReferrersResponse,
} from './partners.schemas.ts';
import { UserPath } from './users.schemas.ts';

const tags: [string] = ['partners'];
const REFERRER = '/partners/referrers/{user_id}';

export const partnersRouter = router({
  list: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/partners/referrers', tags, summary: 'List referrers, newest first' },
      description: 'Lists users who have a referral code or referrals, newest first, with their numbers.',
    })
    .input(fromWire(ReferrerListQuery))
    .output(toWire(PartnerReferrerListResponse))
    .query(async ({ ctx, input }) => {
      const page = await listReferrers(ctx.app, input);
      return { ...page, items: page.items.map(toReferrerItem) };
    }),

  get: webProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: REFERRER,
        tags,
        summary: 'A referrer, by messenger id or else internal id, with the referrals',
      },
      description:
        'Returns a referrer with a page of those invited. The number is looked up as messenger id first, then as internal id.',
      refuses: [userNotFound],
    })
    .input(fromWire(ReferrerDetailInput))
    .output(toWire(PartnerReferrerDetail))
    .query(async ({ ctx, input: { userId, ...slice } }) => toReferrerDetail(await readReferrerDetail(ctx.app, userId, slice))),

  updateCommission: auditedWebProcedure('partners:edit')
    .meta({
      openapi: {
        method: 'PATCH',
        path: `${REFERRER}/commission`,
        tags,
        summary: 'Set the commission of a user; null = the general one',
      },
      description:
        'Sets the personal commission of a user; null for the general one. It applies from the next top-up of a referral.',
      refuses: [userNotFound],
    })
    .input(fromWire(withBody(UserPath, PartnerReferralCommissionUpdate)))
    .output(toWire(PartnerReferrerItem))
    .mutation(async ({ ctx, input: { userId, referralCommissionPercent: percent = null } }) =>
      toReferrerItem(await changeReferrerCommission(ctx.app, ctx.actor, userId, percent)),
    ),

  stats: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/partners/stats', tags, summary: 'Statistics of the referral programme' },
      description: 'Returns totals, rewards and new referrals of the referral programme by period.',
    })
    .input(fromWire(GlobalStatsQuery))
    .output(toWire(GlobalPartnerStats))
    .query(async ({ ctx }) => toGlobalStats(await readGlobalStats(ctx.app))),

  daily: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/partners/stats/daily', tags, summary: 'Referrals and rewards by day, today included' },
      description: 'Returns new referrals and rewards by day, today included; days without any are zero.',
    })
    .input(fromWire(DaysQuery))
    .output(toWire(DailyStatsResponse))
    .query(async ({ ctx, input: { days } }) => ({
      items: await readDailyStats(ctx.app, null, days),
      days,
      userId: null,
    })),

  topReferrers: webProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/partners/stats/top-referrers',
        tags,
        summary: 'List the referrers with the highest earnings',
      },
      description: 'Lists the referrers with the greatest rewards, of all time or of the last days.',
    })
    .input(fromWire(TopReferrersQuery))
    .output(toWire(TopReferrersResponse))
    .query(async ({ ctx, input: { limit, days = null } }) => ({
      items: (await readTopReferrers(ctx.app, limit, days)).map(withFullName),
      days,
    })),

  referrerStats: webProcedure
    .meta({
      openapi: { method: 'GET', path: `${REFERRER}/stats`, tags, summary: 'Statistics of a referrer' },
      description: 'Returns referrals, rewards and conversion of one referrer by period.',
      refuses: [userNotFound],
    })
    .input(fromWire(UserPath))
    .output(toWire(ReferrerDetailedStats))
    .query(async ({ ctx, input }) => {
      const { userId, stats } = await readStatsOf(ctx.app, input.userId);
      return toReferrerStats(userId, stats);
    }),

  referrerDaily: webProcedure
    .meta({
      openapi: { method: 'GET', path: `${REFERRER}/stats/daily`, tags, summary: 'Referrals and rewards of a referrer by day' },
      description: 'Returns new referrals and rewards of one referrer by day, today included.',
      refuses: [userNotFound],
    })
    .input(fromWire(ReferrerDaysInput))
    .output(toWire(DailyStatsResponse))
    .query(async ({ ctx, input: { userId: number, days } }) => {
      const { userId, stats } = await readDaysOf(ctx.app, number, days);
      return { items: stats, days, userId };
    }),

  topReferrals: webProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: `${REFERRER}/stats/top-referrals`,
        tags,
        summary: 'List the referrals with the highest earnings of a referrer',
      },
      description: 'Lists the referrals from whom a referrer earned most.',
      refuses: [userNotFound],
    })
    .input(fromWire(TopReferralsInput))
    .output(toWire(TopReferralsResponse))
    .query(async ({ ctx, input: { userId: number, limit } }) => {
      const { userId, stats } = await readTopReferralsOf(ctx.app, number, limit);
      return { items: stats.map(withFullName), userId };
    }),

  compare: webProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: `${REFERRER}/stats/compare`,
        tags,
        summary: 'Compare the last days of a referrer with those before',
      },
      description: 'Compares the last days of a referrer with the days directly before them.',
      refuses: [userNotFound],
    })
    .input(fromWire(CompareInput))
    .output(toWire(PeriodComparisonResponse))
    .query(async ({ ctx, input: { userId: number, currentDays: current, previousDays: previous } }) => {
      const { userId, stats } = await compareOf(ctx.app, number, { current, previous });
      return toComparison(userId, stats);
    }),
});
