import { z } from 'zod';
import { Moment } from '../shared.schemas.ts';

/** Contract group `menu-layout` (spec 05 section 7.5): clicks. */

const days = (otherwise: number) => z.int().min(1).max(365).default(otherwise);
const button_id = z.string().nullish();

export const DaysQuery = z.object({ days: days(30) });

const ButtonClickStats = z
  .object({
    button_id: z.string(),
    clicks_total: z.int().default(0),
    clicks_today: z.int().default(0),
    clicks_week: z.int().default(0),
    clicks_month: z.int().default(0),
    last_click_at: Moment.nullish(),
    unique_users: z.int().default(0),
  })
  .meta({ id: 'ButtonClickStats' });

export const MenuClickStatsResponse = z
  .object({ items: ButtonClickStats.array(), total_clicks: z.int(), period_start: Moment, period_end: Moment })
  .meta({ id: 'MenuClickStatsResponse' });

export const ButtonStatsQuery = z.object({ button_id: z.string(), days: days(30) });

export const ButtonClickStatsResponse = z
  .object({
    button_id: z.string(),
    stats: ButtonClickStats,
    clicks_by_day: z.object({ date: z.string(), count: z.int() }).array().default([]),
  })
  .meta({ id: 'ButtonClickStatsResponse' });

export const LogClickQuery = z.object({
  button_id: z.string().min(1).max(100),
  user_id: z.int().nullish(),
  callback_data: z.string().max(255).nullish(),
  button_type: z.string().max(20).nullish(),
  button_text: z.string().max(255).nullish(),
});

export const ButtonTypeStatsResponse = z
  .object({
    items: z
      .object({ button_type: z.string(), clicks_total: z.int(), unique_users: z.int() })
      .meta({ id: 'ButtonTypeStats' })
      .array(),
    total_clicks: z.int(),
  })
  .meta({ id: 'ButtonTypeStatsResponse' });

export const ClickPartsQuery = z.object({ button_id, days: days(30) });

export const HourlyStatsResponse = z
  .object({
    items: z.object({ hour: z.int(), count: z.int() }).meta({ id: 'HourlyStats' }).array(),
    button_id,
  })
  .meta({ id: 'HourlyStatsResponse' });

export const WeekdayStatsResponse = z
  .object({
    items: z.object({ weekday: z.int(), weekday_name: z.string(), count: z.int() }).meta({ id: 'WeekdayStats' }).array(),
    button_id,
  })
  .meta({ id: 'WeekdayStatsResponse' });

export const TopUsersQuery = z.object({ button_id, limit: z.int().min(1).max(500).default(10), days: days(30) });

export const TopUsersResponse = z
  .object({
    items: z
      .object({ user_id: z.int(), clicks_count: z.int(), last_click_at: Moment.nullish() })
      .meta({ id: 'TopUserStats' })
      .array(),
    button_id,
    limit: z.int(),
  })
  .meta({ id: 'TopUsersResponse' });

export const CompareQuery = z.object({ button_id, current_days: days(7), previous_days: days(7) });

const ClickPeriod = z.object({ clicks: z.int(), days: z.int(), start: Moment, end: Moment });

export const PeriodComparisonResponse = z
  .object({
    current_period: ClickPeriod,
    previous_period: ClickPeriod,
    change: z.object({ absolute: z.int(), percent: z.number(), trend: z.string() }),
    button_id,
  })
  .meta({ id: 'PeriodComparisonResponse' });

export const SequencesQuery = z.object({ user_id: z.int(), limit: z.int().min(1).max(500).default(50) });

export const UserClickSequencesResponse = z
  .object({
    user_id: z.int(),
    items: z
      .object({ button_id: z.string(), button_text: z.string().nullish(), clicked_at: Moment })
      .meta({ id: 'UserClickSequence' })
      .array(),
    total: z.int(),
  })
  .meta({ id: 'UserClickSequencesResponse' });
