import { z } from 'zod';
import {
  compareClicks,
  countButtonClicks,
  countClicks,
  countClicksByHour,
  countClicksByType,
  countClicksByWeekday,
  listTopClickers,
  listUserClicks,
  logClick,
} from '../../domain/content/menu-layout/click-stats.ts';
import { text } from '../../domain/messaging/texts.ts';
import { SuccessResponse, Timestamp } from '../shared.schemas.ts';
import { router, unaudited, webProcedure } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';

/** Contract group `menu-layout`: clicks. */

const days = (otherwise: number) => z.int().min(1).max(365).default(otherwise);
const button_id = z.string().nullish();

const DaysQuery = z.object({ days: days(30).describe('Number of days whose clicks are counted, today included.') });

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

const MenuClickStatsResponse = z
  .object({
    items: ButtonClickStats.array().describe('Buttons with their clicks, most pressed first.'),
    total_clicks: z.int().describe('Number of clicks in the period.'),
    period_start: Timestamp.describe('Start of the period (UTC).'),
    period_end: Timestamp.describe('End of the period (UTC).'),
  })
  .meta({ id: 'MenuClickStatsResponse' });

const ButtonStatsQuery = z.object({
  button_id: z.string().describe('Id of the button.'),
  days: days(30).describe('Number of days whose clicks of the button are counted, today included.'),
});

const ButtonClickStatsResponse = z
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

const LogClickQuery = z.object({
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

const ButtonTypeStatsResponse = z
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

const ClickPartsQuery = z.object({
  button_id: button_id.describe('Only clicks of this button.'),
  days: days(30).describe('Number of days whose clicks are counted by hour or weekday, today included.'),
});

const HourlyStatsResponse = z
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

const WeekdayStatsResponse = z
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

const TopUsersQuery = z.object({
  button_id: button_id.describe('Only clicks of this button.'),
  limit: z.int().min(1).max(500).default(10).describe('Greatest number of records in the answer.'),
  days: days(30).describe('Number of days whose clicks of users are counted, today included.'),
});

const TopUsersResponse = z
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

const CompareQuery = z.object({
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

const PeriodComparisonResponse = z
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

const SequencesQuery = z.object({
  user_id: z.int().describe('Internal id or messenger id of the user; the internal id is looked up first.'),
  limit: z.int().min(1).max(500).default(50).describe('Greatest number of records in the answer.'),
});

const UserClickSequencesResponse = z
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

const tags: [string] = ['menu-layout'];

const WEEKDAYS = [
  ...([
    'messages.weekday_monday',
    'messages.weekday_tuesday',
    'messages.weekday_wednesday',
    'messages.weekday_thursday',
  ] as const),
  ...(['messages.weekday_friday', 'messages.weekday_saturday', 'messages.weekday_sunday'] as const),
];

export const menuLayoutStatsRouter = router({
  all: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/menu-layout/stats', tags, summary: 'Clicks of every button' },
      description: 'Counts the clicks of every button, most pressed first.',
    })
    .input(fromWire(DaysQuery))
    .output(toWire(MenuClickStatsResponse))
    .query(({ ctx, input }) => countClicks(ctx.app, input.days)),

  button: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/menu-layout/stats/buttons/{button_id}', tags, summary: 'Clicks of one button' },
      description: 'Counts the clicks of one button, also by day. The counts are zero for an unknown button.',
    })
    .input(fromWire(ButtonStatsQuery))
    .output(toWire(ButtonClickStatsResponse))
    .query(({ ctx, input }) => countButtonClicks(ctx.app, input.buttonId, input.days)),

  logClick: unaudited('A click is a row of the statistics.', webProcedure)
    .meta({
      openapi: { method: 'POST', path: '/menu-layout/stats/log-click', tags, summary: 'Record a click' },
      description:
        'Records that a button was pressed, for buttons that the chat does not see, such as links. The click of an unknown user is recorded without a user.',
      wire: { query: ['button_id', 'user_id', 'callback_data', 'button_type', 'button_text'] },
    })
    .input(fromWire(LogClickQuery))
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      await logClick(ctx.app, input);
      return { success: true as const };
    }),

  byType: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/menu-layout/stats/by-type', tags, summary: 'Clicks by type of button' },
      description: 'Counts clicks by type of button.',
    })
    .input(fromWire(DaysQuery))
    .output(toWire(ButtonTypeStatsResponse))
    .query(({ ctx, input }) => countClicksByType(ctx.app, input.days)),

  byHour: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/menu-layout/stats/by-hour', tags, summary: 'Clicks by hour of the day (UTC)' },
      description: 'Counts clicks by hour of the day in UTC; all 24 hours are listed.',
    })
    .input(fromWire(ClickPartsQuery))
    .output(toWire(HourlyStatsResponse))
    .query(async ({ ctx, input: { days, buttonId = null } }) => {
      const counts = await countClicksByHour(ctx.app, days, buttonId);
      return { items: counts.map((count, hour) => ({ hour, count })), buttonId };
    }),

  byWeekday: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/menu-layout/stats/by-weekday', tags, summary: 'Clicks by day of the week (UTC)' },
      description: 'Counts clicks by day of the week in UTC; all seven days are listed.',
    })
    .input(fromWire(ClickPartsQuery))
    .output(toWire(WeekdayStatsResponse))
    .query(async ({ ctx, input: { days, buttonId = null } }) => {
      const counts = await countClicksByWeekday(ctx.app, days, buttonId);
      const items = WEEKDAYS.map((key, weekday) => ({ weekday, weekdayName: text('ru', key), count: counts[weekday] ?? 0 }));
      return { items, buttonId };
    }),

  topUsers: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/menu-layout/stats/top-users', tags, summary: 'List users with the most clicks' },
      description: 'Lists the users with most clicks.',
    })
    .input(fromWire(TopUsersQuery))
    .output(toWire(TopUsersResponse))
    .query(async ({ ctx, input: { days, limit, buttonId = null } }) => {
      const items = await listTopClickers(ctx.app, days, buttonId, limit);
      return { items, buttonId, limit };
    }),

  compare: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/menu-layout/stats/compare', tags, summary: 'Clicks of two adjacent periods' },
      description: 'Compares the clicks of the last days with those of the days directly before them.',
    })
    .input(fromWire(CompareQuery))
    .output(toWire(PeriodComparisonResponse))
    .query(async ({ ctx, input: { currentDays, previousDays, buttonId = null } }) => ({
      ...(await compareClicks(ctx.app, currentDays, previousDays, buttonId)),
      buttonId,
    })),

  sequences: webProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/menu-layout/stats/users/{user_id}/sequences',
        tags,
        summary: 'Sequence of the clicks of a user',
      },
      description: 'Lists what a user pressed, newest first. The list is empty for an unknown user.',
    })
    .input(fromWire(SequencesQuery))
    .output(toWire(UserClickSequencesResponse))
    .query(async ({ ctx, input: { userId, limit } }) => {
      const items = await listUserClicks(ctx.app, userId, limit);
      return { userId, items, total: items.length };
    }),
});
