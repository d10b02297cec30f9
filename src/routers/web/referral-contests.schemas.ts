import { z } from 'zod';
import { MomentInput } from '../moment-input.ts';
import { Moment } from '../shared.schemas.ts';
import { page, ReferralContestEventUser } from './contests.schemas.ts';

/** Contract group `contests`, contests of referrers (spec 04 section 11.4). */

export const ContestPath = z.object({ contest_id: z.int() });

export const ContestListQuery = z.object({ contest_type: z.string().nullish(), ...page });

/** A time of day; the domain reads it, because it takes `HH:MM` too. */
const TimeInput = z.string().meta({ format: 'time' });

const contest = {
  id: z.int(),
  title: z.string(),
  description: z.string().nullish(),
  prize_text: z.string().nullish(),
  contest_type: z.string(),
  start_at: Moment,
  end_at: Moment,
  daily_summary_time: z.string().meta({ format: 'time' }),
  daily_summary_times: z.string().nullish(),
  timezone: z.string(),
  is_active: z.boolean(),
  last_daily_summary_date: z.string().meta({ format: 'date' }).nullish(),
  last_daily_summary_at: Moment.nullish(),
  final_summary_sent: z.boolean(),
  created_by: z.int().nullish(),
  created_at: Moment,
  updated_at: Moment,
};

export const ReferralContestResponse = z.object(contest).meta({ id: 'ReferralContestResponse' });

export const ReferralContestListResponse = z
  .object({ items: ReferralContestResponse.array(), total: z.int(), limit: z.int(), offset: z.int() })
  .meta({ id: 'ReferralContestListResponse' });

export const ReferralContestCreateRequest = z
  .object({
    title: z.string(),
    description: z.string().nullish(),
    prize_text: z.string().nullish(),
    contest_type: z.string().min(1).default('referral_paid'),
    start_at: MomentInput,
    end_at: MomentInput,
    daily_summary_time: TimeInput.nullish(),
    daily_summary_times: z.string().nullish(),
    timezone: z.string().default('UTC'),
    is_active: z.boolean().default(true),
    created_by: z.int().nullish(),
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

export const ContestDetailQuery = z.object({ leaderboard_limit: z.int().min(1).max(50).default(5) });

export const ReferralContestLeaderboardItem = z
  .object({
    user_id: z.int(),
    messenger_id: z.int().nullish(),
    username: z.string().nullish(),
    full_name: z.string().nullish(),
    referrals_count: z.int(),
    total_amount_kopeks: z.int(),
    total_amount_rubles: z.number(),
  })
  .meta({ id: 'ReferralContestLeaderboardItem' });

export const ReferralContestDetailResponse = z
  .object({ ...contest, total_events: z.int().nullish(), leaderboard: ReferralContestLeaderboardItem.array().nullish() })
  .meta({ id: 'ReferralContestDetailResponse' });

export const ReferralContestUpdateRequest = z
  .object({
    title: z.string().nullish(),
    description: z.string().nullish(),
    prize_text: z.string().nullish(),
    contest_type: z.string().min(1).nullish(),
    start_at: MomentInput.nullish(),
    end_at: MomentInput.nullish(),
    daily_summary_time: TimeInput.nullish(),
    daily_summary_times: z.string().nullish(),
    timezone: z.string().nullish(),
    is_active: z.boolean().nullish(),
    final_summary_sent: z.boolean().nullish(),
    created_by: z.int().nullish(),
  })
  .meta({ id: 'ReferralContestUpdateRequest', example: { prize_text: 'Two years of service' } });

export const ToggleQuery = z.object({ is_active: z.boolean() });

export const ContestDeleted = z.record(z.string(), z.string());

export const EventListQuery = z.object(page);

export const ReferralContestEventResponse = z
  .object({
    id: z.int(),
    contest_id: z.int(),
    referrer: ReferralContestEventUser,
    referral: ReferralContestEventUser,
    event_type: z.string(),
    amount_kopeks: z.int(),
    amount_rubles: z.number(),
    occurred_at: Moment,
  })
  .meta({ id: 'ReferralContestEventResponse' });

export const ReferralContestEventListResponse = z
  .object({ items: ReferralContestEventResponse.array(), total: z.int(), limit: z.int(), offset: z.int() })
  .meta({ id: 'ReferralContestEventListResponse' });

export const ReferralContestParticipant = z
  .object({
    referrer_id: z.int(),
    full_name: z.string(),
    total_referrals: z.int(),
    paid_referrals: z.int(),
    unpaid_referrals: z.int(),
    total_paid_amount: z.int(),
  })
  .meta({ id: 'ReferralContestParticipant' });

export const ReferralContestDetailedStatsResponse = z
  .object({
    total_participants: z.int(),
    total_invited: z.int(),
    total_paid_amount: z.int(),
    total_unpaid: z.int(),
    participants: ReferralContestParticipant.array(),
  })
  .meta({ id: 'ReferralContestDetailedStatsResponse' });
