import { z } from 'zod';
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
import { Timestamp, TimestampInput } from '../shared.schemas.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
import { page, ReferralContestEventUser } from './contests.schemas.ts';

/** Contract group `contests`, contests of referrers. */

const ContestPath = z.object({ contest_id: z.int().describe('Id of the contest.') });

const ContestListQuery = z.object({
  contest_type: z.string().nullish().describe('Only contests of exactly this type; empty for all.'),
  ...page,
});

/** A time of day; the domain reads it, because it accepts `HH:MM` too. */
const TimeInput = z.string().meta({ format: 'time' });

const contest = {
  id: z.int().describe('Id of the contest.'),
  title: z.string().describe('Title of the contest.'),
  description: z.string().nullish().describe('Text about the contest; null for none.'),
  prize_text: z
    .string()
    .nullish()
    .describe('What the winners get, as a text; null when nothing is said. Prizes are not paid automatically.'),
  contest_type: z
    .string()
    .describe(
      '`referral_paid` scores payments of referrals, `referral_registered` their registrations; other types score nothing.',
    ),
  start_at: Timestamp.describe('When the contest begins. In a request without a zone: in `timezone`.'),
  end_at: Timestamp.describe(
    'When the contest ends. In a request without a zone: in `timezone`. 00:00:00 UTC means the end of that day.',
  ),
  daily_summary_time: z.string().meta({ format: 'time' }).describe('Time of day of the summary, in `timezone`.'),
  daily_summary_times: z
    .string()
    .nullish()
    .describe('Times `HH:MM` of several summaries, separated by commas; the first replaces `daily_summary_time`. Null for one.'),
  timezone: z.string().describe('Name of a time zone, for example `Europe/Moscow`.'),
  is_active: z.boolean().describe('Whether the contest scores referrals and sends summaries; the final summary makes it false.'),
  last_daily_summary_date: z
    .string()
    .meta({ format: 'date' })
    .nullish()
    .describe('Day of the last summary in `timezone`; null when none was sent.'),
  last_daily_summary_at: Timestamp.nullish().describe('When the last summary was sent (UTC); null when none was.'),
  final_summary_sent: z.boolean().describe('Whether the final summary was sent.'),
  created_by: z.int().nullish().describe('Who created the record: id of the user, or name of the API token; null when unknown.'),
  created_at: Timestamp.describe('When the contest was created (UTC).'),
  updated_at: Timestamp.describe('When the contest was last changed (UTC).'),
};

const ReferralContestResponse = z.object(contest).meta({ id: 'ReferralContestResponse' });

const ReferralContestListResponse = z
  .object({
    items: ReferralContestResponse.array().describe('A page of contests of referrers, the latest start first.'),
    total: z.int().describe('Number of contests of referrers that match the filters, on all pages.'),
    limit: z.int().describe('Page size that was applied.'),
    offset: z.int().describe('Number of records skipped before this page.'),
  })
  .meta({ id: 'ReferralContestListResponse' });

const ReferralContestCreateRequest = z
  .object({
    title: z.string().describe('Title of the contest.'),
    description: z.string().nullish().describe('Text about the contest; null for none.'),
    prize_text: z
      .string()
      .nullish()
      .describe('What the winners get, as a text; null when nothing is said. Prizes are not paid automatically.'),
    contest_type: z
      .string()
      .min(1)
      .default('referral_paid')
      .describe(
        '`referral_paid` scores payments of referrals, `referral_registered` their registrations; other types score nothing.',
      ),
    start_at: TimestampInput.describe('When the contest begins. In a request without a zone: in `timezone`.'),
    end_at: TimestampInput.describe(
      'When the contest ends. In a request without a zone: in `timezone`. 00:00:00 UTC means the end of that day.',
    ),
    daily_summary_time: TimeInput.nullish().describe('Time of day of the summary, in `timezone`.'),
    daily_summary_times: z
      .string()
      .nullish()
      .describe(
        'Times `HH:MM` of several summaries, separated by commas; the first replaces `daily_summary_time`. Null for one.',
      ),
    timezone: z.string().default('UTC').describe('Name of a time zone, for example `Europe/Moscow`.'),
    is_active: z.boolean().default(true).describe('Whether the contest scores referrals and sends summaries from its start on.'),
    created_by: z
      .int()
      .nullish()
      .describe('Who created the record: id of the user, or name of the API token; null when unknown.'),
  })
  .meta({
    id: 'ReferralContestCreateRequest',
    example: {
      title: 'Bring your friends',
      prize_text: 'A year of service',
      start_at: '2030-01-01T00:00:00Z',
      end_at: '2030-01-31T00:00:00Z',
      daily_summary_times: '12:00,20:00',
      timezone: 'Europe/Moscow',
    },
  });

const ContestDetailQuery = z.object({
  leaderboard_limit: z.int().min(1).max(50).default(5).describe('Greatest number of referrers in the leaderboard.'),
});

const ReferralContestLeaderboardItem = z
  .object({
    user_id: z.int().describe('Internal id of the referrer.'),
    messenger_id: z.int().nullish().describe('Id of the user in the messenger; null for an account without messenger.'),
    username: z.string().nullish().describe('User name in the messenger, without `@`; null when the user has none.'),
    full_name: z.string().nullish().describe('First and last name, else the user name, else a text with the id.'),
    referrals_count: z.int().describe('Events of the referrer within the period.'),
    total_amount_kopeks: z.int().describe('What these referrals paid for subscriptions within the period, kopeks.'),
    total_amount_rubles: z.number().describe('The same in rubles: kopeks / 100.'),
  })
  .meta({ id: 'ReferralContestLeaderboardItem' });

const ReferralContestDetailResponse = z
  .object({
    ...contest,
    total_events: z.int().nullish().describe('Number of all events of the contest.'),
    leaderboard: ReferralContestLeaderboardItem.array()
      .nullish()
      .describe('Referrers by their referrals, then by what those paid.'),
  })
  .meta({ id: 'ReferralContestDetailResponse' });

const ReferralContestUpdateRequest = z
  .object({
    title: z.string().nullish().describe('New title of the contest; null leaves it unchanged.'),
    description: z.string().nullish().describe('New text about the contest; null leaves it unchanged.'),
    prize_text: z
      .string()
      .nullish()
      .describe('What the winners get, as a text; null leaves it unchanged. Prizes are not paid automatically.'),
    contest_type: z
      .string()
      .min(1)
      .nullish()
      .describe(
        '`referral_paid` scores payments of referrals, `referral_registered` their registrations; other types score nothing. Null leaves it unchanged.',
      ),
    start_at: TimestampInput.nullish().describe(
      'When the contest begins; null leaves it unchanged. Without a zone: in `timezone`.',
    ),
    end_at: TimestampInput.nullish().describe(
      'When the contest ends; null leaves it unchanged. Without a zone: in `timezone`. 00:00:00 UTC means the end of that day.',
    ),
    daily_summary_time: TimeInput.nullish().describe('Time of day of the summary, in `timezone`; null leaves it unchanged.'),
    daily_summary_times: z
      .string()
      .nullish()
      .describe(
        'Times `HH:MM` of several summaries, separated by commas; the first replaces `daily_summary_time`. An empty text leaves one summary, null leaves them unchanged.',
      ),
    timezone: z.string().nullish().describe('Name of a time zone, for example `Europe/Moscow`; null leaves it unchanged.'),
    is_active: z
      .boolean()
      .nullish()
      .describe('Whether the contest scores referrals and sends summaries; null leaves it unchanged.'),
    final_summary_sent: z
      .boolean()
      .nullish()
      .describe('Whether the final summary was sent; after it no summary follows. Null leaves it unchanged.'),
    created_by: z.int().nullish().describe('Internal id of the user to record as creator; null leaves it unchanged.'),
  })
  .meta({ id: 'ReferralContestUpdateRequest', example: { prize_text: 'Two years of service' } });

const ToggleQuery = z.object({ is_active: z.boolean().describe('Whether the contest is to be active.') });

const ContestDeleted = z.record(z.string(), z.string());

const EventListQuery = z.object(page);

const ReferralContestEventResponse = z
  .object({
    id: z.int().describe('Id of the event of the contest.'),
    contest_id: z.int().describe('Id of the contest.'),
    referrer: ReferralContestEventUser.describe('Who invited.'),
    referral: ReferralContestEventUser.describe('Who was invited.'),
    event_type: z.string().describe('`subscription_purchase` or `referral_registration`.'),
    amount_kopeks: z.int().describe('What the referral paid for subscriptions within the period, kopeks; 0 for a registration.'),
    amount_rubles: z.number().describe('The same in rubles: kopeks / 100.'),
    occurred_at: Timestamp.describe('When the first payment was made, or the referral registered (UTC).'),
  })
  .meta({ id: 'ReferralContestEventResponse' });

const ReferralContestEventListResponse = z
  .object({
    items: ReferralContestEventResponse.array().describe('A page of events of the contest, one for each referral, latest first.'),
    total: z.int().describe('Number of events of the contest, on all pages.'),
    limit: z.int().describe('Page size that was applied.'),
    offset: z.int().describe('Number of records skipped before this page.'),
  })
  .meta({ id: 'ReferralContestEventListResponse' });

const ReferralContestParticipant = z
  .object({
    referrer_id: z.int().describe('Internal id of the referrer.'),
    full_name: z.string().describe('First and last name, else the user name, else a text with the id.'),
    total_referrals: z.int().describe('Events of the referrer.'),
    paid_referrals: z.int().describe('Referrals who paid something.'),
    unpaid_referrals: z.int().describe('Referrals who paid nothing.'),
    total_paid_amount: z.int().describe('What referrals paid for subscriptions, kopeks.'),
  })
  .meta({ id: 'ReferralContestParticipant' });

const ReferralContestDetailedStatsResponse = z
  .object({
    total_participants: z.int().describe('Number of referrers with an event.'),
    total_invited: z.int().describe('Number of events.'),
    total_paid_amount: z.int().describe('What referrals paid for subscriptions, kopeks.'),
    total_unpaid: z.int().describe('Number of referrals who paid nothing.'),
    participants: ReferralContestParticipant.array().describe('All referrers in the order of the leaderboard.'),
  })
  .meta({ id: 'ReferralContestDetailedStatsResponse' });

const tags: [string] = ['contests'];

/** The day of the last summary is that of the contest's zone. */
function withDay<T extends Pick<ReferralContest, 'lastDailySummaryAt' | 'timezone'>>(contest: T) {
  const { lastDailySummaryAt: at, timezone } = contest;
  return { ...contest, lastDailySummaryDate: at && new Date(localDay(at, timezone)).toISOString().slice(0, 10) };
}

function leader({ id: userId, totalAmountKopeks, ...entry }: LeaderboardEntry) {
  return { ...entry, userId, totalAmountKopeks, totalAmountRubles: rublesOf(totalAmountKopeks) };
}

/** The contract has the doubled path; the other is what it means. */
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
