import { rublesOf } from '../../core/money.ts';
import { localDay } from '../../core/time-zone.ts';
import {
  changeReferralContest,
  contestNotFound,
  createReferralContest,
  deleteReferralContest,
  listContestEvents,
  listReferralContests,
  notFinished,
  periodEmpty,
  readContestDetail,
  readContestStatistics,
  toggleReferralContest,
} from '../../domain/engagement/referral-contests/contests.ts';
import type { LeaderboardEntry, ReferralContest } from '../../domain/engagement/referral-contests/types.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
import {
  ContestDeleted,
  ContestDetailQuery,
  ContestListQuery,
  ContestPath,
  EventListQuery,
  ReferralContestCreateRequest,
  ReferralContestDetailedStatsResponse,
  ReferralContestDetailResponse,
  ReferralContestEventListResponse,
  ReferralContestListResponse,
  ReferralContestResponse,
  ReferralContestUpdateRequest,
  ToggleQuery,
} from './referral-contests.schemas.ts';

const tags: [string] = ['contests'];

/** The day of the last summary is that of the contest's zone. */
function withDay<T extends Pick<ReferralContest, 'lastDailySummaryAt' | 'timezone'>>(contest: T) {
  const { lastDailySummaryAt: at, timezone } = contest;
  return { ...contest, lastDailySummaryDate: at && new Date(localDay(at, timezone)).toISOString().slice(0, 10) };
}

function leader({ id: userId, totalAmountKopeks, ...entry }: LeaderboardEntry) {
  return { ...entry, userId, totalAmountKopeks, totalAmountRubles: rublesOf(totalAmountKopeks) };
}

/** The contract has the doubled path; the other is what it means (spec 04 section 11.4). */
const create = (path: '/contests/contests/referral' | '/contests/referral', description: string) =>
  auditedWebProcedure('contests:create')
    .meta({
      openapi: { method: 'POST', path, tags, summary: 'Create a contest of referrers' },
      description,
      refuses: [periodEmpty],
    })
    .input(fromWire(ReferralContestCreateRequest))
    .output(toWire(ReferralContestResponse))
    .mutation(async ({ ctx, input }) => withDay(await createReferralContest(ctx.app, input)));

export const referralContestsRouter = router({
  listReferral: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/contests/referral', tags, summary: 'List contests of referrers' },
      description: 'Lists contests of referrers, the latest start first.',
    })
    .input(fromWire(ContestListQuery))
    .output(toWire(ReferralContestListResponse))
    .query(async ({ ctx, input: { contestType, ...page } }) => {
      const { items, total } = await listReferralContests(ctx.app, contestType ?? null, page);
      return { items: items.map(withDay), total, ...page };
    }),

  createReferral: create('/contests/contests/referral', 'Creates a contest of referrers. The same as `POST /contests/referral`.'),
  createReferralContest: create(
    '/contests/referral',
    'Creates a contest of referrers. Referrals who register within its period are scored: for payments for subscriptions, or for the registration.',
  ),

  getReferral: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/contests/referral/{contest_id}', tags, summary: 'Read a contest with its leaderboard' },
      description: 'Returns a contest with the first places of its leaderboard.',
      refuses: [contestNotFound],
    })
    .input(fromWire(ContestPath.extend(ContestDetailQuery.shape)))
    .output(toWire(ReferralContestDetailResponse))
    .query(async ({ ctx, input }) => {
      const { leaderboard, ...contest } = await readContestDetail(ctx.app, input.contestId, input.leaderboardLimit);
      return { ...withDay(contest), leaderboard: leaderboard.map(leader) };
    }),

  updateReferral: auditedWebProcedure('contests:edit')
    .meta({
      openapi: { method: 'PATCH', path: '/contests/referral/{contest_id}', tags, summary: 'Change a contest of referrers' },
      description:
        'Changes a contest; absent or null fields are not changed. Results count the events within the period as it is then.',
      refuses: [periodEmpty, contestNotFound],
    })
    .input(fromWire(withBody(ContestPath, ReferralContestUpdateRequest)))
    .output(toWire(ReferralContestResponse))
    .mutation(async ({ ctx, input: { contestId, ...changes } }) =>
      withDay(await changeReferralContest(ctx.app, contestId, changes)),
    ),

  toggleReferral: auditedWebProcedure('contests:edit')
    .meta({
      openapi: {
        method: 'POST',
        path: '/contests/referral/{contest_id}/toggle',
        tags,
        summary: 'Start or stop a contest of referrers',
      },
      description: 'Makes a contest active or inactive. An inactive one scores nothing and sends no summaries.',
      refuses: [contestNotFound],
      wire: { query: ['is_active'] },
    })
    .input(fromWire(ContestPath.extend(ToggleQuery.shape)))
    .output(toWire(ReferralContestResponse))
    .mutation(async ({ ctx, input }) => withDay(await toggleReferralContest(ctx.app, input.contestId, input.isActive))),

  deleteReferral: auditedWebProcedure('contests:delete')
    .meta({
      openapi: { method: 'DELETE', path: '/contests/referral/{contest_id}', tags, summary: 'Delete a finished contest' },
      description: 'Deletes a contest that is over and not active, with its events.',
      refuses: [notFinished, contestNotFound],
    })
    .input(fromWire(ContestPath))
    .output(ContestDeleted)
    .mutation(async ({ ctx, input }) => {
      await deleteReferralContest(ctx.app, input.contestId);
      return { status: 'deleted' };
    }),

  listReferralEvents: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/contests/referral/{contest_id}/events', tags, summary: 'List events of a contest' },
      description: 'Lists the events of a contest, latest first: one for each referral.',
      refuses: [contestNotFound],
    })
    .input(fromWire(ContestPath.extend(EventListQuery.shape)))
    .output(toWire(ReferralContestEventListResponse))
    .query(async ({ ctx, input: { contestId, ...page } }) => {
      const { items, total } = await listContestEvents(ctx.app, contestId, page);
      return { items: items.map((event) => ({ ...event, amountRubles: rublesOf(event.amountKopeks) })), total, ...page };
    }),

  referralStats: webProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/contests/referral/{contest_id}/detailed-stats',
        tags,
        summary: 'Participants of a contest and their sums',
      },
      description: 'Returns all participants of a contest and the sums of what their referrals paid.',
      refuses: [contestNotFound],
    })
    .input(fromWire(ContestPath))
    .output(toWire(ReferralContestDetailedStatsResponse))
    .query(async ({ ctx, input }) => {
      const { participants, ...sums } = await readContestStatistics(ctx.app, input.contestId);
      return {
        ...sums,
        participants: participants.map(({ id, fullName, referralsCount, paidCount, totalAmountKopeks }) => ({
          referrerId: id,
          fullName,
          totalReferrals: referralsCount,
          paidReferrals: paidCount,
          unpaidReferrals: referralsCount - paidCount,
          totalPaidAmount: totalAmountKopeks,
        })),
      };
    }),
});
