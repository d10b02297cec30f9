import { changeReferrerCommission } from '../../domain/referrals/referrers/change-commission.ts';
import { compareOf, readDaysOf, readStatsOf, readTopReferralsOf } from '../../domain/referrals/referrers/read-referrer-stats.ts';
import { listReferrers, readReferrerDetail } from '../../domain/referrals/referrers/read-referrers.ts';
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
    .meta({ openapi: { method: 'GET', path: '/partners/referrers', tags, summary: 'List referrers, newest first' } })
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
    })
    .input(fromWire(withBody(UserPath, PartnerReferralCommissionUpdate)))
    .output(toWire(PartnerReferrerItem))
    .mutation(async ({ ctx, input: { userId, referralCommissionPercent: percent = null } }) =>
      toReferrerItem(await changeReferrerCommission(ctx.app, ctx.actor, userId, percent)),
    ),

  stats: webProcedure
    .meta({ openapi: { method: 'GET', path: '/partners/stats', tags, summary: 'Statistics of the referral programme' } })
    .input(fromWire(GlobalStatsQuery))
    .output(toWire(GlobalPartnerStats))
    .query(async ({ ctx }) => toGlobalStats(await readGlobalStats(ctx.app))),

  daily: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/partners/stats/daily', tags, summary: 'Referrals and rewards by day, today included' },
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
    })
    .input(fromWire(TopReferrersQuery))
    .output(toWire(TopReferrersResponse))
    .query(async ({ ctx, input: { limit, days = null } }) => ({
      items: (await readTopReferrers(ctx.app, limit, days)).map(withFullName),
      days,
    })),

  referrerStats: webProcedure
    .meta({ openapi: { method: 'GET', path: `${REFERRER}/stats`, tags, summary: 'Statistics of a referrer' } })
    .input(fromWire(UserPath))
    .output(toWire(ReferrerDetailedStats))
    .query(async ({ ctx, input }) => {
      const { userId, stats } = await readStatsOf(ctx.app, input.userId);
      return toReferrerStats(userId, stats);
    }),

  referrerDaily: webProcedure
    .meta({
      openapi: { method: 'GET', path: `${REFERRER}/stats/daily`, tags, summary: 'Referrals and rewards of a referrer by day' },
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
    })
    .input(fromWire(CompareInput))
    .output(toWire(PeriodComparisonResponse))
    .query(async ({ ctx, input: { userId: number, currentDays: current, previousDays: previous } }) => {
      const { userId, stats } = await compareOf(ctx.app, number, { current, previous });
      return toComparison(userId, stats);
    }),
});
