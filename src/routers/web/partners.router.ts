import { changeReferrerCommission } from '../../domain/referrals/referrers/change-commission.ts';
import { compareOf, readDaysOf, readStatsOf, readTopReferralsOf } from '../../domain/referrals/referrers/read-referrer-stats.ts';
import { listReferrers, readReferrerDetail } from '../../domain/referrals/referrers/read-referrers.ts';
import { readDailyStats, readGlobalStats, readTopReferrers } from '../../domain/referrals/stats/read-stats.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import {
  toComparison,
  toDailyItems,
  toGlobalStats,
  toReferrerDetail,
  toReferrerItem,
  toReferrerStats,
  toTopReferral,
  toTopReferrer,
} from './partner-answers.ts';
import {
  CompareInput,
  DailyStatsResponse,
  DaysQuery,
  GlobalPartnerStats,
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
    .input(ReferrerListQuery)
    .output(PartnerReferrerListResponse)
    .query(async ({ ctx, input: { limit, offset, search = null } }) => {
      const page = await listReferrers(ctx.app, { limit, offset, search });
      return { ...page, items: page.items.map(toReferrerItem) };
    }),

  get: webProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: REFERRER,
        tags,
        summary: 'A referrer, by messenger id, else by internal id, and those invited',
      },
    })
    .input(ReferrerDetailInput)
    .output(PartnerReferrerDetail)
    .query(async ({ ctx, input: { user_id: user, limit, offset } }) =>
      toReferrerDetail(await readReferrerDetail(ctx.app, user, { limit, offset })),
    ),

  updateCommission: auditedWebProcedure('partners:edit')
    .meta({
      openapi: {
        method: 'PATCH',
        path: `${REFERRER}/commission`,
        tags,
        summary: 'Set the commission of a user; null = the general one',
      },
    })
    .input(UserPath.extend(PartnerReferralCommissionUpdate.shape))
    .output(PartnerReferrerItem)
    .mutation(async ({ ctx, input: { user_id: user, referral_commission_percent: percent = null } }) =>
      toReferrerItem(await changeReferrerCommission(ctx.app, ctx.actor, user, percent)),
    ),

  stats: webProcedure
    .meta({ openapi: { method: 'GET', path: '/partners/stats', tags, summary: 'The referral programme in figures' } })
    .input(DaysQuery)
    .output(GlobalPartnerStats)
    .query(async ({ ctx }) => toGlobalStats(await readGlobalStats(ctx.app))),

  daily: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/partners/stats/daily', tags, summary: 'Referrals and rewards by day, today included' },
    })
    .input(DaysQuery)
    .output(DailyStatsResponse)
    .query(async ({ ctx, input: { days } }) => ({
      items: toDailyItems(await readDailyStats(ctx.app, null, days)),
      days,
      user_id: null,
    })),

  topReferrers: webProcedure
    .meta({ openapi: { method: 'GET', path: '/partners/stats/top-referrers', tags, summary: 'Who earned most' } })
    .input(TopReferrersQuery)
    .output(TopReferrersResponse)
    .query(async ({ ctx, input: { limit, days = null } }) => ({
      items: (await readTopReferrers(ctx.app, limit, days)).map(toTopReferrer),
      days,
    })),

  referrerStats: webProcedure
    .meta({ openapi: { method: 'GET', path: `${REFERRER}/stats`, tags, summary: 'A referrer in figures' } })
    .input(UserPath)
    .output(ReferrerDetailedStats)
    .query(async ({ ctx, input }) => {
      const { userId, figures } = await readStatsOf(ctx.app, input.user_id);
      return toReferrerStats(userId, figures);
    }),

  referrerDaily: webProcedure
    .meta({
      openapi: { method: 'GET', path: `${REFERRER}/stats/daily`, tags, summary: 'Referrals and rewards of a referrer by day' },
    })
    .input(ReferrerDaysInput)
    .output(DailyStatsResponse)
    .query(async ({ ctx, input: { user_id: user, days } }) => {
      const { userId, figures } = await readDaysOf(ctx.app, user, days);
      return { items: toDailyItems(figures), days, user_id: userId };
    }),

  topReferrals: webProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: `${REFERRER}/stats/top-referrals`,
        tags,
        summary: 'The referrals by whom a referrer earned most',
      },
    })
    .input(TopReferralsInput)
    .output(TopReferralsResponse)
    .query(async ({ ctx, input: { user_id: user, limit } }) => {
      const { userId, figures } = await readTopReferralsOf(ctx.app, user, limit);
      return { items: figures.map(toTopReferral), user_id: userId };
    }),

  compare: webProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: `${REFERRER}/stats/compare`,
        tags,
        summary: 'The last days of a referrer beside those before',
      },
    })
    .input(CompareInput)
    .output(PeriodComparisonResponse)
    .query(async ({ ctx, input: { user_id: user, current_days: current, previous_days: previous } }) => {
      const { userId, figures } = await compareOf(ctx.app, user, { current, previous });
      return toComparison(userId, figures);
    }),
});
