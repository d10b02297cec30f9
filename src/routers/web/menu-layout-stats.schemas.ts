import { z } from 'zod';
import { Timestamp } from '../shared.schemas.ts';

/** Contract group `menu-layout` (spec 05 section 7.5): clicks. */

const days = (otherwise: number) => z.int().min(1).max(365).default(otherwise);
const button_id = z.string().nullish();

export const DaysQuery = z.object({ days: days(30).describe('Number of days whose clicks are counted, today included.') });

const ButtonClickStats = z
  .object({
    button_id: z.string().describe('Id of the button.'),
    clicks_total: z.int().default(0).describe('Number of all clicks.'),
    clicks_today: z.int().default(0).describe('Clicks since 00:00 UTC.'),
    clicks_week: z.int().default(0).describe('Clicks of the last 7 days.'),
    clicks_month: z.int().default(0).describe('Clicks of the asked period.'),
    last_click_at: Timestamp.nullish().describe('When it was last pressed (UTC); null when never.'),
    unique_users: z.int().default(0).describe('Number of different users who pressed it.'),
  })
  .meta({ id: 'ButtonClickStats' });

export const MenuClickStatsResponse = z
  .object({
    items: ButtonClickStats.array().describe('Buttons with their clicks, most pressed first.'),
    total_clicks: z.int().describe('Number of clicks in the period.'),
    period_start: Timestamp.describe('Start of the period (UTC).'),
    period_end: Timestamp.describe('End of the period (UTC).'),
  })
  .meta({ id: 'MenuClickStatsResponse' });

export const ButtonStatsQuery = z.object({
  button_id: z.string().describe('Id of the button.'),
  days: days(30).describe('Number of days whose clicks of the button are counted, today included.'),
});

export const ButtonClickStatsResponse = z
  .object({
    button_id: z.string().describe('Id of the button.'),
    stats: ButtonClickStats.describe('Clicks of the button.'),
    clicks_by_day: z
      .object({
        date: z.string().describe('Calendar day in UTC, `YYYY-MM-DD`.'),
        count: z.int().describe('Number of clicks of the button on the day.'),
      })
      .array()
      .default([])
      .describe('Clicks by day, oldest first; days without clicks are left out.'),
  })
  .meta({ id: 'ButtonClickStatsResponse' });

export const LogClickQuery = z.object({
  button_id: z.string().min(1).max(100).describe('Id of the button that was pressed.'),
  user_id: z
    .int()
    .nullish()
    .describe(
      'Internal id or messenger id of the user who pressed the button; with an unknown id the click is recorded without a user.',
    ),
  callback_data: z.string().max(255).nullish().describe('Callback data of the button.'),
  button_type: z.string().max(20).nullish().describe('Type of the button.'),
  button_text: z.string().max(255).nullish().describe('Text of the button when it was pressed.'),
});

export const ButtonTypeStatsResponse = z
  .object({
    items: z
      .object({
        button_type: z.string().describe('Type of the button.'),
        clicks_total: z.int().describe('Number of all clicks.'),
        unique_users: z.int().describe('Number of different users who pressed it.'),
      })
      .meta({ id: 'ButtonTypeStats' })
      .array()
      .describe('Clicks by type of button.'),
    total_clicks: z.int().describe('Number of clicks in the period.'),
  })
  .meta({ id: 'ButtonTypeStatsResponse' });

export const ClickPartsQuery = z.object({
  button_id: button_id.describe('Only clicks of this button.'),
  days: days(30).describe('Number of days whose clicks are counted by hour or weekday, today included.'),
});

export const HourlyStatsResponse = z
  .object({
    items: z
      .object({
        hour: z.int().describe('Hour of the day, 0 to 23 (UTC).'),
        count: z.int().describe('Number of clicks in this hour of the day, of all counted days together.'),
      })
      .meta({ id: 'HourlyStats' })
      .array()
      .describe('Clicks by hour of the day (UTC), all 24 hours from 0.'),
    button_id: button_id.describe('Id of the button; null where it is not about one button.'),
  })
  .meta({ id: 'HourlyStatsResponse' });

export const WeekdayStatsResponse = z
  .object({
    items: z
      .object({
        weekday: z.int().describe('Day of the week (UTC), 0 = Monday.'),
        weekday_name: z.string().describe('Name of the day.'),
        count: z.int().describe('Number of clicks on this day of the week, of all counted weeks together.'),
      })
      .meta({ id: 'WeekdayStats' })
      .array()
      .describe('Clicks by day of the week (UTC), all seven days.'),
    button_id: button_id.describe('Id of the button; null where it is not about one button.'),
  })
  .meta({ id: 'WeekdayStatsResponse' });

export const TopUsersQuery = z.object({
  button_id: button_id.describe('Only clicks of this button.'),
  limit: z.int().min(1).max(500).default(10).describe('Greatest number of records in the answer.'),
  days: days(30).describe('Number of days whose clicks of users are counted, today included.'),
});

export const TopUsersResponse = z
  .object({
    items: z
      .object({
        user_id: z.int().describe('Internal id of the user.'),
        clicks_count: z.int().describe('Number of clicks of the user.'),
        last_click_at: Timestamp.nullish().describe('When it was last pressed (UTC); null when never.'),
      })
      .meta({ id: 'TopUserStats' })
      .array()
      .describe('Users with their clicks, most clicks first.'),
    button_id: button_id.describe('Id of the button; null where it is not about one button.'),
    limit: z.int().describe('Page size that was applied.'),
  })
  .meta({ id: 'TopUsersResponse' });

export const CompareQuery = z.object({
  button_id: button_id.describe('Only clicks of this button.'),
  current_days: days(7).describe('Length of the current period in days.'),
  previous_days: days(7).describe('Length of the period before in days.'),
});

const ClickPeriod = z.object({
  clicks: z.int().describe('Number of clicks.'),
  days: z.int().describe('Number of days whose clicks are counted.'),
  start: Timestamp.describe('Start of the period (UTC, inclusive).'),
  end: Timestamp.describe('End of the period (UTC, exclusive).'),
});

export const PeriodComparisonResponse = z
  .object({
    current_period: ClickPeriod.describe('The last days, as many as asked for.'),
    previous_period: ClickPeriod.describe('The days directly before them.'),
    change: z
      .object({
        absolute: z.int().describe('Difference of the two periods: current minus previous.'),
        percent: z.number().describe('Difference in percent of the previous period; 0 when the previous value is 0.'),
        trend: z.string().describe('Direction of the difference: `up`, `down` or `stable`.'),
      })
      .describe('Difference between the two periods.'),
    button_id: button_id.describe('Id of the button; null where it is not about one button.'),
  })
  .meta({ id: 'PeriodComparisonResponse' });

export const SequencesQuery = z.object({
  user_id: z.int().describe('Internal id or messenger id of the user; the internal id is looked up first.'),
  limit: z.int().min(1).max(500).default(50).describe('Greatest number of records in the answer.'),
});

export const UserClickSequencesResponse = z
  .object({
    user_id: z.int().describe('Internal id of the user.'),
    items: z
      .object({
        button_id: z.string().describe('Id of the button.'),
        button_text: z.string().nullish().describe('Text of the button when it was pressed; null when unknown.'),
        clicked_at: Timestamp.describe('When the button was pressed (UTC).'),
      })
      .meta({ id: 'UserClickSequence' })
      .array()
      .describe('Clicks of the user, newest first; empty for an unknown user.'),
    total: z.int().describe('Number of clicks in the answer.'),
  })
  .meta({ id: 'UserClickSequencesResponse' });
