import { z } from 'zod';
import { Timestamp, TimestampInput } from '../shared.schemas.ts';
import { page, ReferralContestEventUser } from './contests.schemas.ts';

/** Contract group `contests`, contests of referrers (spec 04 section 11.4). */

export const ContestPath = z.object({ contest_id: z.int().describe('Id of the contest.') });

export const ContestListQuery = z.object({
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
  is_active: z.boolean().describe('Whether it is active; an inactive record remains stored but has no effect.'),
  last_daily_summary_date: z
    .string()
    .meta({ format: 'date' })
    .nullish()
    .describe('Day of the last summary in `timezone`; null when none was sent.'),
  last_daily_summary_at: Timestamp.nullish().describe('When the last summary was sent (UTC); null when none was.'),
  final_summary_sent: z.boolean().describe('Whether the final summary was sent.'),
  created_by: z.int().nullish().describe('Who created the record: id of the user, or name of the API token; null when unknown.'),
  created_at: Timestamp.describe('When the contest was created (UTC).'),
  updated_at: Timestamp.describe('When the record was last changed (UTC).'),
};

export const ReferralContestResponse = z.object(contest).meta({ id: 'ReferralContestResponse' });

export const ReferralContestListResponse = z
  .object({
    items: ReferralContestResponse.array().describe('A page of contests of referrers, the latest start first.'),
    total: z.int().describe('Number of contests of referrers that match the filters, on all pages.'),
    limit: z.int().describe('Page size that was applied.'),
    offset: z.int().describe('Number of records skipped before this page.'),
  })
  .meta({ id: 'ReferralContestListResponse' });

export const ReferralContestCreateRequest = z
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
    is_active: z.boolean().default(true).describe('Whether it is active; an inactive record remains stored but has no effect.'),
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

export const ContestDetailQuery = z.object({
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

export const ReferralContestDetailResponse = z
  .object({
    ...contest,
    total_events: z.int().nullish().describe('Number of all events of the contest.'),
    leaderboard: ReferralContestLeaderboardItem.array()
      .nullish()
      .describe('Referrers by their referrals, then by what those paid.'),
  })
  .meta({ id: 'ReferralContestDetailResponse' });

export const ReferralContestUpdateRequest = z
  .object({
    title: z.string().nullish().describe('New title of the contest; null leaves it unchanged.'),
    description: z.string().nullish().describe('New text about the contest.'),
    prize_text: z
      .string()
      .nullish()
      .describe('What the winners get, as a text; null when nothing is said. Prizes are not paid automatically.'),
    contest_type: z
      .string()
      .min(1)
      .nullish()
      .describe(
        '`referral_paid` scores payments of referrals, `referral_registered` their registrations; other types score nothing.',
      ),
    start_at: TimestampInput.nullish().describe('When the contest begins. In a request without a zone: in `timezone`.'),
    end_at: TimestampInput.nullish().describe(
      'When the contest ends. In a request without a zone: in `timezone`. 00:00:00 UTC means the end of that day.',
    ),
    daily_summary_time: TimeInput.nullish().describe('Time of day of the summary, in `timezone`.'),
    daily_summary_times: z
      .string()
      .nullish()
      .describe(
        'Times `HH:MM` of several summaries, separated by commas; the first replaces `daily_summary_time`. Null for one.',
      ),
    timezone: z.string().nullish().describe('Name of a time zone, for example `Europe/Moscow`.'),
    is_active: z.boolean().nullish().describe('Whether it is active; an inactive record remains stored but has no effect.'),
    final_summary_sent: z.boolean().nullish().describe('Whether the final summary was sent.'),
    created_by: z
      .int()
      .nullish()
      .describe('Who created the record: id of the user, or name of the API token; null when unknown.'),
  })
  .meta({ id: 'ReferralContestUpdateRequest', example: { prize_text: 'Two years of service' } });

export const ToggleQuery = z.object({ is_active: z.boolean().describe('Whether the contest is to be active.') });

export const ContestDeleted = z.record(z.string(), z.string());

export const EventListQuery = z.object(page);

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

export const ReferralContestEventListResponse = z
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

export const ReferralContestDetailedStatsResponse = z
  .object({
    total_participants: z.int().describe('Number of referrers with an event.'),
    total_invited: z.int().describe('Number of events.'),
    total_paid_amount: z.int().describe('What referrals paid for subscriptions, kopeks.'),
    total_unpaid: z.int().describe('Number of referrals who paid nothing.'),
    participants: ReferralContestParticipant.array().describe('All referrers in the order of the leaderboard.'),
  })
  .meta({ id: 'ReferralContestDetailedStatsResponse' });
